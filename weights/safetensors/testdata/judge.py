# The Python package safetensors as a judge of package safetensors of this repository. It needs: pip install safetensors numpy
#
#	python3 judge.py read FILE      prints metadata and tensors
#	python3 judge.py write FILE     writes a file of all types that NumPy has
#	python3 judge.py accepts < FILES   prints True or False for each line, which is a file in hexadecimal

import hashlib
import sys

import numpy
from safetensors import deserialize, safe_open
from safetensors.numpy import save_file

NUMPY = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool"]


def read(name):
    with safe_open(name, "np") as f:
        for key, value in sorted((f.metadata() or {}).items()):
            print("%s=%s" % (key, value))
    with open(name, "rb") as f:
        for key, t in sorted(deserialize(f.read())):
            print(key, t["dtype"], t["shape"], hashlib.sha256(bytes(t["data"])).hexdigest())


def write(name):
    tensors = {t: (numpy.arange(6).reshape(2, 3) % 2).astype(t) for t in NUMPY}
    tensors["scalar"] = numpy.array(2.5, dtype=numpy.float32)
    tensors["none"] = numpy.zeros((3, 0), dtype=numpy.float16)
    save_file(tensors, name, metadata={"format": "np", "ü": '"'})


def accepts():
    for line in sys.stdin:
        try:
            deserialize(bytes.fromhex(line))
            print(True)
        except Exception:
            print(False)


{"read": read, "write": write, "accepts": accepts}[sys.argv[1]](*sys.argv[2:])
