#!/usr/bin/env python3
"""Measures what other frameworks do in the cases of bench/suite, on an NVIDIA GPU.

    python3 bench/peers/peers.py > peers.json             # those that are installed
    python3 bench/peers/peers.py torch triton > peers.json
    gopherwarp bench -peers peers.json

Each framework runs in a process of its own. A case has random inputs of the suite's big size and
is checked before it is timed; the time is the median of the rounds by the device's events, all enqueued
before anything is waited for, as in the suite. What is not installed, or fails, is listed as skipped.
"""
import importlib
import json
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the folder is part of a repository

FRAMEWORKS = ["torch", "triton", "cupy", "numba"]
ROUNDS, WARM = 25, 4

STREAM, KEYS, SIDE, PRODUCT = 1 << 28, 1 << 26, 16384, 4096

# Bytes and operations of a run, and the size, by case: those of the Go suite, and cases that only peers have.
CASES = {
    "copy32": ("stream", STREAM, 8 * STREAM, 0),
    "mul32": ("stream", STREAM, 8 * STREAM, 0),
    "add32": ("stream", STREAM, 12 * STREAM, 0),
    "triad32": ("stream", STREAM, 12 * STREAM, 0),
    "dot32": ("stream", STREAM, 8 * STREAM, 0),
    "copy64": ("stream", STREAM // 2, 8 * STREAM, 0),
    "mul64": ("stream", STREAM // 2, 8 * STREAM, 0),
    "add64": ("stream", STREAM // 2, 12 * STREAM, 0),
    "triad64": ("stream", STREAM // 2, 12 * STREAM, 0),
    "dot64": ("stream", STREAM // 2, 8 * STREAM, 0),
    "sum": ("reduce", STREAM, 4 * STREAM, 0),
    "scan": ("reduce", STREAM, 8 * STREAM, 0),
    "radix-sort": ("reduce", KEYS, 8 * KEYS, 0),
    "transpose": ("move", SIDE, 8 * SIDE**2, 0),
    "softmax": ("rows", SIDE, 8 * SIDE**2, 0),
    "layer-norm": ("rows", 65536, 8 * 65536 * 4096, 0),
    "mandelbrot32": ("points", 8192, 0, 0),
    "sgemm32": ("dense", PRODUCT, 12 * PRODUCT**2, 2 * PRODUCT**3),
    "sgemm64": ("dense", PRODUCT, 12 * PRODUCT**2, 2 * PRODUCT**3),
    "matmul-tf32": ("dense", PRODUCT, 12 * PRODUCT**2, 2 * PRODUCT**3),
    "matmul-bf16": ("dense", 8192, 6 * 8192**2, 2 * 8192**3),
}


class Peer:
    """Measures cases for a framework, given its events and how to wait for the device."""

    def __init__(self, event, record, elapsed_ms, wait):
        self.event, self.record, self.elapsed_ms, self.wait = event, record, elapsed_ms, wait
        self.results, self.skipped = [], []

    def measure(self, case, by, prepare):
        """prepare() returns what enqueues a run, and what says whether the result is right."""
        try:
            run, right = prepare()
            run()
            self.wait()
            if not right():
                raise RuntimeError("wrong result")
            self.add(case, by, self.times(run))
        except Exception as e:  # whatever a framework throws is a reason, not the end
            self.skipped.append({"what": f"{case} by {by}", "why": " ".join(str(e).split())[:200] or repr(e)})

    def times(self, run):
        for _ in range(WARM):
            run()
        events = []
        for _ in range(ROUNDS):
            start, end = self.event(), self.event()
            self.record(start)
            run()
            self.record(end)
            events.append((start, end))
        self.wait()
        return sorted(self.elapsed_ms(s, e) / 1e3 for s, e in events)

    def add(self, case, by, seconds):
        group, size, nbytes, flops = CASES[case]
        self.results.append({
            "name": case, "group": group, "size": size, "bytes": nbytes, "flops": flops,
            "measurements": [{"by": by, "seconds": seconds[len(seconds) // 2], "fastest": seconds[0],
                              "slowest": seconds[-1], "rounds": len(seconds)}],
        })


def merge(reports):
    """Joins the results of frameworks by case."""
    cases, skipped = {}, []
    for r in reports:
        skipped += r["skipped"]
        for c in r["results"]:
            if c["name"] in cases:
                cases[c["name"]]["measurements"] += c["measurements"]
            else:
                cases[c["name"]] = c
    return list(cases.values()), skipped


def main(names):
    if names[:1] == ["--only"]:  # the process of one framework
        peer = importlib.import_module("peer_" + names[1]).measure()
        json.dump({"results": peer.results, "skipped": peer.skipped}, sys.stdout)
        return
    reports = []
    for name in names or FRAMEWORKS:
        print("measuring", name, file=sys.stderr)
        p = subprocess.run([sys.executable, __file__, "--only", name], capture_output=True, text=True)
        if p.returncode == 0:
            reports.append(json.loads(p.stdout.splitlines()[-1]))
        else:
            why = (p.stderr.strip().splitlines() or ["no output"])[-1]
            reports.append({"results": [], "skipped": [{"what": "peer " + name, "why": why[:200]}]})
    results, skipped = merge(reports)
    json.dump({"device": "peers", "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
               "results": results, "skipped": skipped}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
