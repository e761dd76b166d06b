"""CuPy, which uses CUB and Thrust for sums, scans and sorts. See peer.py."""
import os

os.environ.setdefault("CUPY_ACCELERATORS", "cub")

import cupy as cp

from peer import Clock

CLOCK = Clock(cp.cuda.Event, lambda e: e.record(), cp.cuda.get_elapsed_time, cp.cuda.Device().synchronize,
              lambda: cp.get_default_memory_pool().free_all_blocks())


def elementwise(inputs, run, want):
    def prepare(n):
        x = [cp.random.random(n, dtype=cp.float32) for _ in range(inputs)]
        out = cp.full(n, cp.nan, dtype=cp.float32)
        return lambda: run(*x, out), lambda: bool(cp.allclose(out, want(*x)))
    return prepare


def total(n):
    x, out = cp.random.randint(-8, 9, n).astype(cp.float32), cp.empty((), dtype=cp.float32)
    return lambda: cp.sum(x, out=out), lambda: float(out) == float(x.sum(dtype=cp.float64))


def scan(n):
    x = cp.random.randint(-100, 101, n).astype(cp.int32)
    out = cp.empty_like(x)
    return lambda: cp.cumsum(x, dtype=cp.int32, out=out), lambda: bool((cp.diff(out) == x[1:]).all())


def sort(n):
    keys = cp.random.randint(-2**31, 2**31 - 1, n).astype(cp.int32)
    work = cp.empty_like(keys)
    return work.sort, lambda: bool((work[1:] >= work[:-1]).all()), lambda: cp.copyto(work, keys)


def start():
    triad = cp.ElementwiseKernel("float32 b, float32 c", "float32 a", "a = b + 0.4f * c", "triad")
    return "CuPy " + cp.__version__, CLOCK, {
        "copy32": elementwise(1, lambda a, c: cp.copyto(c, a), lambda a: a),
        "mul32": elementwise(1, lambda c, b: cp.multiply(c, cp.float32(0.4), out=b), lambda c: cp.float32(0.4) * c),
        "add32": elementwise(2, lambda a, b, c: cp.add(a, b, out=c), lambda a, b: a + b),
        "triad32": elementwise(2, lambda b, c, a: triad(b, c, a), lambda b, c: b + cp.float32(0.4) * c),
        "sum": total, "scan": scan, "prim-scan": scan, "prim-sort": sort,
    }
