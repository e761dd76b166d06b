"""Computes models with LoRA adapters with the Python packages transformers and PEFT, in float64.

usage: adapter.py < CASES > LOGITS

CASES is a JSON object with "tokens", and a list "cases" of objects. In these, "model" is a folder, or a GGUF file, which is dequantized; "adapter" is
the folder of an adapter, an adapter in a GGUF file, or missing. If a case has "train", PEFT makes the adapter with these options, trains it for three steps
in float32, and writes it to the folder. LOGITS is a list of the logits of the cases.
"""
import json
import os
import sys

import gguf
import peft
import torch
import transformers
from safetensors.torch import load_file


def open_model(path):
    folder, name = os.path.split(path) if path.endswith(".gguf") else (path, None)
    return transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)


def train(model, options, tokens, folder):
    torch.manual_seed(1)
    model = peft.get_peft_model(model, peft.LoraConfig(task_type="CAUSAL_LM", **options))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.05)
    for _ in range(3):
        model(tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return model.eval()


def load_folder(model, folder):
    model = peft.PeftModel.from_pretrained(model, folder)
    names, wanted = set(load_file(folder + "/adapter_model.safetensors")), set(peft.get_peft_model_state_dict(model))
    if names != wanted:
        sys.exit(f"the adapter lacks {sorted(wanted - names)} and should not have {sorted(names - wanted)}")
    return model


def load_gguf(model, path):
    """Adds the products of the matrices to those of the model. A pair of elements that rotate together is adjacent in GGUF files."""
    reader = gguf.GGUFReader(path)
    alpha = reader.fields["adapter.lora.alpha"].contents()
    tensors = {t.name: torch.from_numpy(gguf.quants.dequantize(t.data, t.tensor_type)).double() for t in reader.tensors}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, model.config.num_hidden_layers)
    model.double()
    with torch.no_grad():
        for name, module in model.named_modules():
            to = names.get_name(name)
            if not isinstance(module, torch.nn.Linear) or f"{to}.weight.lora_a" not in tensors:
                continue
            a, b = tensors.pop(f"{to}.weight.lora_a"), tensors.pop(f"{to}.weight.lora_b")
            if name.endswith(("q_proj", "k_proj")):
                b = b.reshape(-1, model.config.head_dim // 2, 2, len(a)).transpose(1, 2).reshape(b.shape)
            module.weight += alpha / len(a) * (b @ a)
    if tensors:
        sys.exit(f"{path} has matrices of no layer: {sorted(tensors)}")
    return model


def adapted(case, tokens):
    model, adapter = open_model(case["model"]), case.get("adapter", "")
    if "train" in case:
        return train(model, case["train"], tokens, adapter)
    if adapter.endswith(".gguf"):
        return load_gguf(model, adapter)
    return load_folder(model, adapter) if adapter else model


def main():
    request = json.load(sys.stdin)
    tokens = torch.tensor([request["tokens"]])
    results = []
    for case in request["cases"]:
        model = adapted(case, tokens).double()
        with torch.no_grad():
            results.append(model(tokens).logits[0].tolist())
    json.dump(results, sys.stdout)


main()
