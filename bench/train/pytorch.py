"""Measures the models of the command train in PyTorch and prints the median time of a step: eagerly, or with the argument compiled.
With the argument large, it measures the large transformer. Parameters, moments and derivatives are bfloat16; with the argument masters they
are float32, and products are computed in bfloat16 by autocast. With the argument wait, it measures once for each line of standard input, so
that it can take turns with another program; a line says when it is ready."""
import contextlib
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (y.view(b, t, self.heads, w // self.heads).transpose(1, 2) for y in self.qkv(self.before(x)).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Transformer(nn.Module):
    def __init__(self, depth=6, width=512, tokens=512, words=8192):
        super().__init__()
        self.embed, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.layers = nn.ModuleList(Layer(width, width // 64) for _ in range(depth))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, x, labels):
        x = self.embed(x) + self.places.weight
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.last(x)).flatten(0, 1).float(), labels.flatten())


class Perceptron(nn.Module):
    def __init__(self, width=512, inner=2048):
        super().__init__()
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x, labels):
        return F.cross_entropy(self.down(F.gelu(self.up(x))).float(), labels)


def measure(name, model, x, labels):
    masters = "masters" in sys.argv
    model = model.cuda() if masters else model.cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.01, fused=True)
    way = "compiled" if "compiled" in sys.argv else "eager"
    f = torch.compile(model) if way == "compiled" else model

    def step():
        with torch.autocast("cuda", torch.bfloat16) if masters else contextlib.nullcontext():
            loss = f(x, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(10):
        step()
    torch.cuda.synchronize()
    way += ", float32 masters" if masters else ""
    waits = "wait" in sys.argv
    if waits:
        print("torch %s %s is ready" % (name, way), flush=True)
    for _ in sys.stdin if waits else range(1):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(10):
                step()
            torch.cuda.synchronize()
            times.append((time.perf_counter() - start) / 10)
        print("torch %-12s %s %9.3f ms a step" % (name, way, sorted(times)[2] * 1e3), flush=True)


print("torch", torch.__version__, torch.cuda.get_device_name())
if "large" in sys.argv:
    large = Transformer(16, 2048, 2048, 32768)
    measure("large", large, torch.randint(32768, (2, 2048), device="cuda"), torch.randint(16384, (2, 2048), device="cuda"))
    sys.exit()
measure("transformer", Transformer(), torch.randint(8192, (8, 512), device="cuda"), torch.randint(4096, (8, 512), device="cuda"))
measure("perceptron", Perceptron(), torch.randn(256, 512, device="cuda").bfloat16(), torch.randint(512, (256,), device="cuda"))
