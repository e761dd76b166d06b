"""CuPy, whose sums, scans and sorts are CUB's and Thrust's. See peers.py."""
import os

os.environ.setdefault("CUPY_ACCELERATORS", "cub")

import cupy as cp

from peers import CASES, Peer


def stream(peer):
    n = CASES["add32"][1]

    def elementwise(case, inputs, run, want):
        def prepare():
            x = [cp.random.random(n, dtype=cp.float32) for _ in range(inputs)]
            out = cp.full(n, cp.nan, dtype=cp.float32)
            return lambda: run(*x, out), lambda: bool(cp.allclose(out, want(*x)))
        peer.measure(case, "cupy", prepare)

    triad = cp.ElementwiseKernel("float32 b, float32 c", "float32 a", "a = b + 0.4f * c", "triad")
    elementwise("copy32", 1, lambda a, c: cp.copyto(c, a), lambda a: a)
    elementwise("mul32", 1, lambda c, b: cp.multiply(c, cp.float32(0.4), out=b), lambda c: cp.float32(0.4) * c)
    elementwise("add32", 2, lambda a, b, c: cp.add(a, b, out=c), lambda a, b: a + b)
    elementwise("triad32", 2, lambda b, c, a: triad(b, c, a), lambda b, c: b + cp.float32(0.4) * c)


def sums(peer):
    def total():
        x, out = cp.random.randint(-8, 9, CASES["sum"][1]).astype(cp.float32), cp.empty((), dtype=cp.float32)
        return lambda: cp.sum(x, out=out), lambda: float(out) == float(x.sum(dtype=cp.float64))
    peer.measure("sum", "cupy (CUB)", total)

    def scan():
        x = cp.random.randint(-100, 101, CASES["scan"][1]).astype(cp.int32)
        out = cp.empty_like(x)
        return lambda: cp.cumsum(x, dtype=cp.int32, out=out), lambda: bool((cp.diff(out) == x[1:]).all())
    peer.measure("scan", "cupy (CUB)", scan)

    def sort():
        keys = cp.random.randint(-2**31, 2**31 - 1, CASES["radix-sort"][1]).astype(cp.int32)
        work = cp.empty_like(keys)

        def run():  # sorts in place, so a copy comes first and is measured too
            cp.copyto(work, keys)
            work.sort()
        return run, lambda: bool((work[1:] >= work[:-1]).all())
    peer.measure("radix-sort", "cupy (Thrust) and copy", sort)


def measure():
    peer = Peer(cp.cuda.Event, lambda e: e.record(), cp.cuda.get_elapsed_time, cp.cuda.Device().synchronize)
    stream(peer)
    cp.get_default_memory_pool().free_all_blocks()
    sums(peer)
    return peer
