"""A process that executes the suite's requests, one per line, and answers each with a line of JSON.

    python3 peer.py torch

It starts with {"about": "torch 2.9", "cases": ["add32", ...]}, or {"error": "..."}. Then:

    prepare CASE SIZE   random inputs, a run, a check of its result: {} or {"error": "..."}
    round               a run that warms up and one that is timed: {"seconds": 0.0007}
    end                 frees what prepare made: {}

A round enqueues both runs before it waits for anything, so that the device never waits for this
process.
"""
import gc
import importlib
import json
import os
import sys

sys.dont_write_bytecode = True


class Clock:
    """A framework's access to the device's clock: its events, and how to wait for the device."""

    def __init__(self, event, record, elapsed_ms, wait, free):
        self.event, self.record, self.elapsed_ms, self.wait, self.free = event, record, elapsed_ms, wait, free

    def seconds(self, restore, run):
        restore()
        run()
        restore()
        start, end = self.event(), self.event()
        self.record(start)
        run()
        self.record(end)
        self.wait()
        return self.elapsed_ms(start, end) / 1e3


class Server:
    """Holds the case that is being measured. A case is a function of the size that returns up to three
    functions: one enqueues a run, one checks the result, and one restores the input if a run overwrites it."""

    def __init__(self, clock, cases):
        self.clock, self.cases, self.case = clock, cases, None

    def prepare(self, name, size):
        self.end()
        run, right, *restore = self.cases[name](int(size))
        restore = restore[0] if restore else lambda: None
        restore()
        run()
        self.clock.wait()
        if not right():
            raise RuntimeError("wrong result")
        self.case = restore, run
        return {}

    def round(self):
        return {"seconds": self.clock.seconds(*self.case)}

    def end(self):
        self.case = None
        gc.collect()
        self.clock.free()
        return {}

    def answer(self, words):
        try:
            return {"prepare": self.prepare, "round": self.round, "end": self.end}[words[0]](*words[1:])
        except Exception as e:  # any exception of a framework is an answer, and the process continues
            return failure(e)


def failure(e):
    return {"error": (type(e).__name__ + ": " + " ".join(str(e).split()))[:300]}


def main(name):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the output of frameworks must not be taken for answers

    def say(answer):
        print(json.dumps(answer), file=answers, flush=True)

    try:
        module = importlib.import_module("peer_" + name)
        about, clock, cases = module.start()
    except Exception as e:
        say(failure(e))
        return
    server = Server(clock, cases)
    say({"about": about, "cases": sorted(cases)})
    for line in sys.stdin:
        say(server.answer(line.split()))


if __name__ == "__main__":
    main(sys.argv[1])
