"""Renders templates as transformers does, with Python's jinja2.

judge.py FOLDER: reads FOLDER/cases.json, a list of objects with template (the
source), variables, and time (ISO), and writes FOLDER/renders.json, a list of
objects with text or error.
"""

import datetime
import json
import os
import sys

import jinja2
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


def main(folder):
    with open(os.path.join(folder, "cases.json")) as f:
        cases = json.load(f)
    renders = []
    for c in cases:
        env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
        now = datetime.datetime.fromisoformat(c["time"])
        env.filters["tojson"] = tojson
        env.globals["raise_exception"] = refuse
        env.globals["strftime_now"] = now.strftime
        try:
            renders.append({"text": env.from_string(c["template"]).render(**c["variables"])})
        except Refused as e:
            renders.append({"refused": str(e)})
        except Exception as e:
            renders.append({"error": str(e)})
    with open(os.path.join(folder, "renders.json"), "w") as f:
        json.dump(renders, f)


main(sys.argv[1])
