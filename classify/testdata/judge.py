"""Classifies the photographs of the Python package scikit-image with EfficientNet-Lite0 in PyTorch.

usage: judge.py MODEL FOLDER

MODEL is a safetensors file with the names of the package efficientnet_lite_pytorch. The program writes the photographs as PNG files to
FOLDER. It prints a JSON list of objects with a file's name, the pixels of its prepared square, of shape [224 224 3] and from 0 to 255,
and the probabilities of the classes.
"""
import json
import os
import sys

import skimage
import timm
import torch
from PIL import Image
from safetensors.torch import load_file
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F


def state_of(path, model):
    """Returns the tensors with timm's names: both models have the same layers in the same order."""
    theirs = {k: v for k, v in load_file(path).items() if not k.endswith("num_batches_tracked")}
    names = [k for k in model.state_dict() if not k.endswith("num_batches_tracked")]
    assert len(names) == len(theirs), (len(names), len(theirs))
    return dict(zip(names, theirs.values()))


def main(path, folder):
    model = timm.create_model("tf_efficientnet_lite0").eval()
    model.load_state_dict(state_of(path, model), strict=False)  # BatchNorm's counters of batches are left out
    source, results = os.path.join(os.path.dirname(skimage.__file__), "data"), []
    for name in sorted(os.listdir(source)):
        file = os.path.join(source, name)
        if not name.endswith((".png", ".jpg")) or os.path.getsize(file) < 30000 or name == "logo.png":
            continue
        picture = Image.open(file).convert("RGB")
        name = name[:-4] + ".png"
        picture.save(os.path.join(folder, name))
        square = F.pil_to_tensor(F.center_crop(F.resize(picture, 256, InterpolationMode.BICUBIC), 224))
        with torch.inference_mode():
            p = model(((square.float() / 255 - 0.498) / 0.502).unsqueeze(0)).softmax(-1)[0]
        results.append({"name": name, "pixels": square.permute(1, 2, 0).flatten().tolist(), "probabilities": p.tolist()})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
