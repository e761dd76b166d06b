"""PyTorch, which uses CUB for scans and sorts. See peer.py."""
import torch
import torch.nn.functional as F

from peer import Clock

assert torch.cuda.is_available(), "PyTorch finds no GPU"

CLOCK = Clock(lambda: torch.cuda.Event(enable_timing=True), lambda e: e.record(),
              lambda s, e: s.elapsed_time(e), torch.cuda.synchronize, torch.cuda.empty_cache)


def elementwise(inputs, dtype, run, want):
    """Inputs are positive, so that the tolerance is relative."""
    def prepare(n):
        x = [torch.rand(n, device="cuda", dtype=dtype) for _ in range(inputs)]
        out = torch.full((n,), float("nan"), device="cuda", dtype=dtype)
        return lambda: run(*x, out), lambda: torch.allclose(out, want(*x))
    return prepare


def dot(dtype):
    def prepare(n):
        a, b = (torch.rand(n, device="cuda", dtype=dtype) for _ in range(2))
        out = torch.empty((), device="cuda", dtype=dtype)

        def right():
            want = sum((x.double() * y.double()).sum() for x, y in zip(a.chunk(8), b.chunk(8)))
            return torch.allclose(out.double(), want, rtol=1e-4)
        return lambda: torch.dot(a, b, out=out), right
    return prepare


def stream(dtype, suffix):
    """BabelStream's five."""
    return {
        "copy" + suffix: elementwise(1, dtype, lambda a, c: c.copy_(a), lambda a: a),
        "mul" + suffix: elementwise(1, dtype, lambda c, b: torch.mul(c, 0.4, out=b), lambda c: 0.4 * c),
        "add" + suffix: elementwise(2, dtype, lambda a, b, c: torch.add(a, b, out=c), lambda a, b: a + b),
        "triad" + suffix: elementwise(2, dtype, lambda b, c, a: torch.add(b, c, alpha=0.4, out=a), lambda b, c: b + 0.4 * c),
        "dot" + suffix: dot(dtype),
    }


def total(n):
    x, out = torch.randint(-8, 9, (n,), device="cuda").float(), torch.empty((), device="cuda")
    return lambda: torch.sum(x, dim=0, out=out), lambda: out.item() == x.double().sum().item()


def scan(n):
    x = torch.randint(-100, 101, (n,), device="cuda", dtype=torch.int32)
    out = torch.empty_like(x)
    return (lambda: torch.cumsum(x, 0, dtype=torch.int32, out=out),
            lambda: bool((torch.diff(out) == x[1:]).all()) and out[0].item() == x[0].item())


def sort(n):
    """Sorts with indices, as torch.sort does."""
    keys = torch.randint(-2**31, 2**31, (n,), device="cuda", dtype=torch.int64).to(torch.int32)
    out, at = torch.empty_like(keys), torch.empty(n, device="cuda", dtype=torch.int64)
    return lambda: torch.sort(keys, out=(out, at)), lambda: bool((out[1:] >= out[:-1]).all())


def transpose(n):
    x, y = torch.rand(n, n, device="cuda"), torch.full((n, n), float("nan"), device="cuda")
    return lambda: y.copy_(x.t()), lambda: torch.equal(y, x.t())


def softmax(n):
    x, y = 16 * torch.rand(n, 16384, device="cuda") - 8, torch.full((n, 16384), float("nan"), device="cuda")
    return (lambda: torch.softmax(x, -1, out=y),
            lambda: torch.allclose(y[:64].double(), torch.softmax(x[:64].double(), -1), rtol=1e-4))


def norm(n):
    x, scale, shift = torch.rand(n, 4096, device="cuda"), torch.rand(4096, device="cuda"), torch.rand(4096, device="cuda")
    kept = {}

    def run():
        kept["y"] = F.layer_norm(x, (4096,), scale, shift)

    def right():
        want = F.layer_norm(x[:64].double(), (4096,), scale.double(), shift.double())
        return torch.allclose(kept["y"][:64].double(), want, rtol=1e-4, atol=1e-5)
    return run, right


def start():
    torch.set_grad_enabled(False)
    cases = stream(torch.float32, "32") | stream(torch.float64, "64") | {
        "sum": total, "scan": scan, "prim-scan": scan, "prim-sort": sort,
        "transpose": transpose, "prim-transpose": transpose, "softmax": softmax, "layer-norm": norm,
    }
    return "PyTorch " + torch.__version__, CLOCK, cases
