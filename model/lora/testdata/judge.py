"""Trains an adapter for ten steps with the Python package PEFT.

usage: judge.py MODEL ADAPTER LESSON OUT

MODEL is a folder or a GGUF file, which is dequantized. LESSON is a JSON object: "texts" is a list of [tokens, labels] of sequences, where a
label is the token to learn after a token, or -1; "rate" is that of AdamW; "dtype" is the type of all numbers, such as float64. OUT is a safetensors
file with the losses of the steps, and the derivatives of the first one. The names of the tensors of ADAPTER must be those that PEFT writes.
"""
import json
import os
import sys

import peft
import torch
import transformers
from safetensors.torch import load_file, save_file


def loss_of(model, texts):
    total, count = 0, 0
    for tokens, labels in texts:
        labels = torch.tensor(labels)
        logits = model(torch.tensor([tokens])).logits[0]
        total += torch.nn.functional.cross_entropy(logits, labels, ignore_index=-1, reduction="sum")
        count += (labels >= 0).sum()
    return total / count


def open_model(path, dtype):
    if path.endswith(".gguf"):
        folder, name = os.path.split(path)
        return transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=dtype)
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(path))
    model.load_state_dict(load_file(path + "/model.safetensors"))
    return model


def main():
    path, adapter, lesson, out = sys.argv[1:]
    lesson = json.loads(lesson)
    texts, dtype = lesson["texts"], getattr(torch, lesson["dtype"])
    torch.set_default_dtype(dtype)
    model = peft.PeftModel.from_pretrained(open_model(path, dtype), adapter, is_trainable=True).to(dtype)
    names, wanted = set(load_file(adapter + "/adapter_model.safetensors")), set(peft.get_peft_model_state_dict(model))
    if names != wanted:
        sys.exit(f"the adapter lacks {sorted(wanted - names)} and should not have {sorted(names - wanted)}")
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=lesson["rate"], weight_decay=0.01)
    results, losses = {}, []
    for step in range(10):
        loss = loss_of(model, texts)
        losses.append(loss.item())
        loss.backward()
        if step == 0:
            for name, p in model.named_parameters():
                if p.requires_grad:
                    results[name.replace(".default", "").replace("magnitude_vector.weight", "magnitude_vector")] = p.grad.float().clone()  # clipping changes p.grad
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
    save_file({"losses": torch.tensor(losses).float(), **results}, out)


main()
