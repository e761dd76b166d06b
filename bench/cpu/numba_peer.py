"""The kernels of this package for Numba's CPU target, for comparison: pip install numba; python numba_peer.py [threads].

Prints the wall-clock time per element in nanoseconds, for the given number of threads, as go test -run TestBarsAlone -bars=15 -v
./bench/cpu does for one core and two. go test -run TestNumba -numba=python3 -bars=15 -v ./bench/cpu measures both alternately. Neither
uses fast math: both follow IEEE 754, and neither fuses products and sums.
"""
import math
import sys
import time

import numba
import numpy as np
from numba import njit, prange

f32 = np.float32


@njit(parallel=True)
def saxpy(x, y, f):
    for i in prange(y.size):
        y[i] += f * x[i]


@njit(parallel=True)
def stencil(a, out, w, h, d):
    p, q = f32(0.4), f32(0.1)
    for z in prange(1, d - 1):
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                i = (z * h + y) * w + x
                out[i] = p * a[i] + q * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] + a[i - w * h] + a[i + w * h])


@njit
def escape(re, im):
    x, y, steps = f32(0), f32(0), 0
    while steps < 256 and x * x + y * y < f32(4):
        x, y = x * x - y * y + re, f32(2) * x * y + im
        steps += 1
    return f32(steps)


@njit(parallel=True)
def mandelbrot(steps, n):
    for y in prange(n):
        for x in range(n):
            steps[y * n + x] = escape(f32(x) * f32(3) / f32(n) - f32(2), f32(y) * f32(3) / f32(n) - f32(1.5))


@njit
def normal(d):
    k = f32(1) / (f32(1) + f32(0.2316419) * abs(d))
    s = k * (f32(0.31938153) + k * (f32(-0.356563782) + k * (f32(1.781477937) + k * (f32(-1.821255978) + k * f32(1.330274429)))))
    tail = f32(0.39894228) * math.exp(f32(-0.5) * d * d) * s
    return f32(1) - tail if d > 0 else tail


@njit(parallel=True)
def black_scholes(price, strike, years, value):
    rate, vol = f32(0.02), f32(0.3)
    for i in prange(value.size):
        spread = vol * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + vol * vol / f32(2)) * years[i]) / spread
        value[i] = price[i] * normal(d1) - strike[i] * math.exp(-rate * years[i]) * normal(d1 - spread)


@njit(parallel=True)
def nbody(at, force, n):
    for i in prange(n):
        x, y, z = at[i], at[n + i], at[2 * n + i]
        fx, fy, fz = f32(0), f32(0), f32(0)
        for j in range(n):
            dx, dy, dz = at[j] - x, at[n + j] - y, at[2 * n + j] - z
            d = dx * dx + dy * dy + dz * dz + f32(0.01)
            w = f32(1) / (d * math.sqrt(d))
            fx += dx * w
            fy += dy * w
            fz += dz * w
        force[i], force[n + i], force[2 * n + i] = fx, fy, fz


@njit(parallel=True)
def matmul(a, b, c, n):
    """Blocks of 32 x 32, as in matmulLoop of this package."""
    for i0 in prange(n // 32):
        c[i0 * 32 * n:(i0 + 1) * 32 * n] = 0
        for k0 in range(0, n, 32):
            for j0 in range(0, n, 32):
                for i in range(i0 * 32, i0 * 32 + 32):
                    for k in range(k0, k0 + 32):
                        x = a[i * n + k]
                        for j in range(j0, j0 + 32):
                            c[i * n + j] += x * b[k * n + j]


def numbers(n, positive=False):
    x = np.random.default_rng(n).integers(-4, 5, n).astype(f32)
    return (x + f32(5)) / f32(4) if positive else x


def problems():
    """The kernels, each with its number of elements and its arguments."""
    n, volume, options = 1 << 22, 512 * 12 * 12, 1 << 16
    return {
        "saxpy": (n, saxpy, numbers(n), numbers(n), f32(3)),
        "stencil": (volume, stencil, numbers(volume), np.zeros(volume, f32), 512, 12, 12),
        "mandelbrot": (512 * 512, mandelbrot, np.zeros(512 * 512, f32), 512),
        "blackScholes": (options, black_scholes, *(numbers(options, True) for _ in range(3)), np.zeros(options, f32)),
        "nbody": (1 << 20, nbody, numbers(3 << 10), np.zeros(3 << 10, f32), 1 << 10),
        "matmul": (1 << 30, matmul, numbers(1 << 20), numbers(1 << 20), np.zeros(1 << 20, f32), 1 << 10),
    }


def seconds(f, args, times=1):
    start = time.perf_counter()
    for _ in range(times):
        f(*args)
    return (time.perf_counter() - start) / times


def serve(kernels):
    """Executes the lines of its input and prints the seconds per run: "saxpy 2 100" runs saxpy with two threads, a hundred times."""
    for line in sys.stdin:
        name, threads, times = line.split()
        _, f, *args = kernels[name]
        numba.set_num_threads(int(threads))
        time.sleep(0.005)
        seconds(f, args, int(times) // 2 + 1)
        print(seconds(f, args, int(times)), flush=True)


def measure(name, work, f, *args):
    f(*args)
    times = sorted(seconds(f, args) for _ in range(5 if name == "matmul" else 15))
    print(f"{name:13} {times[len(times) // 2] / work * 1e9:8.3f} ns an element (least {times[0] / work * 1e9:8.3f})")


def main():
    if sys.argv[1:] == ["serve"]:
        serve(problems())
        return
    numba.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for name, problem in problems().items():
        measure(name, *problem)


main()
