"""Triton, with kernels like those of its tutorials. See peer.py."""
import torch
import triton
import triton.language as tl

from peer_torch import CLOCK


@triton.jit
def copy(a, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n), mask=i < n)


@triton.jit
def mul(c, b, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(b + i, 0.4 * tl.load(c + i, mask=i < n), mask=i < n)


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def triad(b, c, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(a + i, tl.load(b + i, mask=i < n) + 0.4 * tl.load(c + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row + i, e / tl.sum(e, axis=0), mask=i < cols)


def elementwise(kernel, inputs, want):
    def prepare(n):
        x = [torch.rand(n, device="cuda") for _ in range(inputs)]
        out = torch.full((n,), float("nan"), device="cuda")
        return (lambda: kernel[(triton.cdiv(n, 1024),)](*x, out, n, BLOCK=1024),
                lambda: torch.allclose(out, want(*x)))
    return prepare


def rows(n):
    cols = 16384
    x, y = 16 * torch.rand(n, cols, device="cuda") - 8, torch.full((n, cols), float("nan"), device="cuda")
    return (lambda: softmax[(n,)](x, y, cols, BLOCK=cols, num_warps=16),
            lambda: torch.allclose(y[:64].double(), torch.softmax(x[:64].double(), -1), rtol=1e-4))


def start():
    return "Triton " + triton.__version__, CLOCK, {
        "copy32": elementwise(copy, 1, lambda a: a),
        "mul32": elementwise(mul, 1, lambda c: 0.4 * c),
        "add32": elementwise(add, 2, lambda a, b: a + b),
        "triad32": elementwise(triad, 2, lambda b, c: b + 0.4 * c),
        "softmax": rows,
    }
