"""Measures the derivatives of attention that attention -back measures, in PyTorch by cuDNN, and prints the better of two layouts: heads before
tokens, and tokens before heads. Operands are random bfloat16 numbers. The time is the median of several calls by the device's clock."""
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


def measure(dim, tokens, causal, transposed, sequences):
    heads = 16
    shape = (sequences, tokens, heads, dim) if transposed else (sequences, heads, tokens, dim)
    q, k, v, d = (torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=i < 3) for i in range(4))
    views = [x.transpose(1, 2) if transposed else x for x in (q, k, v)]
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        out = F.scaled_dot_product_attention(*views, is_causal=causal)
    d = d.transpose(1, 2) if transposed else d
    times = []
    for i in range(18):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(2_000_000)  # so that the host is ahead of the device
        before.record()
        torch.autograd.grad(out, (q, k, v), d, retain_graph=True)
        after.record()
        torch.cuda.synchronize()
        if i >= 3:
            times.append(before.elapsed_time(after))
    return sorted(times)[len(times) // 2]


print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version(), torch.cuda.get_device_name())
for dim in (128,) if "128" in sys.argv else (128, 64):
    for causal in (False, True):
        for tokens in (2048, 8192):
            sequences = 8192 // tokens
            took = min(measure(dim, tokens, causal, t, sequences) for t in (False, True))
            operations = 10 * sequences * 16 * tokens * tokens * dim / (2 if causal else 1)
            print("cuDNN backward, dim %3d, causal %-5s, %d of %d tokens: %.3f ms, %.0f TFLOP/s" % (dim, causal, sequences, tokens, took, operations / took / 1e9), flush=True)
