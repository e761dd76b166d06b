"""Numba's CUDA kernels, one element per thread. See peer.py."""
import numpy as np

# Numba imports names that NumPy has dropped.
for old, new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
    if not hasattr(np, old):
        setattr(np, old, getattr(np, new))

import numba
from numba import cuda

from peer import Clock


@cuda.jit
def copy(a, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i]


@cuda.jit
def mul(c, b):
    i = cuda.grid(1)
    if i < b.size:
        b[i] = np.float32(0.4) * c[i]


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def triad(b, c, a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = b[i] + np.float32(0.4) * c[i]


@cuda.jit
def mandelbrot(counts, n):
    px, py = cuda.grid(2)
    if px >= n or py >= n:
        return
    three, n32 = np.float32(3), np.float32(n)
    cx = np.float32(-2) + three * np.float32(px) / n32
    cy = np.float32(-1.5) + three * np.float32(py) / n32
    x, y = np.float32(0), np.float32(0)
    steps = 0
    while steps < 500 and x * x + y * y <= np.float32(4):
        x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
        steps += 1
    counts[py, px] = steps


def steps_of(px, py, n):
    """The same in NumPy, for an array of points."""
    cx = (np.float32(-2) + np.float32(3) * px.astype(np.float32) / np.float32(n))
    cy = (np.float32(-1.5) + np.float32(3) * py.astype(np.float32) / np.float32(n))
    x, y, steps = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, np.int32)
    inside = np.ones(cx.shape, bool)
    for _ in range(500):
        inside &= x * x + y * y <= 4
        if not inside.any():
            break
        nx, ny = x * x - y * y + cx, np.float32(2) * x * y + cy
        x, y = np.where(inside, nx, x), np.where(inside, ny, y)
        steps += inside
    return steps


def elementwise(kernel, inputs, want):
    """Compares a million elements with NumPy."""
    def prepare(n):
        host = [np.random.default_rng().random(n, dtype=np.float32) for _ in range(inputs)]
        x = [cuda.to_device(h) for h in host]
        out = cuda.to_device(np.full(n, np.nan, dtype=np.float32))

        def right():
            some = np.random.default_rng().integers(0, n, 1 << 20)
            return np.allclose(out.copy_to_host()[some], want(*(h[some] for h in host)))
        return lambda: kernel[(n + 255) // 256, 256](*x, out), right
    return prepare


def points(n):
    counts = cuda.to_device(np.full((n, n), -1, dtype=np.int32))

    def right():
        px, py = np.random.default_rng().integers(0, n, (2, 100_000))
        return np.mean(counts.copy_to_host()[py, px] != steps_of(px, py, n)) < 0.02
    return lambda: mandelbrot[(n // 32, n // 8), (32, 8)](counts, n), right


def start():
    clock = Clock(lambda: cuda.event(timing=True), lambda e: e.record(), lambda s, e: cuda.event_elapsed_time(s, e),
                  cuda.synchronize, lambda: cuda.current_context().deallocations.clear())
    return "Numba " + numba.__version__, clock, {
        "copy32": elementwise(copy, 1, lambda a: a),
        "mul32": elementwise(mul, 1, lambda c: np.float32(0.4) * c),
        "add32": elementwise(add, 2, lambda a, b: a + b),
        "triad32": elementwise(triad, 2, lambda b, c: b + np.float32(0.4) * c),
        "mandelbrot32": points,
    }
