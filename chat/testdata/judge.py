"""Renders templates as transformers does, with Python's jinja2.

judge.py FOLDER: reads FOLDER/cases.json, a list of objects with template (the
source), variables, and time (ISO), and writes FOLDER/renders.json, a list of
objects with text or error. Exits with code 3 if there is no jinja2.
"""

import datetime
import functools
import json
import os
import sys

try:
    import jinja2
except ImportError:
    sys.exit(3)
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    """The block generation, which marks what an assistant said."""

    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(lineno)

    def _same(self, caller):
        return caller()


class Refused(Exception):
    pass


def refuse(message):
    raise Refused(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@functools.lru_cache(maxsize=None)
def compiled(template, time):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = datetime.datetime.fromisoformat(time).strftime
    return env.from_string(template)


def main(folder):
    with open(os.path.join(folder, "cases.json")) as f:
        cases = json.load(f)
    renders = []
    for c in cases:
        try:
            renders.append({"text": compiled(c["template"], c["time"]).render(**c["variables"])})
        except Refused as e:
            renders.append({"refused": str(e)})
        except Exception as e:
            renders.append({"error": str(e)})
    with open(os.path.join(folder, "renders.json"), "w") as f:
        json.dump(renders, f)


main(sys.argv[1])
