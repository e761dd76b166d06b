"""Writes vectors.npz: parameters, inputs and outputs of layers, computed in float64 by PyTorch.

    python3 vectors.py

TestVectors reads the file. An array is named after its layer and a parameter as PyTorch names it, or in, or out. Images have channels as the
last dimension. Inputs and parameters are rounded to 8 bits, so that every type of activations has them, and outputs to float32."""
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
arrays = {}


def rounded(x):
    return x.bfloat16().double()


def layer(name, modules, *inputs, forward=None):
    """Saves a layer with random parameters and statistics. The modules have the names that nn.Load gives them, and forward takes them."""
    for prefix, m in modules.items():
        m.double().eval()
        for key, x in m.state_dict().items():
            if not key.endswith("num_batches_tracked"):
                x.copy_(rounded(torch.rand_like(x) + 0.5 if key == "running_var" else torch.randn_like(x)))
                arrays[f"{name}.{prefix}.{key}"] = x.detach().float().numpy()
    list = [x if x.dtype == torch.int32 else rounded(x) for x in inputs]
    with torch.no_grad():
        out = forward(*modules.values(), *list)
    for i, x in enumerate(list):
        arrays[f"{name}.in{i}"] = x.numpy() if x.dtype == torch.int32 else x.float().numpy()
    arrays[f"{name}.out"] = out.float().numpy()


def image(f):
    """Returns f, a function of images in PyTorch's order, with channels as the last dimension."""
    return lambda x: f(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


x = torch.randn(2, 7, 6, 5)
layer("conv", {"conv": nn.Conv2d(5, 7, 3, padding=1)}, x, forward=lambda m, x: image(m)(x))
layer("batchnorm", {"conv": nn.Conv2d(5, 8, 3, stride=2, padding=1, bias=False), "bn": nn.BatchNorm2d(8, eps=1e-3)}, x,
      forward=lambda m, b, x: F.relu(image(lambda x: b(m(x)))(x)))
layer("residual", {"conv": nn.Conv2d(5, 5, 1, bias=False), "bn": nn.BatchNorm2d(5)}, x, torch.randn(2, 7, 6, 5),
      forward=lambda m, b, x, y: F.relu(image(lambda x: b(m(x)))(x) + y))
layer("depthwise", {"conv": nn.Conv2d(5, 5, 3, padding=1, groups=5, bias=False), "bn": nn.BatchNorm2d(5)}, x,
      forward=lambda m, b, x: F.silu(image(lambda x: b(m(x)))(x)))
layer("noimages", {"conv": nn.Conv2d(5, 8, 3, bias=False), "bn": nn.BatchNorm2d(8)}, torch.zeros(0, 7, 6, 5),
      forward=lambda m, b, x: image(lambda x: b(m(x)))(x))
for rows in (3, 0):
    layer(f"linear{rows}", {"linear": nn.Linear(32, 5)}, torch.randn(rows, 32), forward=lambda m, x: m(x))
    layer(f"layernorm{rows}", {"norm": nn.LayerNorm(33, eps=1e-5)}, torch.randn(rows, 33), forward=lambda m, x: m(x))
    layer(f"rmsnorm{rows}", {"norm": nn.RMSNorm(33, eps=1e-5)}, torch.randn(rows, 33), forward=lambda m, x: m(x))
    layer(f"embedding{rows}", {"embed": nn.Embedding(7, 32)}, torch.randint(0, 7, (rows,), dtype=torch.int32), forward=lambda m, i: m(i))
np.savez_compressed(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.npz"), **arrays)
print(len(arrays), "arrays")
