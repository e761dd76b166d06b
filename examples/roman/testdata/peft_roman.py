"""Trains an adapter with the Python package PEFT on the texts of the program roman, as that program does, and asks the model for the others.

usage: peft_roman.py MODEL FOLDER STEPS [ASKED]

MODEL is a GGUF file, which is dequantized to float32. FOLDER has the files train.jsonl and asked.jsonl, which the program writes. The texts of a step
have at most 512 tokens together; the rank, the rate, its schedule and the optimizer are those of the program, and each epoch has a random order. After
each 40 steps, the first 40 texts of asked.jsonl are asked for, and at the end the first ASKED, or all.
"""
import json
import math
import os
import random
import sys
import time

import peft
import torch
import transformers

LENGTH, RANK, RATE, WARM_UP = 512, 16, 1e-3, 5
MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def read(name):
    with open(name) as lines:
        return [json.loads(line) for line in lines]


def encode(tokenizer, text):
    """Returns the tokens of a text, and for each the token to learn after it or -100."""
    whole = tokenizer(text["prompt"] + text["completion"], add_special_tokens=False, return_offsets_mapping=True)
    tokens = whole["input_ids"] + [tokenizer.eos_token_id]
    learned = [end > len(text["prompt"]) for _, end in whole["offset_mapping"]] + [True]
    return tokens, [t if l else -100 for t, l in zip(tokens, learned)]


def batches(texts):
    """Returns the texts of each step, without end."""
    while True:
        random.shuffle(texts)
        batch, tokens = [], 0
        for text in texts:
            if tokens + len(text[0]) > LENGTH:
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += len(text[0])
        yield batch


def loss_of(model, batch):
    longest = max(len(tokens) for tokens, _ in batch)
    padded = [(tokens + [0] * (longest - len(tokens)), [1] * len(tokens) + [0] * (longest - len(tokens)), labels + [-100] * (longest - len(labels))) for tokens, labels in batch]
    tokens, mask, labels = (torch.tensor(x) for x in zip(*padded))
    return model(input_ids=tokens, attention_mask=mask, labels=labels).loss


def factor(step, steps):
    if step < WARM_UP:
        return (step + 1) / (WARM_UP + 1)
    return (1 + math.cos(math.pi * (step - WARM_UP) / (steps - WARM_UP))) / 2


def ask(model, tokenizer, asked):
    """Returns the number of texts whose completion the most probable tokens are."""
    model.eval()
    right = 0
    for text in asked:
        tokens = torch.tensor([tokenizer(text["prompt"], add_special_tokens=False)["input_ids"]])
        with torch.no_grad():
            out = model.generate(input_ids=tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=8, do_sample=False, pad_token_id=tokenizer.eos_token_id)
        right += tokenizer.decode(out[0, tokens.shape[1]:], skip_special_tokens=True).strip() == text["completion"]
    model.train()
    return right


def main():
    path, folder, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    directory, name = os.path.split(path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory, gguf_file=name)
    model = transformers.AutoModelForCausalLM.from_pretrained(directory, gguf_file=name, dtype=torch.float32)
    model = peft.get_peft_model(model, peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=MODULES, task_type="CAUSAL_LM"))
    texts, asked = [encode(tokenizer, t) for t in read(folder + "/train.jsonl")], read(folder + "/asked.jsonl")
    random.seed(1)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0)
    start, all_tokens, asking = time.time(), 0, 0
    for step, batch in zip(range(steps), batches(texts)):
        optimizer.param_groups[0]["lr"] = RATE * factor(step, steps)
        loss = loss_of(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        all_tokens += sum(len(tokens) for tokens, _ in batch)
        print("step %d of %d  loss %.4f  %.0f tokens/s" % (step + 1, steps, loss.item(), all_tokens / (time.time() - start - asking)), flush=True)
        if (step + 1) % 40 == 0 and step + 1 < steps:
            before = time.time()
            print("%d of 40 are right" % ask(model, tokenizer, asked[:40]), flush=True)
            asking += time.time() - before
    asked = asked[: int(sys.argv[4]) if len(sys.argv) > 4 else len(asked)]
    print("%d of %d numerals that the model did not learn are right, after %d tokens in %.0f s" % (ask(model, tokenizer, asked), len(asked), all_tokens, time.time() - start - asking))


main()
