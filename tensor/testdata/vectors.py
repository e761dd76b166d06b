"""Writes vectors.npz: operands, results and derivatives of operations, computed in float64 by PyTorch.

    python3 vectors.py

Floats are rounded to 8 bits, so that every float type has them. TestVectors reads the file. The array cases is JSON in UTF-8. Each case has
the places of its operands (float64 for floats of any type, int32 for integers of any type, int64 for indices, bool) and of its results, and
for floats, of the derivatives of the sum of the first result times weights. Elements of one type are in one array."""
import json
import os

import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(1)
arrays, cases = {"float64": [], "int32": [], "int64": [], "bool": []}, []


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


def case(op, f, *operands, args=(), type=""):
    """Adds a case. The type is that of the first result, or "" for that of the operands."""
    operands = [x.clone().requires_grad_(x.dtype == torch.float64) for x in operands]
    results = f(*operands)
    results = list(results) if isinstance(results, tuple) else [results]
    c = {"op": op, "args": list(args), "type": type, "in": [save(x) for x in operands], "out": [save(x) for x in results]}
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


for part in (elementwise, binary, reductions, places, views, layers):
    part()
arrays = {k: np.concatenate(v) for k, v in arrays.items()}
arrays["cases"] = np.frombuffer(json.dumps(cases).encode(), np.uint8)
np.savez_compressed(os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.npz"), **arrays)
print(len(cases), "cases")
