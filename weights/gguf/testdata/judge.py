# Writes weights.txt: random blocks and the float32 weights that the Python package gguf computes of them, both as bytes in hexadecimal.
#
#	pip install gguf && python3 weights.py > weights.txt

import numpy
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize

random = numpy.random.default_rng(1)
for name, type, size, halves in [("Q4_1", Type.Q4_1, 20, 2), ("Q8_0", Type.Q8_0, 34, 1)]:
    for i in range(24):
        block = random.integers(0, 256, size, dtype=numpy.uint8)
        if i % 3:  # else any finite number, subnormal ones among them
            block[: 2 * halves] = random.normal(0, 0.05, halves).astype(numpy.float16).view(numpy.uint8)
        scales = block[: 2 * halves].view(numpy.float16)
        if not numpy.isfinite(scales).all() or i == 3:
            block[: 2 * halves] = numpy.arange(3, 3 + halves, dtype=numpy.uint16).view(numpy.uint8)
        weights = dequantize(block, type).astype(numpy.float32)
        print(name, block.tobytes().hex(), weights.tobytes().hex())
