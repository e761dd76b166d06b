"""PyTorch, and through it cuBLAS, and CUB for scans and sorts. See peers.py."""
import torch
import torch.nn.functional as F

from peers import CASES, Peer


def size(case):
    return CASES[case][1]


def stream(peer, dtype, suffix):
    """BabelStream's five; inputs are positive, so that a tolerance is a relative one."""
    n = size("copy" + suffix)

    def arrays(inputs):
        return [torch.rand(n, device="cuda", dtype=dtype) for _ in range(inputs)] + [
            torch.full((n,), float("nan"), device="cuda", dtype=dtype)]

    def elementwise(case, inputs, run, want):
        def prepare():
            *x, out = arrays(inputs)
            return lambda: run(*x, out), lambda: torch.allclose(out, want(*x))
        peer.measure(case + suffix, "torch", prepare)

    elementwise("copy", 1, lambda a, c: c.copy_(a), lambda a: a)
    elementwise("mul", 1, lambda c, b: torch.mul(c, 0.4, out=b), lambda c: 0.4 * c)
    elementwise("add", 2, lambda a, b, c: torch.add(a, b, out=c), lambda a, b: a + b)
    elementwise("triad", 2, lambda b, c, a: torch.add(b, c, alpha=0.4, out=a), lambda b, c: b + 0.4 * c)

    def dot():
        a, b, _ = arrays(2)
        out = torch.empty((), device="cuda", dtype=dtype)
        return lambda: torch.dot(a, b, out=out), lambda: torch.allclose(out.double(), (a.double() * b.double()).sum(), rtol=1e-4)
    peer.measure("dot" + suffix, "torch", dot)


def sums(peer):
    def total():
        x, out = torch.randint(-8, 9, (size("sum"),), device="cuda").float(), torch.empty((), device="cuda")
        return lambda: torch.sum(x, dim=0, out=out), lambda: out.item() == x.double().sum().item()
    peer.measure("sum", "torch", total)

    def scan():
        x = torch.randint(-100, 101, (size("scan"),), device="cuda", dtype=torch.int32)
        out = torch.empty_like(x)
        return (lambda: torch.cumsum(x, 0, dtype=torch.int32, out=out),
                lambda: bool((torch.diff(out) == x[1:]).all()) and out[0] == x[0])
    peer.measure("scan", "torch (CUB)", scan)

    def sort():
        keys = torch.randint(-2**31, 2**31, (size("radix-sort"),), device="cuda", dtype=torch.int64).to(torch.int32)
        state = {}

        def run():
            state["out"] = torch.sort(keys)[0]
        return run, lambda: bool((torch.diff(state["out"].long()) >= 0).all())
    peer.measure("radix-sort", "torch, keys and indices", sort)


def rows(peer):
    n = size("softmax")

    def transpose():
        x, y = torch.rand(n, n, device="cuda"), torch.empty(n, n, device="cuda")
        return lambda: y.copy_(x.t()), lambda: torch.equal(y, x.t())
    peer.measure("transpose", "torch", transpose)

    def softmax():
        x = 16 * torch.rand(n, n, device="cuda") - 8
        state = {}

        def run():
            state["y"] = torch.softmax(x, -1)
        return run, lambda: torch.allclose(state["y"][:64].double(), torch.softmax(x[:64].double(), -1), rtol=1e-4)
    peer.measure("softmax", "torch", softmax)

    def norm():
        x, scale, shift = torch.rand(65536, 4096, device="cuda"), torch.rand(4096, device="cuda"), torch.rand(4096, device="cuda")
        state = {}

        def run():
            state["y"] = F.layer_norm(x, (4096,), scale, shift)

        def right():
            want = F.layer_norm(x[:64].double(), (4096,), scale.double(), shift.double())
            return torch.allclose(state["y"][:64].double(), want, rtol=1e-4, atol=1e-5)
        return run, right
    peer.measure("layer-norm", "torch", norm)


def products(peer):
    def product(case, dtype, tf32):
        def prepare():
            torch.backends.cuda.matmul.allow_tf32 = tf32
            n = size(case)
            a = (2 * torch.rand(n, n, device="cuda") - 1).to(dtype)
            b = (2 * torch.rand(n, n, device="cuda") - 1).to(dtype)
            c = torch.empty(n, n, device="cuda", dtype=dtype)
            scale = n**0.5 * (1e-5 if dtype == torch.float32 and not tf32 else 1e-2)

            def right():
                want = a[:64].double() @ b.double()
                return bool(((c[:64].double() - want).abs() < scale).all())
            return lambda: torch.mm(a, b, out=c), right
        peer.measure(case, "cuBLAS", prepare)

    product("sgemm32", torch.float32, False)
    product("sgemm64", torch.float32, False)
    product("matmul-tf32", torch.float32, True)
    product("matmul-bf16", torch.bfloat16, False)


def measure():
    peer = Peer(lambda: torch.cuda.Event(enable_timing=True), lambda e: e.record(),
                lambda s, e: s.elapsed_time(e), torch.cuda.synchronize)
    for part in (lambda p: stream(p, torch.float32, "32"), lambda p: stream(p, torch.float64, "64"), sums, rows, products):
        part(peer)
        torch.cuda.empty_cache()
    return peer
