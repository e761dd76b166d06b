package matvec

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// forms are forms that differ in the warps of a block, and in the pairs of rows of a warp.
var forms = []Form{{Threads: 32}, {Threads: 96}, {Threads: 64, Blocks: 1}, {Threads: 64, Blocks: 2}, {}}

// rig is a device and random operands of a product.
type rig struct {
	*testing.T
	s    *device.Stream
	m    Matrix
	w    []dtype.BF16
	x    []float32
	gain []dtype.BF16
}

// everywhere calls f with products of some shapes, in all forms on all executions. The numbers of rows are multiples of rows.
func everywhere(t *testing.T, rows int, f func(r rig)) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, shape := range []Shape{{1, 8}, {3, 264}, {5, 2056}} {
				for _, form := range forms {
					full := Shape{shape.Rows * rows, shape.Columns}
					if form != (Form{}) && full.Rows%pair != 0 {
						full.Rows *= pair
					}
					t.Run(fmt.Sprintf("%v/%v", full, form), func(t *testing.T) { f(newRig(t, s, full, form)) })
				}
			}
		})
	}
}

func newRig(t *testing.T, s *device.Stream, shape Shape, form Form) rig {
	random := rand.New(rand.NewPCG(uint64(shape.Rows), uint64(shape.Columns)))
	w, x := operands(shape)
	r := rig{T: t, s: s, w: w, x: x, gain: make([]dtype.BF16, shape.Columns)}
	for i := range r.gain {
		r.gain[i] = dtype.BF16From64(1 + random.NormFloat64()/4)
	}
	r.m = Matrix{Shape: shape, Form: form, W: kerneltest.Upload(t, s, w)}
	if form == (Form{}) {
		r.m.Scratch = kerneltest.Upload(t, s, slices.Repeat([]float32{float32(math.NaN())}, shape.Workspace()))
	}
	return r
}

// norm returns the normalized vector on the device.
func (r rig) norm() Norm {
	return Norm{X: kerneltest.Upload(r.T, r.s, r.x), Gain: kerneltest.Upload(r.T, r.s, r.gain), Epsilon: 1e-5}
}

// want returns the products of the normalized vector.
func (r rig) want() []float64 { return product(r.m.Shape, r.w, normed(r.x, r.gain, 1e-5)) }

// poisoned returns n NaNs on the device.
func poisoned(r rig, n int) device.Slice[dtype.BF16] {
	host := make([]dtype.BF16, n)
	for i := range host {
		host[i] = 0x7fff
	}
	return kerneltest.Upload(r.T, r.s, host)
}

// near compares results with those in float64. The error is that of a rounding to bfloat16, or of a product.
func near[T interface{ Float64() float64 }](r rig, what string, got []T, want []float64) {
	r.Helper()
	scale := math.Sqrt(float64(r.m.Columns))
	for i, w := range want {
		if g := got[i].Float64(); !(math.Abs(g-w) <= math.Abs(w)/200+scale/1e4) {
			r.Fatalf("%s %d is %v, want %v", what, i, g, w)
		}
	}
}

// single is a float32 with a method.
type single float32

func (x single) Float64() float64 { return float64(x) }

func singles(x []float32) (all []single) {
	for _, v := range x {
		all = append(all, single(v))
	}
	return all
}

func (r rig) check(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func TestAccumulate(t *testing.T) {
	everywhere(t, 1, func(r rig) {
		x, y, want := make([]dtype.BF16, r.m.Columns), make([]float32, r.m.Rows), make([]float64, r.m.Columns)
		for i, v := range r.x {
			x[i] = dtype.BF16From32(v)
			want[i] = x[i].Float64()
		}
		want = product(r.m.Shape, r.w, want)
		for i := range y {
			y[i] = float32(i)
			want[i] += float64(i)
		}
		out := kerneltest.Upload(r.T, r.s, y)
		r.check(Accumulate(r.s, r.m, kerneltest.Upload(r.T, r.s, x), out))
		near(r, "sum", singles(kerneltest.Download(r.T, r.s, out)), want)
	})
}

// TestUnaligned passes a result that does not begin at a multiple of 16 bytes, which only the CPU's form permits.
func TestUnaligned(t *testing.T) {
	everywhere(t, 2, func(r rig) {
		y := poisoned(r, 2*r.m.Rows+4)
		err := Accumulate(r.s, r.m, poisoned(r, r.m.Columns), device.View[float32](y).Slice(1, r.m.Rows+1))
		if want := r.m.Form != (Form{}); errors.Is(err, device.ErrAlign) != want || !want && err != nil {
			r.Errorf("form %+v: %v", r.m.Form, err)
		}
	})
}

func TestGateUp(t *testing.T) {
	everywhere(t, 2, func(r rig) {
		out := poisoned(r, r.m.Rows/2)
		r.check(GateUp(r.s, r.m, r.norm(), out))
		want := swiGLU(r.want())
		for i, g := range kerneltest.Download(r.T, r.s, out) {
			if w := want[i]; !(math.Abs(g.Float64()-w) <= math.Abs(w)/100+1e-2*math.Sqrt(float64(r.m.Columns))) {
				r.Fatalf("element %d is %v, want %v", i, g.Float64(), w)
			}
		}
	})
}

func TestLogits(t *testing.T) {
	everywhere(t, 1, func(r rig) {
		n := r.m.Blocks()
		out := Scores{kerneltest.Upload(r.T, r.s, make([]float32, r.m.Rows)), kerneltest.Upload(r.T, r.s, make([]uint64, n))}
		r.check(Logits(r.s, r.m, r.norm(), out))
		got, best := kerneltest.Download(r.T, r.s, out.Logits), uint64(0)
		near(r, "logit", singles(got), r.want())
		for _, key := range kerneltest.Download(r.T, r.s, out.Best) {
			best = max(best, key)
		}
		for i, v := range got {
			if v > got[Index(best)] {
				r.Fatalf("logit %d is %v, but the best one is %d, %v", i, v, Index(best), got[Index(best)])
			}
		}
	})
}

// TestQKV stores a token of the second of two sequences in the page that a table names, with biases and without.
func TestQKV(t *testing.T) {
	for _, dim := range []int{64, 128} {
		for _, biased := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%v", dim, biased), func(t *testing.T) { testQKV(t, dim, biased) })
		}
	}
}

func testQKV(t *testing.T, dim int, biased bool) {
	const queries, keys, at, pages = 2, 1, PageTokens + 3, 3
	table := []int32{0, 0, 9, 2} // of two sequences
	everywhere(t, (queries+2*keys)*dim, func(r rig) {
		if r.m.Rows != (queries+2*keys)*dim {
			r.Skip("several times as many heads")
		}
		angles, size := make([]float32, dim), pages*keys*PageTokens*dim
		for i := range dim / 2 {
			sin, cos := math.Sincos(float64(i))
			angles[i], angles[dim/2+i] = float32(cos), float32(sin)
		}
		want := r.want()
		to := Token{
			Heads: queries, KeyHeads: keys, Dim: dim, Pages: 2, At: kerneltest.Upload(r.T, r.s, []Place{{1, at}}),
			Table: kerneltest.Upload(r.T, r.s, table), Angles: kerneltest.Upload(r.T, r.s, angles),
			Q: poisoned(r, queries*dim), K: poisoned(r, size), V: poisoned(r, size),
		}
		if biased {
			bias := make([]float32, r.m.Rows)
			for i := range bias {
				bias[i] = float32(i%7) - 3
				want[i] += float64(bias[i])
			}
			to.Bias = kerneltest.Upload(r.T, r.s, bias)
		}
		r.check(QKV(r.s, r.m, r.norm(), to))
		near(r, "query", kerneltest.Download(r.T, r.s, to.Q), turned(want[:queries*dim], angles))
		first := (2*keys*PageTokens + at%PageTokens) * dim
		for name, c := range map[string]struct {
			all  device.Slice[dtype.BF16]
			want []float64
		}{
			"key":   {to.K, turned(want[queries*dim:(queries+keys)*dim], angles)},
			"value": {to.V, want[(queries+keys)*dim:]},
		} {
			all := kerneltest.Download(r.T, r.s, c.all)
			near(r, name, all[first:], c.want)
			for i, v := range all {
				if (i < first || i >= first+dim) && v != 0x7fff {
					r.Fatalf("element %d of the %ss was overwritten", i, name)
				}
			}
		}
	})
}

// TestTokensWithoutPages stores tokens outside the table or the cache: queries only.
func TestTokensWithoutPages(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, at := range []Place{{0, -1}, {0, PageTokens}, {1, 0}, {2, 0}, {-1, 0}, {3, 0}} {
				for _, form := range []Form{{Threads: 32}, {}} {
					r := newRig(t, s, Shape{3 * 64, 8}, form)
					to := Token{
						Heads: 1, KeyHeads: 1, Dim: 64, Pages: 1, At: kerneltest.Upload(t, s, []Place{at}), Table: kerneltest.Upload(t, s, []int32{0, -1, 1}),
						Angles: kerneltest.Upload(t, s, make([]float32, 64)), Q: poisoned(r, 64), K: poisoned(r, PageTokens*64), V: poisoned(r, PageTokens*64),
					}
					r.check(QKV(s, r.m, r.norm(), to))
					if q := kerneltest.Download(t, s, to.Q); slices.Contains(q, 0x7fff) {
						t.Errorf("%v: the queries are %v", at, q)
					}
					for _, v := range append(kerneltest.Download(t, s, to.K), kerneltest.Download(t, s, to.V)...) {
						if v != 0x7fff {
							t.Fatalf("%v: the cache was written to", at)
						}
					}
				}
			}
		})
	}
}

// TestKey compares the order of keys with that of logits.
func TestKey(t *testing.T) {
	inf := float32(math.Inf(1))
	order := []float32{float32(math.NaN()), -inf, -2, -1, -1e-40, 0, 1e-40, 1, 2, inf}
	for i := range order {
		if key := Key(order[i], 7); Index(key) != 7 || i > 0 && Key(order[i-1], 7) >= key {
			t.Errorf("key of %v: %x", order[i], key)
		}
	}
	if Key(1, 3) <= Key(1, 4) {
		t.Error("of equal logits, the first one should have the larger key")
	}
}

// TestMismatches passes operands and forms that do not fit.
func TestMismatches(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.CPU(cpu.Fastest))
	w, x := kerneltest.Upload(t, s, make([]dtype.BF16, 36)), kerneltest.Upload(t, s, make([]dtype.BF16, 12))
	y := kerneltest.Upload(t, s, make([]float32, 3))
	m := Matrix{Shape: Shape{3, 12}, W: w, Form: Form{Threads: 64}}
	for name, change := range map[string]func(m *Matrix){
		"columns that are no multiple of 8": func(*Matrix) {},
		"no scratch memory":                 func(m *Matrix) { m.Form = Form{} },
		"a part of a warp":                  func(m *Matrix) { m.Shape, m.Form.Threads = Shape{3, 8}, 40 },
		"no threads":                        func(m *Matrix) { m.Form.Threads = 0 },
		"an odd number of rows":             func(m *Matrix) { m.Shape = Shape{3, 8} },
		"fewer than no blocks":              func(m *Matrix) { m.Form.Blocks = -1 },
		"fewer weights":                     func(m *Matrix) { m.W = w.Slice(0, 35) },
		"more rows":                         func(m *Matrix) { m.Rows = 4 },
	} {
		changed := m
		change(&changed)
		if err := Accumulate(s, changed, x.Slice(0, min(12, changed.Columns)), y); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	norm := Norm{X: y, Gain: x}
	for name, err := range map[string]error{
		"gain":  GateUp(s, m, norm, x),
		"heads": QKV(s, m, norm, Token{Heads: 1, KeyHeads: 1}),
		"keys":  Logits(s, m, norm, Scores{}),
	} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
