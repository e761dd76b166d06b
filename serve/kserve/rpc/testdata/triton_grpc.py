"""Talks to a server with tritonclient over gRPC.

triton_grpc.py ADDRESS KEY: the server has the models of the test. Fails if an answer
is not the expected one, and prints how many were compared.
"""

import sys

import numpy as np
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException

client = triton.InferenceServerClient(sys.argv[1])
key = {"authorization": "Bearer " + sys.argv[2]}
compared = 0


def equal(got, want):
    global compared
    compared += 1
    if got != want:
        raise SystemExit(f"check {compared}: got {got!r}, want {want!r}")


def fails(f, code, text):
    try:
        f()
    except InferenceServerException as e:
        equal((e.status(), text in e.message()), ("StatusCode." + code, True))
        return
    raise SystemExit("no error")


equal((client.is_server_live(headers=key), client.is_server_ready(headers=key)), (True, True))
equal(client.is_model_ready("e", headers=key), False)
client.load_model("e", headers=key)
equal((client.is_model_ready("e", headers=key), client.is_model_ready("e", "2", headers=key)), (True, False))
index = client.get_model_repository_index(headers=key)
equal([(m.name, m.version, m.state, m.reason) for m in index.models], [("always", "1", "READY", ""), ("e", "1", "READY", "")])
client.unload_model("e", headers=key)
index = client.get_model_repository_index(headers=key)
equal([(m.name, m.state, m.reason) for m in index.models], [("always", "READY", ""), ("e", "UNAVAILABLE", "unloaded")])
fails(lambda: client.load_model("x", headers=key), "NOT_FOUND", "there is no model")
fails(lambda: client.load_model("e", config="{}", headers=key), "INVALID_ARGUMENT", "parameters is not supported")
about = client.get_server_metadata(headers=key)
equal((about.name, list(about.extensions)), ("gopherwarp", ["binary_tensor_data", "classification", "schedule_policy", "model_repository"]))
about = client.get_model_metadata("e", headers=key)
equal((about.name, list(about.versions), about.platform), ("e", ["1"], "gopherwarp"))
equal([(t.name, t.datatype, list(t.shape)) for t in [*about.inputs, *about.outputs]], [("text", "BYTES", [-1]), ("embedding", "FP32", [-1, 2])])

given = triton.InferInput("text", [2], "BYTES")
given.set_data_from_numpy(np.array([b"abc", "ä".encode()], dtype=np.object_))
answer = client.infer("e", [given], request_id="7", headers=key)
equal(answer.as_numpy("embedding").tolist(), [[3, 1.5], [2, 1]])
equal((answer.get_response().id, answer.get_response().model_version), ("7", "1"))
answer = client.infer("e", [given], priority=1, timeout=10_000_000, headers=key)
equal(answer.as_numpy("embedding").tolist(), [[3, 1.5], [2, 1]])
answer = client.infer("e", [given], outputs=[triton.InferRequestedOutput("embedding")], compression_algorithm="gzip", headers=key, client_timeout=10)
equal(answer.as_numpy("embedding").tolist(), [[3, 1.5], [2, 1]])
answer = client.infer("e", [given], outputs=[triton.InferRequestedOutput("embedding", class_count=1)], headers=key)
equal(answer.as_numpy("embedding").tolist(), [[b"3.000000:0"], [b"2.000000:0"]])

fails(lambda: client.infer("e", [given]), "UNAUTHENTICATED", "API key")
fails(lambda: client.infer("x", [given], headers=key), "NOT_FOUND", "there is no model")
fails(lambda: client.infer("e", [triton.InferInput("text", [1], "FP32")], headers=key), "INVALID_ARGUMENT", "the datatype is")
given.set_data_from_numpy(np.array([b"busy", b"x"], dtype=np.object_))
fails(lambda: client.infer("e", [given], headers=key), "RESOURCE_EXHAUSTED", "too many texts")
fails(lambda: client.get_model_config("e", headers=key), "UNIMPLEMENTED", "there is no call")
print(compared, "compared")
