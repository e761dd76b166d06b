package machine

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

// one runs a kernel of testdata whose only parameter is the address of n words, in one block,
// in the fixed order and in random ones, and checks the words each time.
func one(t *testing.T, name string, threads, n int, check func(t *testing.T, out []uint32)) {
	t.Helper()
	for seed := range uint64(6) {
		b := load(t, name)
		out := b.words(make([]uint32, n)...)
		b.mustRun(Launch{Block: [3]int{threads, 1, 1}, Params: params(out), Seed: seed})
		check(t, b.at(out, n))
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

func want(t *testing.T, what string, got, want uint32) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %#x (%d), want %#x (%d)", what, got, got, want, want)
	}
}

func TestWarp(t *testing.T) {
	one(t, "warp", 32, 14*32, func(t *testing.T, out []uint32) {
		for l := range uint32(32) {
			lane := func(test int) uint32 { return out[test*32+int(l)] }
			up, down := uint32(0), l+102
			if l >= 3 {
				up = l + 97
			}
			if l > 29 {
				down = l + 100
			}
			want(t, "shfl.idx", lane(0), 105)
			want(t, "shfl.up", lane(1), up)
			want(t, "shfl.down", lane(2), down)
			want(t, "shfl.bfly", lane(3), l^1+100)
			want(t, "shfl.idx in segments", lane(4), l&24+2+100)
			want(t, "ballot", lane(5), 0x22222222)
			want(t, "any, all, uni", lane(6), 1)
			want(t, "match.any", lane(7), 0x11111111<<(l&3))
			want(t, "match.all", lane(8), 0)
			want(t, "redux.add", lane(9), 31*16)
			want(t, "redux.min", lane(10), 100)
			want(t, "halves", lane(11), 100+31*(l/16))
			want(t, "two places", lane(12), l^16+100)
			want(t, "activemask", lane(13), allLanes)
		}
	})
}

func TestCollatz(t *testing.T) {
	one(t, "collatz", 100, 100, func(t *testing.T, out []uint32) {
		for i, got := range out {
			steps := uint32(0)
			for n := i + 1; n != 1; steps++ {
				if n%2 == 0 {
					n /= 2
				} else {
					n = 3*n + 1
				}
			}
			want(t, "steps", got, steps)
		}
	})
}

func TestCalls(t *testing.T) {
	one(t, "calls", 40, 40, func(t *testing.T, out []uint32) {
		for i := range uint32(40) {
			want(t, "result", out[i], i*(i+1)/2+1000*(2*i+7))
		}
	})
}

func TestTable(t *testing.T) {
	one(t, "table", 33, 33, func(t *testing.T, out []uint32) {
		for i, got := range out {
			want(t, "target", got, []uint32{10, 20, 30, 10}[i%4])
		}
	})
}

func TestBarriers(t *testing.T) {
	one(t, "barriers", 128, 4*128, func(t *testing.T, out []uint32) {
		for i := range uint32(128) {
			o := out[4*i:]
			want(t, "popc", o[0], 43)
			want(t, "or, and", o[1], 1)
			want(t, "named barrier", o[2], i/64*64+40)
			if i < 32 {
				want(t, "arrivals", o[3], 96)
			}
		}
	})
}

func TestSpaces(t *testing.T) {
	b := load(t, "spaces")
	out := b.words(make([]uint32, 20)...)
	p := append(params(out), params(1, 22, 3)...)
	b.mustRun(Launch{Block: [3]int{1, 1, 1}, Params: p, Shared: 8})
	for i, w := range []uint32{5, 40, 7, 77, 0xffff8001, 0x8001, 99, 5, 0, 22, 0x33441122, 5, 0x33441122, 5, 0, 0, 99, 100, 40, 0} {
		if i != 14 && i != 15 {
			want(t, "word", b.at(out, 20)[i], w)
		}
	}
	// Each launch finds what the last one left in global variables.
	b.mustRun(Launch{Block: [3]int{1, 1, 1}, Params: p, Shared: 8})
	want(t, "counter", b.at(out, 20)[18], 1)
}

func TestAtomics(t *testing.T) {
	for seed := range uint64(4) {
		b := load(t, "atomics")
		out := b.words(0, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		b.mustRun(Launch{Grid: [3]int{4, 1, 1}, Block: [3]int{64, 1, 1}, Params: params(out), Seed: seed})
		got := b.at(out, 12)
		sum := uint64(got[8]) | uint64(got[9])<<32
		for i, w := range []uint32{255 * 128, 0, 255, 256 % 10, math.Float32bits(128), 0, 768, 0} {
			want(t, "word", got[i], w)
		}
		if f := math.Float64frombits(sum); f != 384 {
			t.Errorf("sum of doubles is %v", f)
		}
		want(t, "lock", got[10], 0)
		want(t, "counted under the lock", got[11], 256)
	}
}

// TestSplitWarps demands that random orders show what threads of a warp do that rely on going
// together, and find nothing where they are synchronised.
func TestSplitWarps(t *testing.T) {
	wrong := func(sync string) (n int) {
		for seed := range uint64(30) {
			b := compile(t, entry(`mov.u32 %r2, tile;
mad.lo.u32 %r3, %r1, 4, %r2;
st.shared.u32 [%r3], %r1;
`+sync+`
xor.b32 %r4, %r1, 1;
mad.lo.u32 %r3, %r4, 4, %r2;
ld.shared.u32 %r5, [%r3];
st.global.u32 [%rd2], %r5;`), "k")
			out := b.words(make([]uint32, 16)...)
			s, err := b.run(Launch{Block: [3]int{16, 1, 1}, Params: params(out), Seed: seed})
			if err != nil || (len(s.Findings) == 0) != (sync != "") {
				t.Errorf("%q, seed %d: %v, findings %v", sync, seed, err, s.Findings)
			}
			for i, v := range b.at(out, 16) {
				if v != uint32(i)^1 {
					n++
				}
			}
		}
		return n
	}
	if n := wrong("bar.warp.sync 0xffff;"); n != 0 {
		t.Errorf("%d wrong values with a barrier", n)
	}
	if n := wrong(""); n == 0 {
		t.Error("no wrong value without a barrier")
	}
}

func TestModuleAddress(t *testing.T) {
	text, err := os.ReadFile("testdata/spaces.ptx")
	if err != nil {
		t.Fatal(err)
	}
	mem := NewMemory()
	m, err := Load(string(text), mem)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := m.Address("counter")
	p, err := mem.Bytes(at, 4)
	if !ok || err != nil || p[0] != 40 {
		t.Errorf("counter at %#x, %v, %v, %v", at, ok, p, err)
	}
	k, err := m.Kernel("spaces")
	if err != nil || k.Name() != "spaces" || k.ParamBytes() != 20 || k.Shared() != 16 {
		t.Errorf("kernel %+v, %v", k, err)
	}
}

// TestAssembles asks NVIDIA's assembler whether the tests' PTX is PTX.
func TestAssembles(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not in PATH")
	}
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	path := filepath.Join(t.TempDir(), "snippets.ptx")
	if err := os.WriteFile(path, []byte(snippetModule()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, path) {
		if out, err := exec.Command(ptxas, "-arch=sm_90", "-o", os.DevNull, f).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", f, err, out)
		}
	}
}

// TestFastPaths compares the instructions that are executed in a faster way with what package
// scalar computes for each thread, on every pair of values where things go wrong.
func TestFastPaths(t *testing.T) {
	values := []uint64{0, 1, 3, 0x7fffffff, 0x80000000, 0xffffffff, 0x3fc00000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
		0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x3ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000123}
	m, err := Load(snippetModule(), NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	for i := range snippets {
		k, err := m.Kernel(snippetName(i))
		if err != nil {
			t.Fatal(err)
		}
		l := &launch{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{warpSize, 1, 1}}, prog: k.prog, mem: k.mem}
		l.borrow()
		w := newBlock(l).warps[0]
		for _, in := range k.prog.code {
			if in.f2 == nil && in.f3 == nil && in.rel == nil || in.kind != plain {
				continue
			}
			for n := range values {
				for i, at := range [...]int32{in.a, in.b, in.c} {
					if slices.ContainsFunc(k.prog.consts, func(f fill) bool { return f.row == at }) {
						continue
					}
					for l := range warpSize {
						w.row(at)[l] = values[(l+i*n+i*l/2)%len(values)] & k.prog.widths[at/warpSize]
					}
				}
				compareFast(t, w, in)
			}
		}
	}
}

func compareFast(t *testing.T, w *warp, in instr) {
	t.Helper()
	a, b, c, before, p := *w.row(in.a), *w.row(in.b), *w.row(in.c), *w.row(in.d), uint32(0)
	const mask = 0xfffffeff
	if in.all != nil {
		p = in.all(&a, &b)
	} else {
		in.exec(w, &in, mask)
	}
	d := *w.row(in.d)
	if d[8] != before[8] {
		t.Errorf("an instruction of other threads changes %#x to %#x", before[8], d[8])
	}
	for l := range lanes(mask) {
		switch {
		case in.all != nil:
			if got := p>>l&1 == 1; got != in.rel(a[l], b[l]) {
				t.Errorf("comparison of %#x and %#x is %v", a[l], b[l], got)
			}
		case in.f2 != nil && d[l] != in.f2(a[l], b[l]):
			t.Errorf("%#x and %#x give %#x, want %#x", a[l], b[l], d[l], in.f2(a[l], b[l]))
		case in.f3 != nil && d[l] != in.f3(a[l], b[l], c[l]):
			t.Errorf("%#x, %#x and %#x give %#x, want %#x", a[l], b[l], c[l], d[l], in.f3(a[l], b[l], c[l]))
		}
	}
}

// TestFastConvert compares conversions between integers with what package scalar computes.
func TestFastConvert(t *testing.T) {
	types := []ptx.Type{ptx.U8, ptx.S8, ptx.U16, ptx.S16, ptx.U32, ptx.S32, ptx.U64, ptx.S64}
	w := &warp{regs: make([]uint64, 2*warpSize)}
	for l := range warpSize {
		w.regs[l] = uint64(l) << 59 >> (l * 2) * 0x8180838187858381
	}
	for _, to := range types {
		for _, from := range types {
			f, ok := scalar.Convert(to, from, scalar.Conversion{})
			exec, bits := fastConvert(to, from, false)
			if !ok || exec == nil {
				t.Fatalf("no conversion from %v to %v", from, to)
			}
			for register := to.Size(); register <= 8; register *= 2 { // may be wider than the type
				in := instr{f1: f, d: warpSize, imm: bits & mask(register)}
				exec(w, &in, allLanes)
				for l, x := range w.row(0) {
					if got, want := w.row(warpSize)[l], f(x)&mask(register); got != want {
						t.Errorf("%#x of %v as %v in %d bytes is %#x, want %#x", x, from, to, register, got, want)
					}
				}
			}
		}
	}
	if exec, _ := fastConvert(ptx.U8, ptx.S32, true); exec != nil {
		t.Error("a conversion that clamps is executed as one that does not")
	}
}

// TestFusedSingles compares fused multiplications and additions of singles with package scalar. Each product is a little less than half
// a unit in the last place of the third operand, by so little that the sum in double precision is in the middle between two singles,
// normal or subnormal ones.
func TestFusedSingles(t *testing.T) {
	f, _ := scalar.FloatFma(ptx.F32, scalar.Rounding{})
	w := &warp{regs: make([]uint64, 4*warpSize)}
	in := instr{exec: fmaSingles, f3: f, a: 0, b: warpSize, c: 2 * warpSize, d: 3 * warpSize}
	r := rand.New(rand.NewPCG(1, 2))
	bits := func(f float64) uint64 { return uint64(math.Float32bits(float32(f))) }
	twice := 0
	for range 300 {
		for l := range warpSize {
			exponent, off := r.IntN(200)-100, float64(r.IntN(5))*0x1p-23
			z := math.Ldexp(float64(1<<23+r.IntN(1<<23)), exponent+1)
			if r.IntN(4) == 0 {
				exponent, z = -150, math.Ldexp(float64(r.IntN(1<<23)), -149)
			}
			x, y := math.Ldexp(1+off, exponent/2), math.Ldexp(1-off, exponent-exponent/2)
			if r.IntN(2) == 0 {
				x, z = -x, -z
			}
			w.row(in.a)[l], w.row(in.b)[l], w.row(in.c)[l] = bits(x), bits(y), bits(z)
		}
		in.exec(w, &in, allLanes)
		for l, got := range w.row(in.d) {
			a, b, c := w.row(in.a)[l], w.row(in.b)[l], w.row(in.c)[l]
			want := f(a, b, c)
			if got != want {
				t.Fatalf("%#x * %#x + %#x is %#x, want %#x", a, b, c, got, want)
			}
			if bits(float64(single(a))*float64(single(b))+float64(single(c))) != want {
				twice++
			}
		}
	}
	if twice < 1000 {
		t.Errorf("only %d results are different if the sum is rounded twice", twice)
	}
}

// TestAsyncCopies sees all ones where a copy has been started and not waited for.
func TestAsyncCopies(t *testing.T) {
	const threads = 40
	b := load(t, "async")
	words := make([]uint32, 16*threads)
	for i := range words {
		words[i] = uint32(i)
	}
	at := b.words(words...)
	s, err := b.run(Launch{Block: [3]int{threads, 1, 1}, Params: params(at)})
	if err != nil || len(s.Findings) != 3 {
		t.Errorf("%v, findings %v, want three reads of what is not there yet", err, s.Findings)
	}
	out := b.at(at, len(words))
	for i := range uint32(threads) {
		first := 16 * i
		want(t, "before a wait", out[first+8], math.MaxUint32)
		want(t, "the first group after its wait", out[first+10], first)
		want(t, "the second group before its wait", out[first+11], math.MaxUint32)
		want(t, "the second group after its wait", out[first+12], first+3)
		want(t, "what is in no group", out[first+13], math.MaxUint32)
		want(t, "what is in no group, after a wait for all", out[first+14], first+7)
	}
}
