"""Triton, with the kernels of its tutorials' kind. See peers.py."""
import torch
import triton
import triton.language as tl

from peers import CASES, Peer


@triton.jit
def copy(a, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + i, tl.load(a + i, mask=i < n), mask=i < n)


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


def stream(peer):
    n = CASES["add32"][1]

    def elementwise(case, kernel, inputs, want):
        def prepare():
            x = [torch.rand(n, device="cuda") for _ in range(inputs)]
            out = torch.full((n,), float("nan"), device="cuda")
            return (lambda: kernel[(triton.cdiv(n, 1024),)](*x, out, n, BLOCK=1024),
                    lambda: torch.allclose(out, want(*x)))
        peer.measure(case, "triton", prepare)

    elementwise("copy32", copy, 1, lambda a: a)
    elementwise("add32", add, 2, lambda a, b: a + b)
    elementwise("triad32", triad, 2, lambda b, c: b + 0.4 * c)


def rows(peer):
    n = CASES["softmax"][1]

    def prepare():
        x = 16 * torch.rand(n, n, device="cuda") - 8
        y = torch.full((n, n), float("nan"), device="cuda")
        return (lambda: softmax[(n,)](x, y, n, BLOCK=triton.next_power_of_2(n), num_warps=16),
                lambda: torch.allclose(y[:64].double(), torch.softmax(x[:64].double(), -1), rtol=1e-4))
    peer.measure("softmax", "triton", prepare)


def measure():
    peer = Peer(lambda: torch.cuda.Event(enable_timing=True), lambda e: e.record(),
                lambda s, e: s.elapsed_time(e), torch.cuda.synchronize)
    stream(peer)
    torch.cuda.empty_cache()
    rows(peer)
    return peer
