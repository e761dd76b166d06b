"""Computes scores of pairs of texts with the Python package transformers, in float32.

usage: judge.py make TOKENIZER FOLDER   writes a cross-encoder of MiniLM's size with seeded weights
       judge.py score FOLDER <PAIRS

TOKENIZER is the folder of a model with the tokenizer of BERT. PAIRS is a JSON list of queries with documents; the output is a JSON list of
a logit and its sigmoid for each.
"""
import json
import sys

import torch
import transformers

torch.set_num_threads(1)  # threads that wait for each other take very long on a busy machine


def make(tokenizer, folder):
    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, initializer_range=0.08,
        num_labels=1,
    )
    torch.manual_seed(7)
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(tokenizer).save_pretrained(folder)


def score(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    # RoBERTa's positions begin after the padding token's ID.
    shift = 0 if model.config.model_type == "bert" else model.config.pad_token_id + 1
    longest = min(tokenizer.model_max_length, model.config.max_position_embeddings - shift)
    scores = []
    with torch.inference_mode():
        for query, document in json.load(sys.stdin):
            tokens = tokenizer([query], [document], truncation="longest_first", max_length=longest, return_tensors="pt")  # as CrossEncoder does
            logit = model(**tokens).logits[0, 0]
            scores.append([logit.item(), torch.sigmoid(logit).item()])
    json.dump(scores, sys.stdout)


{"make": make, "score": score}[sys.argv[1]](*sys.argv[2:])
