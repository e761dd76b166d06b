"""Talks to a server with tritonclient over HTTP.

triton_http.py ADDRESS: the server has the models of the test. Fails if an answer is
not the expected one, and prints how many were compared.
"""

import sys

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

client = triton.InferenceServerClient(sys.argv[1])
compared = 0


def equal(got, want):
    global compared
    compared += 1
    if got != want:
        raise SystemExit(f"check {compared}: got {got!r}, want {want!r}")


equal((client.is_server_live(), client.is_server_ready()), (True, True))
equal((client.is_model_ready("e"), client.is_model_ready("p", "1"), client.is_model_ready("x")), (True, True, False))
equal(client.get_server_metadata()["name"], "gopherwarp")
equal(client.get_model_metadata("e")["outputs"], [{"name": "embedding", "datatype": "FP32", "shape": [-1, 2]}])

texts = np.array([b"abc", "ä".encode()], dtype=np.object_)
for binary in (True, False):
    given = triton.InferInput("text", [2], "BYTES")
    given.set_data_from_numpy(texts, binary_data=binary)
    answer = client.infer("e", [given], request_id="7")
    equal(answer.as_numpy("embedding").tolist(), [[3, 1.5], [2, 1]])
    equal(answer.get_response()["id"], "7")
    answer = client.infer("e", [given], outputs=[triton.InferRequestedOutput("embedding", binary_data=binary)])
    equal(answer.as_numpy("embedding").tolist(), [[3, 1.5], [2, 1]])
equal(client.infer("e", [given], priority=1, timeout=10_000_000).as_numpy("embedding").shape, (2, 2))
equal(client.async_infer("e", [given]).get_result().as_numpy("embedding").shape, (2, 2))
for how in ("gzip", "deflate"):
    answer = client.infer("e", [given], request_compression_algorithm=how, response_compression_algorithm=how)
    equal(answer.as_numpy("embedding").tolist(), [[3, 1.5], [2, 1]])

given = triton.InferInput("picture", [1], "BYTES")
given.set_data_from_numpy(np.array([b"\xff\xd8\x00"], dtype=np.object_))
equal(client.infer("p", [given]).as_numpy("probabilities").tolist(), [[0.25, 0.125, 0.75]])
best = client.infer("p", [given], outputs=[triton.InferRequestedOutput("probabilities", class_count=2)])
equal(best.as_numpy("probabilities").tolist(), [[b"0.750000:2", b"0.250000:0:short"]])

try:
    client.infer("e", [given])
    raise SystemExit("no error")
except InferenceServerException as e:
    equal((e.status(), "one input" in e.message()), ("400", True))
client.load_model("m")
equal([(m["name"], m["state"]) for m in client.get_model_repository_index()], [("broken", "UNAVAILABLE"), ("e", "READY"), ("m", "READY"), ("p", "READY")])
client.unload_model("m")
equal(client.get_model_repository_index()[2], {"name": "m", "version": "1", "state": "UNAVAILABLE", "reason": "unloaded"})
try:
    client.load_model("broken")
    raise SystemExit("no error")
except InferenceServerException as e:
    equal((e.status(), "no file" in e.message()), ("503", True))
print(compared, "compared")
