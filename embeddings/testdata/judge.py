"""Computes vectors of texts with the Python package transformers, in float32.

usage: judge.py MODEL <TEXTS

TEXTS and the output are JSON lists. A vector is the mean of the activations of a text's tokens, divided by its norm.
"""
import json
import sys

import torch
import transformers

tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
model = transformers.AutoModel.from_pretrained(sys.argv[1], dtype=torch.float32, attn_implementation="eager").eval()
vectors = []
with torch.inference_mode():
    for text in json.load(sys.stdin):
        tokens = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        mean = model(**tokens).last_hidden_state[0].mean(0)
        vectors.append((mean / mean.norm()).tolist())
json.dump(vectors, sys.stdout)
