"""Renders templates with Python's jinja2 as transformers does.

judge.py: reads a list of templates in JSON from the standard input, and writes
a list of their texts, or of null for those that fail, to the standard output.
"""

import json
import sys

from jinja2.ext import Extension, loopcontrols
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    """The block generation, which marks what an assistant said."""

    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(lineno)

    def _same(self, caller):
        return caller()


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


renders = []
for source in json.load(sys.stdin):
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = tojson
    variables = {"s": "hello", "list": [1, 2, 3], "dict": {"a": 1, "b": 2}, "none_list": []}
    try:
        renders.append(env.from_string(source).render(**variables))
    except Exception:
        renders.append(None)
json.dump(renders, sys.stdout, indent=0)
