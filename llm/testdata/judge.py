"""Computes a GGUF model with the Python package transformers, in float32 from dequantized weights.

usage: judge.py MODEL < CASES > ANSWERS

CASES is a JSON object. "prompts" is a list of objects with the tokens of a text and, for each place, the token that another program
found to have the largest logit there; "chunks" is a list of lists of tokens. ANSWERS has "prompts", for each prompt and place the token with
the largest logit, that logit, and the logit of the other program's token; and "nll", the mean negative log-likelihood of the tokens of the
second halves of the chunks.
"""
import json
import os
import sys

import torch
import transformers


def main():
    folder, name = os.path.split(sys.argv[1])
    cases = json.load(sys.stdin)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
    prompts, losses = [], []
    with torch.inference_mode():
        for case in cases["prompts"]:
            logits = model(torch.tensor([case["tokens"]])).logits[0]
            values, best = logits.max(-1)
            theirs = logits.gather(-1, torch.tensor(case["best"]).unsqueeze(-1))[:, 0]
            prompts.append({"best": best.tolist(), "largest": values.tolist(), "other": theirs.tolist()})
        for chunk in cases["chunks"]:
            half, tokens = len(chunk) // 2, torch.tensor([chunk])
            logits = model(tokens).logits[0, half:-1]
            losses.append(torch.nn.functional.cross_entropy(logits.double(), tokens[0, half + 1 :], reduction="none"))
    json.dump({"prompts": prompts, "nll": torch.cat(losses).mean().item()}, sys.stdout)


main()
