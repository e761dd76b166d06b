"""Prints what Pillow makes of pictures: python3 resize.py >resize.json

The colors of a picture are those of function picture in resize_test.go. Each result is the square of 224 x 224 pixels in the middle of the picture
that is resized so that its shorter side has 256 pixels: the SHA-256 of its bytes and its first 12 bytes.
"""
import hashlib
import json

import numpy as np
import PIL
from PIL import Image

SIZES = [(256, 256), (224, 300), (257, 999), (1000, 563), (31, 20), (1, 1), (640, 480), (255, 256), (3001, 7), (280, 600), (300, 2048)]


def picture(width, height):
    y, x, c = np.mgrid[0:height, 0:width, 0:3].astype(np.uint32)
    return Image.fromarray(((((x * 40503) ^ (y * 30011)) * (2 * c + 1)) >> 7).astype(np.uint8))


assert int(PIL.__version__.split('.')[0]) >= 13, 'Pillow before version 13 has another order of passes'
results = []
for w, h in SIZES:
    for name, method in ("bilinear", Image.Resampling.BILINEAR), ("bicubic", Image.Resampling.BICUBIC):
        short = min(w, h)
        wide, high = 256 * w // short, 256 * h // short
        left, top = round((wide - 224) / 2), round((high - 224) / 2)
        data = picture(w, h).resize((wide, high), method).crop((left, top, left + 224, top + 224)).tobytes()
        results.append({"width": w, "height": h, "filter": name, "sha256": hashlib.sha256(data).hexdigest(), "first": list(data[:12])})
print(json.dumps({"pillow": PIL.__version__, "results": results}).replace('{"width"', '\n{"width"'))
