"""Writes the tensors of a file of torch.save, of the format before PyTorch 1.6, as a safetensors file. It runs nothing of the pickle.

    python3 convert.py model.pth model.safetensors
"""
import array
import collections
import json
import pickle
import struct
import sys

TYPES = {"FloatStorage": ("F32", 4), "LongStorage": ("I64", 8)}


class Tensors(pickle.Unpickler):
    """Replaces every class: tensors become tuples, and storages their type and key."""

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, size, stride, *rest: (storage, offset, tuple(size), tuple(stride))
        if name == "OrderedDict":
            return collections.OrderedDict
        return name

    def persistent_load(self, saved):
        return saved[1], saved[2]  # the type and the key


def places(size, stride):
    """Returns the places of the elements of a tensor in row-major order."""
    found = [0]
    for n, step in zip(size, stride):
        found = [at + i * step for at in found for i in range(n)]
    return found


def main(source, target):
    with open(source, "rb") as f:
        for _ in range(3):
            Tensors(f).load()  # a number, the protocol and facts about the system
        tensors, keys = Tensors(f).load(), Tensors(f).load()
        types = {t[0][1]: t[0][0] for t in tensors.values()}
        storages = {}
        for key in keys:
            (count,) = struct.unpack("<q", f.read(8))
            storages[key] = f.read(count * TYPES[types[key]][1])
    header, data = {}, bytearray()
    for name, ((kind, key), offset, size, stride) in tensors.items():
        dtype, width = TYPES[kind]
        words = memoryview(storages[key]).cast("I" if width == 4 else "Q")
        part = array.array(words.format, (words[offset + i] for i in places(size, stride)))
        header[name] = {"dtype": dtype, "shape": list(size), "data_offsets": [len(data), len(data) + len(part) * width]}
        data += part.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(target, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


main(*sys.argv[1:])
