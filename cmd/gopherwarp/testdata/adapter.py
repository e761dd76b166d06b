"""Compares a merged model with the exported adapter, both read with the Python package gguf, and prints the SHA-256 of each tensor of the model.

usage: adapter.py MODEL ADAPTER MERGED

MERGED must have the matrices of MODEL plus alpha/rank times the products of those of ADAPTER, the bits of the other tensors of MODEL, and its metadata.
"""
import hashlib
import sys

import gguf
import numpy


def tensors(reader):
    return {t.name: t for t in reader.tensors}


def values(t):
    return gguf.quants.dequantize(t.data, t.tensor_type).astype(numpy.float64)


def check_metadata(model, merged):
    for name, field in model.fields.items():
        if name.startswith("GGUF.") or name == "general.file_type":
            continue  # the numbers of tensors and of fields, and the type of most tensors
        assert name in merged.fields, name
        assert merged.fields[name].contents() == field.contents(), name


def main():
    model, adapter, merged = (gguf.GGUFReader(name) for name in sys.argv[1:])
    fields = {name: adapter.fields[name].contents() for name in ("general.type", "general.architecture", "adapter.type", "adapter.lora.alpha")}
    assert fields["general.type"] == "adapter" and fields["adapter.type"] == "lora", fields
    assert fields["general.architecture"] == model.fields["general.architecture"].contents(), fields
    check_metadata(model, merged)
    base, pairs, new = tensors(model), tensors(adapter), tensors(merged)
    assert base.keys() == new.keys(), base.keys() ^ new.keys()
    changed = 0
    for name, t in base.items():
        want = values(t)
        if name + ".lora_a" in pairs:
            a, b = values(pairs[name + ".lora_a"]), values(pairs[name + ".lora_b"])
            want = want + fields["adapter.lora.alpha"] / len(a) * (b @ a)
            changed += 1
        else:
            assert new[name].tensor_type == t.tensor_type and new[name].data.tobytes() == t.data.tobytes(), name
        difference = numpy.abs(values(new[name]) - want).max()
        assert difference <= 1e-3 * numpy.abs(want).max(), (name, difference)
    assert 2 * changed == len(pairs), (changed, len(pairs))
    print(changed, "matrices")
    for name, t in new.items():
        print(name, hashlib.sha256(t.data.tobytes()).hexdigest())


main()
