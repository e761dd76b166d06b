# The Python package gguf as a judge of package gguf of this repository. It needs: pip install gguf
#
#	python3 judge.py dequantize Q4_K < blocks > floats     of random blocks; floats are little-endian
#	python3 judge.py quantize Q8_0 < floats > blocks
#	python3 judge.py read FILE                             prints metadata and tensors
#	python3 judge.py tensors FILE                          prints only the tensors
#	python3 judge.py write FILE                            writes a file of all metadata types
#	python3 judge.py vectors > vectors.txt                 random blocks and weights in hexadecimal

import hashlib
import sys

import numpy
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize, quantize

TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]
# The offsets of the float16 numbers in a block.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}


def random_block(random, name, i):
    block = random.integers(0, 256, GGML_QUANT_SIZES[GGMLQuantizationType[name]][1], dtype=numpy.uint8)
    for at in HALVES[name]:
        half = block[at : at + 2].view(numpy.float16)
        if i % 3 or not numpy.isfinite(half).all():  # else any finite number, subnormal ones among them
            half[0] = random.normal(0, 0.05)
    return block


def vectors():
    random = numpy.random.default_rng(1)
    for name in TYPES:
        for i in range(2 if name.endswith("K") else 6):
            block = random_block(random, name, i)
            weights = dequantize(block, GGMLQuantizationType[name]).astype(numpy.float32)
            print("dequantize", name, block.tobytes().hex(), weights.tobytes().hex())
    for name in ["Q4_0", "Q4_1", "Q8_0"]:
        for i in range(4):
            weights = random.normal(0, 10.0 ** (i - 2), 32).astype(numpy.float32)
            print("quantize", name, weights.tobytes().hex(), quantize(weights, GGMLQuantizationType[name]).tobytes().hex())


def read(name):
    reader = GGUFReader(name)
    for key, field in reader.fields.items():
        if not key.startswith("GGUF."):
            print(key, [t.name for t in field.types], field.contents())
    tensors(name)


def tensors(name):
    reader = GGUFReader(name)
    for t in reader.tensors:
        print(t.name, t.tensor_type.name, list(reversed(t.shape.tolist())), hashlib.sha256(t.data.tobytes()).hexdigest())


def write(name):
    w = GGUFWriter(name, "test")
    w.add_uint8("u8", 255)
    w.add_int8("i8", -128)
    w.add_uint16("u16", 65535)
    w.add_int16("i16", -32768)
    w.add_uint32("u32", 4294967295)
    w.add_int32("i32", -2147483648)
    w.add_float32("f32", 0.5)
    w.add_bool("bool", True)
    w.add_string("string", "héllo")
    w.add_uint64("u64", 18446744073709551615)
    w.add_int64("i64", -9223372036854775808)
    w.add_float64("f64", 0.1)
    w.add_array("strings", ["a", "", "ü"])
    w.add_array("ints", [1, -2, 3])
    w.add_tensor("a", numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
    w.add_tensor("b", numpy.arange(5, dtype=numpy.float16))
    w.add_tensor("q", quantize(numpy.arange(64, dtype=numpy.float32).reshape(2, 32), GGMLQuantizationType.Q8_0), raw_dtype=GGMLQuantizationType.Q8_0)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def main(operation, *args):
    if operation == "vectors":
        vectors()
    elif operation == "read":
        read(*args)
    elif operation == "tensors":
        tensors(*args)
    elif operation == "write":
        write(*args)
    elif operation == "dequantize":
        blocks = numpy.frombuffer(sys.stdin.buffer.read(), dtype=numpy.uint8)
        sys.stdout.buffer.write(dequantize(blocks, GGMLQuantizationType[args[0]]).astype(numpy.float32).tobytes())
    elif operation == "quantize":
        weights = numpy.frombuffer(sys.stdin.buffer.read(), dtype=numpy.float32)
        sys.stdout.buffer.write(quantize(weights, GGMLQuantizationType[args[0]]).tobytes())


main(*sys.argv[1:])
