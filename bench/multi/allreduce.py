"""The all-reduce of multi ranks in PyTorch: torchrun --nproc-per-node 2 allreduce.py"""

import os
import time

import torch
import torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
n = 1 << 28
x = torch.full((n,), float(rank + 1), device="cuda")
times = []
for i in range(21):
    torch.cuda.synchronize()
    dist.barrier()
    torch.cuda.synchronize()
    start = time.perf_counter()
    dist.all_reduce(x)
    torch.cuda.synchronize()
    if i:
        times.append(time.perf_counter() - start)
t = sorted(times)[len(times) // 2]
if rank == 0:
    bus = 4 * n * 2 * (world - 1) / world / t / 1e9
    print(f"PyTorch {torch.__version__}, NCCL {torch.cuda.nccl.version()}: all-reduce of 1 GiB among {world} processes: {t * 1e3:.3f} ms, {bus:.1f} GB/s on the bus")
dist.destroy_process_group()
