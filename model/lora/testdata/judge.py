"""Trains an adapter for ten steps with the Python package PEFT, in float64.

usage: judge.py MODEL ADAPTER TEXTS OUT

TEXTS is a JSON list of [tokens, labels] of sequences; a label is the token to learn after a token, or -1. OUT is a safetensors file with
the losses of the steps, and the derivatives of the first one. The names of the tensors of ADAPTER must be those that PEFT writes.
"""
import json
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


def main():
    folder, adapter, texts, out = sys.argv[1:]
    texts = json.loads(texts)
    torch.set_default_dtype(torch.float64)
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(folder))
    model.load_state_dict(load_file(folder + "/model.safetensors"))
    model = peft.PeftModel.from_pretrained(model, adapter, is_trainable=True).double()
    names, wanted = set(load_file(adapter + "/adapter_model.safetensors")), set(peft.get_peft_model_state_dict(model))
    if names != wanted:
        sys.exit(f"the adapter lacks {sorted(wanted - names)} and should not have {sorted(names - wanted)}")
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2, weight_decay=0.01)
    results, losses = {}, []
    for step in range(10):
        loss = loss_of(model, texts)
        losses.append(loss.item())
        loss.backward()
        if step == 0:
            for name, p in model.named_parameters():
                if p.requires_grad:
                    results[name.replace(".default", "").replace("magnitude_vector.weight", "magnitude_vector")] = p.grad.float()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
    save_file({"losses": torch.tensor(losses).float(), **results}, out)


main()
