"""Takes steps of AdamW8bit of bitsandbytes on the CPU.

usage: judge.py FOLDER N STEPS

FOLDER has the file input of float32 numbers: N parameters, then N derivatives for each step. The script writes the file output: 256
levels of first moments, 256 of second moments, then the N parameters after each step.
"""
import sys

import numpy as np
import torch
from bitsandbytes import functional
from bitsandbytes.optim import AdamW8bit

folder, n, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
numbers = torch.from_numpy(np.fromfile(folder + "/input", dtype=np.float32)).reshape(1 + steps, n)
parameter = torch.nn.Parameter(numbers[0].clone())
optimizer = AdamW8bit([parameter], lr=1e-2, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1)
result = [functional.create_dynamic_map(True), functional.create_dynamic_map(False)]
for grad in numbers[1:]:
    parameter.grad = grad.clone()
    optimizer.step()
    result.append(parameter.detach().clone())
torch.cat(result).numpy().tofile(folder + "/output")
