"""Writes vectors.npz: operands, results and derivatives of operations, computed in float64 or int64 by PyTorch and NumPy.

    python3 vectors.py

Floats are rounded to 8 bits, so that every float type has them. TestVectors reads the file. The array cases is JSON in UTF-8. Each case has
the places of its operands (float64 for floats of any type, int32 for int32 and int64, int64 for int64 and for indices, uint8, bool) and of
its results, and for floats, of the derivatives of the sum of the first result times weights. Elements of one type are in one array."""
import json
import math
import os
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(1)
halves = ["float32", "float16", "bfloat16"]  # the types of images
arrays, cases = {"float64": [], "int32": [], "int64": [], "uint8": [], "bool": []}, []


def floats(*shape, low=None):
    x = torch.randn(shape, dtype=torch.float64)
    if low is not None:
        x = x.abs() + low
    return x.bfloat16().double()


def integers(*shape, low=-9, high=10):
    return torch.randint(low, high, shape, dtype=torch.int32)


def save(x):
    """Appends elements to those of their type, and returns where they are."""
    x = x.detach().contiguous().numpy()
    list = arrays[x.dtype.name]
    place = {"type": x.dtype.name, "at": sum(len(y) for y in list), "shape": x.shape}
    list.append(x.flatten())
    return place


def case(op, f, *operands, args=(), type="", types=(), grads=True):
    """Adds a case. The type is that of the first result, or "" for that of the operands, which are of all types that their places stand
    for, or only of the given ones."""
    operands = [x.clone().requires_grad_(grads and x.dtype == torch.float64) for x in operands]
    results = f(*operands)
    results = list(results) if isinstance(results, tuple) else [results]
    if type == "float32" or types == halves:
        results = [x.float().double() if x.dtype == torch.float64 else x for x in results]  # which takes less space
    c = {"op": op, "args": list(args), "type": type, "in": [save(x) for x in operands], "out": [save(x) for x in results]}
    if types:
        c["types"] = list(types)
    if results[0].requires_grad:
        weights = floats(*results[0].shape)
        c["weights"] = save(weights)
        wanted = [x for x in operands if x.requires_grad]
        grads = torch.autograd.grad((results[0] * weights).sum(), wanted, allow_unused=True)
        c["grads"] = [save(torch.zeros_like(x) if g is None else g) for x, g in zip(wanted, grads)]
    cases.append(c)


shapes = [(), (0,), (0, 3), (1,), (7,), (3, 5), (2, 3, 1, 4), (33,)]
pairs = [((7,), (7,)), ((3, 5), (5,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((), (7,)), ((1, 1), (2, 3)), ((2, 0, 1), (1, 4))]


def elementwise():
    both = {"Neg": torch.neg, "Abs": torch.abs, "Sign": torch.sign, "Square": torch.square, "ReLU": torch.relu}
    real = {"Exp": torch.exp, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "GELU": F.gelu, "SiLU": F.silu}
    for shape in shapes:
        for op, f in {**both, **real}.items():
            case(op, f, floats(*shape))
            if op in both:
                case(op, f, integers(*shape))
        for op, f in {"Sqrt": torch.sqrt, "Log": torch.log}.items():
            case(op, f, floats(*shape, low=0.25))
            case(op, lambda x: f(x.double()), integers(*shape, low=1), type="float32")


def binary():
    both = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Maximum": torch.maximum, "Minimum": torch.minimum}
    compare = {"Equal": torch.eq, "NotEqual": torch.ne, "Less": torch.lt, "LessEqual": torch.le, "Greater": torch.gt, "GreaterEqual": torch.ge}
    for a, b in pairs:
        for op, f in both.items():
            case(op, f, floats(*a), floats(*b))
            case(op, f, integers(*a), integers(*b))
        for op, f in compare.items():
            case(op, f, floats(*a).round(), floats(*b).round(), type="bool")
            case(op, f, integers(*a, low=0, high=3), integers(*b, low=0, high=3), type="bool")
        case("Div", torch.div, floats(*a), floats(*b, low=0.5))
        case("Div", lambda x, y: x.double() / y.double(), integers(*a), integers(*b, low=1), type="float32")
        case("Pow", torch.pow, floats(*a, low=0.5), floats(*b))
        case("Pow", torch.pow, integers(*a, low=0, high=5), integers(*b, low=0, high=4))
        case("Where", torch.where, torch.rand(a) < 0.5, floats(*a), floats(*b))
        case("Where", torch.where, torch.rand(b) < 0.5, integers(*a), integers(*b))


def reductions():
    for shape, dims in [((7,), [()]), ((3, 5), [(), (0,), (-1,)]), ((2, 3, 1, 4), [(1,), (0, 2), (-1, 1), (0, 1, 2, 3)]), ((1, 33), [(1,)]), ((0, 3), [(0,), (0, 1)])]:
        for d in dims:
            along = d or tuple(range(len(shape)))
            case("Sum", lambda x: x.sum(along), floats(*shape), args=d)
            case("Sum", lambda x: x.sum(along), integers(*shape), args=d, type="int64")
            if 0 in shape:
                continue
            case("Mean", lambda x: x.mean(along), floats(*shape), args=d)
            case("Mean", lambda x: x.double().mean(along), integers(*shape), args=d, type="float32")
            case("Max", lambda x: x.amax(along), floats(*shape), args=d)
            case("Min", lambda x: x.amin(along), floats(*shape), args=d)
            case("Max", lambda x: x.amax(along), integers(*shape), args=d)
            case("LogSumExp", lambda x: x.logsumexp(along), floats(*shape), args=d)
    for shape, d in [((7,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 1, 4), 1), ((33,), 0), ((2, 70), 1)]:
        distinct = (torch.randperm(floats(*shape).numel()) - 3).reshape(shape)
        case("ArgMax", lambda x: x.argmax(d), distinct.double(), args=[d], type="int64")
        case("ArgMin", lambda x: x.argmin(d), distinct.int(), args=[d], type="int64")
        case("Softmax", lambda x: x.softmax(d), floats(*shape), args=[d])
        case("LogSoftmax", lambda x: x.log_softmax(d), floats(*shape), args=[d])
        case("CumSum", lambda x: x.cumsum(d), floats(*shape), args=[d])
        case("CumSum", lambda x: x.cumsum(d), integers(*shape), args=[d], type="int64")
        case("Sort", lambda x: tuple(torch.sort(x, dim=d, stable=True)), distinct.double(), args=[d])
        case("Sort", lambda x: tuple(torch.sort(x, dim=d, stable=True)), integers(*shape), args=[d])
        case("Top", lambda x: tuple(torch.topk(x, 2, -1)) if shape[-1] > 1 else tuple(torch.topk(x, 1, -1)), distinct.double(), args=[min(2, shape[-1])])


    for op, f in {"Softmax": torch.softmax, "LogSoftmax": torch.log_softmax, "CumSum": torch.cumsum}.items():
        case(op, lambda x: f(x, -1), floats(0, 3), args=[-1])
        case(op, lambda x: f(x, 0), floats(0, 3), args=[0])
    case("Sort", lambda x: tuple(torch.sort(x, dim=0, stable=True)), floats(0, 3), args=[0])


def places():
    case("Take", lambda x, i: x.index_select(1, i), floats(3, 5), torch.zeros(0, dtype=torch.int64), args=[1])
    case("Gather", lambda x, i: x.gather(0, i), floats(3, 5), torch.zeros(0, 5, dtype=torch.int64), args=[0])
    case("Concat", lambda x, y: torch.cat((x, y), 0), floats(0, 5), floats(2, 5), args=[0])
    for shape, d in [((7,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), 1)]:
        at = torch.randint(0, shape[d], (2, 3))
        take = lambda x: x.index_select(d, at.flatten()).unflatten(d, (2, 3))
        case("Take", lambda x, _: take(x), floats(*shape), at, args=[d])
        case("Take", lambda x, _: take(x), integers(*shape), at, args=[d])
        many = list(shape)
        many[d] = 6
        at2 = torch.randint(0, shape[d], many)
        case("Gather", lambda x, i: x.gather(d, i), floats(*shape), at2, args=[d])
        case("Gather", lambda x, i: x.gather(d, i), integers(*shape), at2, args=[d])
        case("ScatterAdd", lambda x, i, y: x.scatter_add(d, i, y), floats(*shape), at2, floats(*many), args=[d])
        case("ScatterAdd", lambda x, i, y: x.scatter_add(d, i, y), integers(*shape), at2, integers(*many), args=[d])
        case("Concat", lambda x, y: torch.cat((x, y), d), floats(*shape), floats(*many), args=[d])
        case("Stack", lambda x, y: torch.stack((x, y), d), integers(*shape), integers(*shape), args=[d])
        case("Stack", lambda x, y: torch.stack((x, y), d), floats(*shape), floats(*shape), args=[d])


def views():
    case("Reshape", lambda x: x.reshape(6, 10), floats(3, 4, 5), args=[6, 10])
    case("Transpose", lambda x: x.transpose(0, -1), floats(3, 4, 5), args=[0, -1])
    case("Slice", lambda x: x[:, 1:3], floats(3, 4, 5), args=[1, 1, 3])
    case("Slice", lambda x: x[:, 2:2], integers(3, 4), args=[1, 2, 2])
    case("Expand", lambda x: x.expand(2, 3, 4), floats(3, 1), args=[2, 3, 4])
    case("Squeeze", lambda x: x.squeeze(1), floats(3, 1, 2), args=[1])
    case("Unsqueeze", lambda x: x.unsqueeze(-1), integers(3, 2), args=[-1])


def layers():
    for a, b in [((3, 5), (5, 4)), ((5,), (5, 4)), ((3, 5), (5,)), ((5,), (5,)), ((2, 3, 5), (5, 4)), ((2, 1, 3, 5), (4, 5, 2)), ((0, 5), (5, 4)), ((3, 0), (0, 2)), ((17, 33), (33, 65))]:
        case("MatMul", torch.matmul, floats(*a), floats(*b))
    case("Linear", F.linear, floats(2, 3, 5), floats(4, 5), floats(4))
    case("Linear", F.linear, floats(0, 5), floats(4, 5), floats(4))
    for rows in (5, 0):
        case("LayerNorm", lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b, 1e-5), floats(rows, 2, 33), floats(33), floats(33))
        case("RMSNorm", lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-5), floats(rows, 33), floats(33))
    case("SwiGLU", lambda x, y: F.silu(x) * y, floats(0, 5), floats(0, 5))
    case("CrossEntropy", lambda x, i: F.cross_entropy(x, i, ignore_index=-1), floats(5, 33), torch.tensor([1, 32, -1, 0, 7]), type="float")
    case("SwiGLU", lambda x, y: F.silu(x) * y, floats(3, 5), floats(3, 5))
    for causal in (0, 1):
        for heads, keys, dim in [(2, 2, 16), (4, 2, 5)]:
            heads_first = lambda x, n: x.transpose(1, 2).repeat_interleave(heads // n, 1)
            case("Attention", lambda q, k, v: F.scaled_dot_product_attention(q.transpose(1, 2), heads_first(k, keys), heads_first(v, keys), is_causal=bool(causal)).transpose(1, 2),
                 floats(2, 7, heads, dim), floats(2, 7, keys, dim), floats(2, 7, keys, dim), args=[causal])


def exact(f, dtype):
    """Returns f, computed in int64 and converted: uint8 keeps the low bits, and bool is whether the number is not 0."""
    return lambda *x: f(*(y.long() for y in x)).to(dtype)


def real(f):
    """Returns f of integers, computed in float64."""
    return lambda *x: f(*(y.double() for y in x))


def small_numbers(dtype, shape, low=0, high=256):
    return torch.rand(shape) < 0.5 if dtype == torch.bool else torch.randint(low, high, shape, dtype=torch.uint8)


def mixed():
    """Operands of two types."""
    kinds = [
        lambda shape: (small_numbers(torch.uint8, shape), floats(*shape)),
        lambda shape: (floats(*shape), small_numbers(torch.bool, shape)),
        lambda shape: (integers(*shape).long(), floats(*shape)),
        lambda shape: (small_numbers(torch.uint8, shape), integers(*shape)),
        lambda shape: (integers(*shape), small_numbers(torch.bool, shape)),
        lambda shape: (small_numbers(torch.bool, shape), small_numbers(torch.uint8, shape)),
        lambda shape: (small_numbers(torch.uint8, shape), integers(*shape).long()),
    ]
    for kind in kinds:
        for shape in ((3, 5), (0, 3)):
            x, y = kind(shape)
            to = torch.promote_types(x.dtype, y.dtype)
            types = ["int64"] if to == torch.int64 else []
            same = lambda f: lambda x, y: f(x.to(to), y.to(to))
            for op, f in {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Maximum": torch.maximum}.items():
                case(op, same(f), x, y, types=types)
            case("Less", same(torch.lt), x, y, type="bool", types=types)
            case("Where", lambda c, x, y: torch.where(c, x.to(to), y.to(to)), torch.rand(shape) < 0.5, x, y, types=types)
            case("Concat", lambda x, y: torch.cat((x.to(to), y.to(to)), 0), x, y, args=[0], types=types)


def specials():
    """NaN, infinities and zeros of both signs."""
    inf, nan = math.inf, math.nan
    x = torch.tensor([nan, inf, -inf, 0.0, -0.0, 1, -2], dtype=torch.float64)
    unary = {"Neg": torch.neg, "Abs": torch.abs, "Sign": lambda x: torch.from_numpy(np.sign(x.numpy())), "Square": torch.square, "ReLU": torch.relu,
             "Exp": torch.exp, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "Sqrt": torch.sqrt, "Log": torch.log}
    for op, f in unary.items():
        case(op, f, x, grads=False)
    for op, f in {"GELU": F.gelu, "SiLU": F.silu}.items():
        case(op, f, x[[0, 1, 3, 4, 5, 6]], grads=False)
    binary = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Maximum": torch.maximum, "Minimum": torch.minimum, "Pow": torch.pow}
    compare = {"Equal": torch.eq, "NotEqual": torch.ne, "Less": torch.lt, "LessEqual": torch.le, "Greater": torch.gt, "GreaterEqual": torch.ge}
    for op, f in {**binary, **compare}.items():
        case(op, f, x.reshape(7, 1), x, type="bool" if op in compare else "", grads=False)
    rows = torch.tensor([[1, nan, 3, nan], [inf, 2, -inf, 1], [-inf, -inf, 2, 1], [-inf, 1, -inf, -inf], [inf, 1, 1, inf]], dtype=torch.float64)
    for op, f in {"Max": torch.amax, "Min": torch.amin, "Sum": torch.sum, "Mean": torch.mean, "LogSumExp": torch.logsumexp}.items():
        case(op, lambda x: f(x, -1), rows, args=[-1], grads=False)
    for op, f in {"ArgMax": np.argmax, "ArgMin": np.argmin}.items():
        case(op, lambda x: torch.as_tensor(f(x.numpy(), -1)), rows, args=[-1], type="int64", grads=False)
    signed = torch.tensor([[-nan, 1, nan, -inf], [0.0, -0.0, 0.0, -0.0], [-0.0, 0.0, -1, nan], [inf, -nan, 2, inf]], dtype=torch.float64)
    for x in (rows, signed):
        case("Sort", lambda x: tuple(torch.sort(x, dim=-1, stable=True)), x, args=[-1], grads=False)
        case("Top", lambda x: torch.topk(x, 3, -1).values, x, args=[3], grads=False)
    case("CumSum", lambda x: x.cumsum(-1), rows, args=[-1], grads=False)
    finite = rows[[2, 3]]
    case("Softmax", lambda x: x.softmax(-1), finite, args=[-1], grads=False)
    case("LogSoftmax", lambda x: x.log_softmax(-1), finite, args=[-1], grads=False)


# The types of To, and the bits and the least and the greatest exponent of those of floats.
conversions_to = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
formats = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127), "float64": (53, -1022, 1023)}


def nearest(v, bits, least, greatest):
    """Returns the nearest number of a format, or the even one of two."""
    if isinstance(v, float) and (math.isnan(v) or math.isinf(v)) or v == 0:
        return float(v)
    v = Fraction(v)
    exponent = abs(v.numerator).bit_length() - v.denominator.bit_length()
    if Fraction(2) ** exponent > abs(v):
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - bits + 1)
    v = round(v / unit) * unit
    return math.copysign(math.inf, v) if abs(v) >= Fraction(2) ** (greatest + 1) else float(v)


def converted(x, to):
    """Returns x as To(to) documents it."""
    if to in formats:
        return torch.tensor([nearest(v, *formats[to]) for v in x.tolist()], dtype=torch.float64)
    if to == "bool":
        return x != 0
    low, high = {"uint8": (0, 255), "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}[to]
    if x.dtype == torch.float64:
        whole = [0 if math.isnan(v) else max(low, min(high, math.trunc(v) if math.isfinite(v) else int(math.copysign(2**70, v)))) for v in x.tolist()]
        return torch.tensor(whole, dtype=getattr(torch, to))
    return torch.from_numpy(x.numpy().astype(to))


def conversions():
    inf, nan = math.inf, math.nan
    short = [0.0, -0.0, 1, -1, 0.25, -0.75, 1.5, 2.5, -2.5, 127, 128, 254, 255, 256, 300, -3, 1008, 59392, -59392, inf, -inf, nan]
    singles = [1 + 2**-8 + 2**-20, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 1 + 2**-11 + 2**-23, 1 - 2**-24, 65519, 65520, -65536, 2.0**31, 2.0**31 - 128, -2.0**31, -2.0**31 - 256,
               2.0**63, -2.0**63, 2.0**100, 2.0**-24, 2.0**-25, 1.5 * 2**-25, 2.0**-126, 2.0**-133, 2.0**-149, 2.0**128 - 2**104, 256.5]
    doubles = [1 + 2**-24, 1 + 2**-24 + 2**-50, 1 + 2**-8 + 2**-50, 1 + 2**-11 + 2**-50, 65519.999999, 2.0**31 - 0.5, -2.0**31 - 0.5, 2.0**31 - 1, 2.0**53 + 2, 2.0**63 - 1024, 2.0**64,
               3.5e38, 1e300, 2.0**-150, 2.0**-150 + 2.0**-200, 2.0**-134, 2.0**-134 + 2.0**-180, 1e-320, 0.1, -0.9999999999]
    whole = [0, 1, -1, 127, 128, 255, 256, 257, 258, 259, -129, 2049, 2051, 33000, 65519, 65520, 70000, 2**24 + 1, 2**24 + 3, 2**31 - 1, -2**31, -2**31 + 1]
    long = [2**31, 2**32, 2**32 + 5, -2**33 - 1, 2**53 + 1, 2**53 + 3, 2**60 + 2**36, 2**60 + 2**36 + 1, 2**60 + 2**36 - 1, 2**60 + 2**52 + 1, -2**60 - 2**52 - 1, 2**63 - 1, -2**63, 2**62 + 2**54 + 1]
    for at, to in enumerate(conversions_to):
        f = lambda x: converted(x, to)
        for values, types in [(short, []), (singles, ["float32", "float64"]), (doubles, ["float64"])]:
            case("To", f, torch.tensor(values, dtype=torch.float64), args=[at], type=to, types=types, grads=False)
        case("To", f, torch.tensor(whole, dtype=torch.int32), args=[at], type=to)
        case("To", f, torch.tensor(long, dtype=torch.int64), args=[at], type=to)
        case("To", f, torch.tensor([0, 1, 2, 127, 128, 200, 255], dtype=torch.uint8), args=[at], type=to)
        case("To", f, torch.tensor([True, False, True]), args=[at], type=to)
        if to in formats:
            for shape in ((3, 5), (0, 3), ()):
                case("To", lambda x: x * 1, floats(*shape), args=[at], type=to)
        else:
            case("To", lambda x: f(x.flatten()).reshape(x.shape), floats(2, 1, 3), args=[at], type=to, grads=False)


def scalars():
    """Operations with a number, which is given in quarters."""
    for shape in ((), (0, 3), (7,), (2, 3, 1, 4)):
        for q in (12, -10, 0):
            v = q / 4
            case("Scale", lambda x: x * v, floats(*shape), args=[q])
            case("AddScalar", lambda x: x + v, floats(*shape), args=[q])
            case("PowScalar", lambda x: x**v, floats(*shape, low=0.5), args=[q])
            for op, f in {"Scale": lambda x: x * v, "AddScalar": lambda x: x + v, "PowScalar": lambda x: x**v}.items():
                low = 1 if q < 0 and op == "PowScalar" else 0
                for x in (integers(*shape, low=low or -9), small_numbers(torch.uint8, shape, low, 20), small_numbers(torch.bool, shape) | (low == 1)):
                    if q % 4 != 0:
                        case(op, real(f), x, args=[q], type="float32")
                        continue
                    v = q // 4
                    case(op, exact(f, torch.int64 if x.dtype == torch.bool else x.dtype), x, args=[q], type="int64" if x.dtype == torch.bool else "")
                    v = q / 4
        case("PowScalar", lambda x: x**3, floats(*shape), args=[12])
    for x in (floats(1), integers(1), small_numbers(torch.uint8, (1,)), small_numbers(torch.bool, (1,))):
        for shape in ((), (0, 3), (2, 5)):
            for q in (11, 0):
                full = torch.full(shape, q / 4, dtype=torch.float64)
                case("Full", lambda _: full.to(x.dtype), x, args=[q, *shape], grads=False)
            case("Zeros", lambda _: torch.zeros(shape, dtype=x.dtype), x, args=shape, grads=False)
    for n in (0, 1, 33):
        case("Arange", lambda _: torch.arange(n), integers(1), args=[n], type="int64")


def small():
    """Elementwise operations on uint8 and bool, and those on int32 that result in float32."""
    both = {"Neg": torch.neg, "Abs": torch.abs, "Sign": torch.sign, "Square": torch.square, "ReLU": torch.relu}
    functions = {"Exp": torch.exp, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "GELU": F.gelu, "SiLU": F.silu}
    arithmetic = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Maximum": torch.maximum, "Minimum": torch.minimum}
    compare = {"Equal": torch.eq, "NotEqual": torch.ne, "Less": torch.lt, "LessEqual": torch.le, "Greater": torch.gt, "GreaterEqual": torch.ge}
    for shape in ((), (0, 3), (33,), (2, 3, 1, 4)):
        for op, f in functions.items():
            case(op, real(f), integers(*shape), type="float32")
    for dtype in (torch.uint8, torch.bool):
        for shape in ((), (0, 3), (33,), (3, 5)):
            for op, f in both.items():
                case(op, exact(f, dtype), small_numbers(dtype, shape))
            for op, f in functions.items():
                case(op, real(f), small_numbers(dtype, shape, 0, 10), type="float32")
            for op, f in {"Sqrt": torch.sqrt, "Log": torch.log}.items():
                case(op, real(f), small_numbers(dtype, shape, 1) | (dtype == torch.bool), type="float32")
        for a, b in pairs:
            for op, f in arithmetic.items():
                case(op, exact(f, dtype), small_numbers(dtype, a), small_numbers(dtype, b))
            for op, f in compare.items():
                case(op, f, small_numbers(dtype, a, 100, 103), small_numbers(dtype, b, 100, 103), type="bool")
            case("Div", real(torch.div), small_numbers(dtype, a), small_numbers(dtype, b, 1) | (dtype == torch.bool), type="float32")
            case("Pow", exact(torch.pow, dtype), small_numbers(dtype, a), small_numbers(dtype, b, 0, 5))
            case("Where", lambda c, x, y: torch.where(c, x, y), torch.rand(b) < 0.5, small_numbers(dtype, a), small_numbers(dtype, b))
    case("Pow", lambda x, y: torch.tensor([0, 1, 1, -1, 1, 0], dtype=torch.int32), torch.tensor([2, 1, 1, -1, -1, -3], dtype=torch.int32),
         torch.tensor([-1, -1, -2, -3, -2, -1], dtype=torch.int32))


def more_reductions():
    draw = {"int32": lambda shape: integers(*shape), "uint8": lambda shape: small_numbers(torch.uint8, shape, 0, 30), "bool": lambda shape: small_numbers(torch.bool, shape)}
    several = [((7,), ()), ((3, 5), ()), ((3, 5), (0,)), ((3, 5), (-1,)), ((2, 3, 1, 4), (0, 2)), ((1, 33), (1,)), ((2, 300), (1,)), ((0, 3), (1,))]
    for shape, d in several:
        along = d or tuple(range(len(shape)))
        if 0 not in shape:
            case("Min", lambda x: x.amin(along), integers(*shape), args=d)
        for kind in ("uint8", "bool"):
            x = draw[kind](shape)
            case("Sum", lambda x: x.long().sum(along), x, args=d, type="int64")
            case("Mean", real(lambda x: x.mean(along)), x, args=d, type="float32")
            case("Max", lambda x: x.amax(along), x, args=d)
            case("Min", lambda x: x.amin(along), x, args=d)
        for kind in draw:
            case("LogSumExp", real(lambda x: x.logsumexp(along)), draw[kind](shape), args=d, type="float32")
    for d in ((), (0,), (1,)):
        along = d or (0, 1)
        case("Mean", lambda x: x.mean(along), floats(0, 3), args=d)
        case("Mean", real(lambda x: x.mean(along)), integers(0, 3), args=d, type="float32")
        for kind in ("uint8", "bool"):
            case("Sum", lambda x: x.long().sum(along), draw[kind]((0, 3)), args=d, type="int64")
    for op, f in {"Max": torch.amax, "Min": torch.amin, "LogSumExp": torch.logsumexp}.items():
        case(op, lambda x: f(x, 1), floats(0, 3), args=[1])
    for shape, d in [((7,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 1, 4), 1), ((2, 300), 1), ((0, 3), 1)]:
        for kind in draw:
            x = draw[kind](shape)
            case("ArgMax", lambda x: torch.as_tensor(np.argmax(x.numpy(), d)), x, args=[d], type="int64")
            case("ArgMin", lambda x: torch.as_tensor(np.argmin(x.numpy(), d)), x, args=[d], type="int64")
            case("Softmax", real(lambda x: x.softmax(d)), x, args=[d], type="float32")
            case("LogSoftmax", real(lambda x: x.log_softmax(d)), x, args=[d], type="float32")
            case("CumSum", lambda x: x.long().cumsum(d), x, args=[d], type="int64")
            case("Sort", lambda x: tuple(torch.sort(x, dim=d, stable=True)), x, args=[d])
            case("Top", lambda x: torch.topk(x.int(), 2, -1).values.to(x.dtype), x, args=[2]) if shape[-1] > 1 else None
        ties = floats(*shape).round()
        case("ArgMax", lambda x: torch.as_tensor(np.argmax(x.numpy(), d)), ties, args=[d], type="int64", grads=False)
        case("Sort", lambda x: tuple(torch.sort(x, dim=d, stable=True)), ties, args=[d])
    for shape in ((0, 3), (2, 0)):
        case("Top", lambda x: tuple(torch.topk(x, 0, -1)), floats(*shape), args=[0])
    distinct = torch.randperm(200)[:140].reshape(2, 70).to(torch.uint8)
    case("Top", lambda x: tuple(torch.topk(x, 5, -1)), distinct, args=[5])
    case("Top", lambda x: tuple(torch.topk(x, 5, -1)), distinct.int() - 100, args=[5])


def more_places():
    outside = torch.tensor([2, -1, 0, 3, 2])
    padded = lambda x: torch.cat((x, torch.zeros_like(x[:1])))
    within = torch.where((outside < 0) | (outside > 2), 3, outside)
    for x in (floats(3, 5), integers(3, 5), small_numbers(torch.uint8, (3, 5)), small_numbers(torch.bool, (3, 5))):
        case("Take", lambda x, i: padded(x).index_select(0, within), x, outside, args=[0])
        column = lambda i: i.unsqueeze(1).expand(5, 5)
        case("Gather", lambda x, i: padded(x).gather(0, column(within)), x, column(outside), args=[0])
        y = torch.flip(x, [0])[[0, 1, 2, 0, 1]]
        add = lambda x, i, y: padded(x).scatter_add(0, column(within), y)[:3]
        case("ScatterAdd", exact(add, x.dtype) if x.dtype != torch.float64 else add, x, column(outside), y, args=[0])
    for dtype in (torch.uint8, torch.bool):
        draw = lambda *shape: small_numbers(dtype, shape)
        for shape, d in [((7,), 0), ((3, 5), 0), ((3, 5), -1), ((2, 3, 4), 1), ((0, 3), 1)]:
            at = torch.randint(0, shape[d], (2, 3))
            case("Take", lambda x, _: x.index_select(d, at.flatten()).unflatten(d, (2, 3)), draw(*shape), at, args=[d])
            many = list(shape)
            many[d] = 6
            at2 = torch.randint(0, shape[d], many)
            case("Gather", lambda x, i: x.gather(d, i), draw(*shape), at2, args=[d])
            case("ScatterAdd", exact(lambda x, i, y: x.scatter_add(d, i, y), dtype), draw(*shape), at2, draw(*many), args=[d])
            case("Concat", lambda x, y: torch.cat((x, y), d), draw(*shape), draw(*many), args=[d])
            case("Stack", lambda x, y: torch.stack((x, y), d), draw(*shape), draw(*shape), args=[d])
    at = torch.tensor([[4, 0], [1, 1]])
    case("Take32", lambda x, i: x[:, i], floats(3, 5), at, args=[1])
    case("Gather32", lambda x, i: x.gather(1, i), floats(2, 5), at, args=[1])
    case("ScatterAdd32", lambda x, i, y: x.scatter_add(1, i, y), floats(2, 5), at, floats(2, 2), args=[1])
    case("ScatterAdd", lambda x, i, y: x.scatter_add(0, i, y), floats(3, 5), torch.zeros(0, 5, dtype=torch.int64), floats(0, 5), args=[0])


def more_views():
    """Views, which do not depend on the type of elements, of all types."""
    for draw in (floats, integers, lambda *shape: small_numbers(torch.uint8, shape), lambda *shape: small_numbers(torch.bool, shape)):
        case("Reshape", lambda x: x.reshape(6, 10), draw(3, 4, 5), args=[6, -1])
        case("Reshape", lambda x: x.reshape(0, 2), draw(3, 0), args=[0, 2])
        case("Reshape", lambda x: x.reshape(()), draw(1, 1))
        case("Transpose", lambda x: x.transpose(0, 1), draw(3, 4, 5), args=[0, 1])
        case("Transpose", lambda x: x.transpose(0, 1), draw(0, 4), args=[0, 1])
        case("T", lambda x: x.mT, draw(2, 3, 4))
        case("T", lambda x: x.mT, draw(0, 4))
        case("Slice", lambda x: x[..., 1:4], draw(3, 2, 5), args=[-1, 1, 4])
        case("Slice", lambda x: x[3:], draw(3, 2), args=[0, 3, 3])
        case("Expand", lambda x: x.expand(2, 3, 4), draw(3, 1), args=[2, 3, 4])
        case("Expand", lambda x: x.expand(0, 3), draw(1, 3), args=[0, 3])
        case("Squeeze", lambda x: x.squeeze(-2), draw(3, 1, 2), args=[-2])
        case("Unsqueeze", lambda x: x.unsqueeze(1), draw(3, 0), args=[1])
        case("Contiguous", lambda x: x.clone(), draw(3, 4, 5))
        case("Contiguous", lambda x: x.clone(), draw(0, 4))
        case("Contiguous", lambda x: x.clone(), draw())


def rotated(x, angles):
    """Returns Rotate of x, of shape [... tokens heads dim]."""
    n = angles.shape[-1] // 2
    cos, sin = angles.unsqueeze(-2).split(n, -1)
    a, b, rest = x[..., :n], x[..., n:2 * n], x[..., 2 * n:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1)


def more_layers():
    case("Linear", F.linear, floats(2, 3, 5), floats(4, 5))
    case("Linear", F.linear, floats(5), floats(4, 5), floats(4))
    case("Linear", F.linear, floats(9, 32), floats(24, 32), floats(24))
    for a, k, n in [((2, 3), 5, 4), ((0,), 5, 4), ((9,), 32, 24)]:
        case("AddLinear", lambda t, x, w, b: t + F.linear(x, w, b), floats(*a, n), floats(*a, k), floats(n, k), floats(n))
        case("AddLinear", lambda t, x, w: t + F.linear(x, w), floats(*a, n), floats(*a, k), floats(n, k))
        case("AddMatMul", lambda t, x, y: t + x @ y, floats(*a, n), floats(*a, k), floats(k, n))
    case("AddLinear", lambda t, x, w, b: t + F.linear(x, w, b), floats(4), floats(2, 3, 5), floats(4, 5), floats(4))
    case("AddMatMul", lambda t, x, y: t + x @ y, floats(3, 4), floats(3, 0), floats(0, 4))
    for shape, of in [((3, 2, 4), (3,)), ((2, 3, 1, 7), (3,)), ((2, 3, 1, 4), (2, 3)), ((0, 2, 4), (0,)), ((3, 2, 64), (3,))]:
        positions, frequencies = torch.randint(0, 9, of), floats(2, low=0.25)
        turn = frequencies if shape[-1] < 64 else floats(32, low=0.25)
        case("Angles", lambda p, f: (a := p.double().unsqueeze(-1) * f, torch.cat((a.cos(), a.sin()), -1))[1], positions, turn, types=["float32"], type="float32", grads=False)
        angles = integers(*of, 2 * len(turn)).long()
        case("Rotate", lambda x, a: rotated(x, a.double() / 8), floats(*shape), angles)
    labels = torch.tensor([1, 32, -1, 0, 7])
    rows = lambda x, i: F.cross_entropy(x.flatten(0, -2), i.flatten(), ignore_index=-1, reduction="none").reshape(i.shape)
    case("CrossEntropyRows", rows, floats(5, 33), labels, type="float")
    case("CrossEntropyRows", rows, floats(2, 3, 7), torch.randint(0, 7, (2, 3)), type="float")
    case("CrossEntropyRows", rows, floats(0, 3), torch.zeros(0, dtype=torch.int64), type="float")
    case("CrossEntropy", lambda x, i: F.cross_entropy(x.flatten(0, 1), i.flatten()), floats(2, 3, 7), torch.randint(0, 7, (2, 3)), type="float")
    for tokens in (5, 0):
        for causal in (0, 1):
            for heads, keys, dim in [(2, 2, 16), (4, 2, 5)]:
                case("AttentionTogether", lambda t: attention(*t.unflatten(-1, (-1, dim)).split((heads, keys, keys), -2), causal).flatten(-2),
                     floats(2, tokens, (heads + 2 * keys) * dim), args=[heads, keys, dim, causal])
    for dim in (16, 5):
        packed = lambda q, k, v, _: torch.cat((attention(q[:3], k[:3], v[:3], 1), attention(q[3:8], k[3:8], v[3:8], 1)), -3)
        case("AttentionPacked", packed, floats(8, 2, dim), floats(8, 1, dim), floats(8, 1, dim), torch.tensor([0, 3, 3, 8]), args=[1])


def attention(q, k, v, causal):
    first = lambda x: x.transpose(-3, -2).repeat_interleave(q.shape[-2] // x.shape[-2], -3)
    return F.scaled_dot_product_attention(first(q), first(k), first(v), is_causal=bool(causal)).transpose(-3, -2)


def images():
    active = [lambda x: x, F.relu, F.relu6, F.silu]
    first, last = (lambda x: x.permute(0, 3, 1, 2)), (lambda x: x.permute(0, 2, 3, 1))
    for n, (shape, filters, k, stride, before, after) in enumerate([
        ((2, 6, 5, 3), 4, 3, 1, 1, 1), ((1, 7, 5, 3), 5, 3, 2, 0, 1), ((2, 3, 4, 5), 7, 1, 1, 0, 0), ((1, 5, 4, 8), 8, 1, 2, 0, 0), ((1, 6, 7, 3), 2, 2, 2, 0, 0),
        ((1, 5, 6, 2), 3, 5, 1, 2, 2), ((1, 5, 6, 16), 24, 3, 1, 1, 1), ((1, 1, 1, 1), 1, 1, 1, 0, 0), ((0, 5, 5, 3), 4, 3, 1, 1, 1), ((1, 4, 5, 3), 4, 3, 3, 2, 0),
        ((1, 4, 5, 32), 32, 1, 1, 0, 0), ((1, 3, 3, 1), 2, 3, 1, 0, 0)]):
        for depthwise in (0, 1):
            for bias, residual in [((0, 0), (1, 1))[(n + depthwise) % 2]] if n else ((0, 0), (0, 1), (1, 0), (1, 1)):
                c, activation = shape[-1], (n + depthwise + bias) % 4

                def convolved(x, w, *more):
                    w = w.permute(2, 0, 1).unsqueeze(1) if depthwise else first(w)
                    y = last(F.conv2d(F.pad(first(x), (before, after) * 2), w, stride=stride, groups=c if depthwise else 1))
                    for z in more:
                        y = y + z
                    return active[activation](y)

                operands = [floats(*shape), floats(*((k, k, c) if depthwise else (filters, k, k, c)))]
                y = convolved(*operands)
                operands += [floats(y.shape[-1])] * bias + [floats(*y.shape)] * residual
                case("Conv2d", convolved, *operands, args=[stride, before, after, depthwise, activation, bias, residual], types=halves, grads=False)
    case("Conv2d", lambda x, w: torch.zeros(2, 0, 0, 4, dtype=torch.float64), floats(2, 2, 2, 3), floats(4, 3, 3, 3), args=[1, 0, 0, 0, 0, 0, 0], types=halves, grads=False)
    for shape, k, stride, before, after in [((2, 7, 5, 3), 2, 2, 0, 0), ((1, 7, 5, 3), 3, 2, 1, 1), ((1, 5, 6, 4), 3, 1, 1, 0), ((1, 5, 6, 1), 2, 3, 0, 1), ((1, 3, 2, 5), 1, 1, 0, 0),
                                            ((1, 7, 8, 16), 3, 1, 1, 1), ((0, 5, 5, 3), 3, 1, 1, 1), ((1, 4, 5, 3), 3, 3, 2, 0), ((2, 3, 3, 7), 3, 1, 0, 0)]:
        pad = lambda x, v: F.pad(first(x), (before, after) * 2, value=v)
        mean = lambda x: last(F.avg_pool2d(pad(x, 0), k, stride) / F.avg_pool2d(pad(torch.ones_like(x), 0), k, stride))
        case("MaxPool2d", lambda x: last(F.max_pool2d(pad(x, -math.inf), k, stride)), floats(*shape), args=[k, stride, before, after], types=halves, grads=False)
        case("MeanPool2d", mean, floats(*shape), args=[k, stride, before, after], types=halves, grads=False)
    nothing = lambda x: torch.zeros(1, 0, 0, 3, dtype=torch.float64)
    case("MaxPool2d", nothing, floats(1, 2, 2, 3), args=[3, 1, 0, 0], types=halves, grads=False)


for part in (elementwise, binary, reductions, places, views, layers, mixed, specials, conversions, scalars, small, more_reductions, more_places, more_views, more_layers, images):
    part()
arrays = {k: np.concatenate(v) for k, v in arrays.items()}
arrays["cases"] = np.frombuffer(json.dumps(cases).encode(), np.uint8)
np.savez_compressed(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.npz"), **arrays)
print(len(cases), "cases")
