package prefill_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefilltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

var forms = []prefill.Form{prefill.Direct, prefill.Tiled}

// shapes have the dimensions of all instances and some between them, and groups of heads.
var shapes = []prefill.Shape{
	{Heads: 1, KeyHeads: 1, Dim: 16, Causal: true},
	{Heads: 2, KeyHeads: 1, Dim: 32},
	{Heads: 3, KeyHeads: 3, Dim: 48, Causal: true},
	{Heads: 4, KeyHeads: 2, Dim: 64, Causal: true},
	{Heads: 1, KeyHeads: 1, Dim: 80},
	{Heads: 2, KeyHeads: 2, Dim: 96, Causal: true},
	{Heads: 2, KeyHeads: 1, Dim: 112},
	{Heads: 3, KeyHeads: 1, Dim: 128, Causal: true},
}

// TestPrefill compares results in all forms with float64. The interpreter has the keys of each problem either in rows or in pages.
func TestPrefill(t *testing.T) {
	var problems []func(*testing.T, *device.Stream, prefill.Form)
	for i, shape := range shapes {
		problems = append(problems, problem[float32](shape, i), problem[dtype.BF16](shape, i), problem[dtype.F16](shape, i))
	}
	for name, open := range kerneltest.Executions() {
		for _, form := range forms {
			t.Run(fmt.Sprintf("%s/%v", name, form), func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, p := range problems {
					if runs(name, form, i) {
						p(t, s, form)
					}
				}
			})
		}
	}
}

// runs reports whether TestPrefill computes a problem on a device. Problems 2, 4 and 12 have one type each, with and without groups and causality.
// The others are a third of all, each shape in one type, or a sixth.
func runs(device string, form prefill.Form, problem int) bool {
	few := problem == 2 || problem == 4 || problem == 12 || sweep.Whole() && problem%8 == 1
	third := sweep.Every(3, problem/3+problem%3)
	switch tiled := form == prefill.Tiled; {
	case device == "cuda":
		return true
	case tiled && device == "interp":
		return third // not the shapes whose type is float32
	case tiled: // which has no twin, so that all CPU devices run the same code
		return problem == 2 && (device == "native" || sweep.Whole())
	default:
		return few || third && (device == "AVX-512" || device == "AVX2" && sweep.Every(2, problem/3))
	}
}

// problem returns the test of a form for shape i. The first one computes what is expected.
func problem[T row.Number](shape prefill.Shape, i int) func(*testing.T, *device.Stream, prefill.Form) {
	once := sync.OnceValue(func() *prefilltest.Problem[T] { return prefilltest.New[T](shape) })
	return func(t *testing.T, s *device.Stream, f prefill.Form) {
		if f == prefill.Tiled && row.Elements[T]() == 4 {
			return
		}
		p := once()
		all := s.Device().Info().Kind != "interp"
		attend := func(shape prefill.Shape, x prefill.Operands[T]) error { return prefill.AttendIn(s, f, shape, x) }
		if all || sweep.Every(2, i) {
			p.TestRows(t, s, attend)
		}
		if all || sweep.Every(2, i+1) {
			p.TestPages(t, s, attend)
		}
	}
}

// TestSpans passes spans outside operands and with negative numbers.
func TestSpans(t *testing.T) {
	shape := prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 16, Causal: true}
	r := rand.New(rand.NewPCG(1, 2))
	q, k := prefilltest.Numbers[dtype.BF16](r, 100*shape.Dim), prefilltest.Numbers[dtype.BF16](r, 70*shape.Dim)
	spans := []prefill.Span{
		{Row: -3, Count: 5}, {Row: 2, Count: 3, First: 65}, {Row: 10, Count: 5, First: -1}, {Row: 20, Count: 5, Keys: -7}, {Row: 30, Count: 4, Keys: 67}, {Row: 40, Count: -9},
		{Row: 50, Count: 2, First: math.MaxInt32 - 1},
		{Row: 98, Count: 70}, {Row: math.MaxInt32 - 2, Count: math.MaxInt32, First: math.MaxInt32, Keys: math.MaxInt32},
	}
	good := func(row int) bool { return row >= 2 && row < 5 || row >= 98 }
	bad := func(row int) bool { return row >= 30 && row < 34 || row >= 50 && row < 52 }
	onForms(t, func(t *testing.T, s *device.Stream, form prefill.Form) {
		keys := kerneltest.Upload(t, s, k)
		x := prefill.Operands[dtype.BF16]{Q: kerneltest.Upload(t, s, q), K: keys, V: keys, O: kerneltest.Upload(t, s, make([]dtype.BF16, len(q))), Spans: kerneltest.Upload(t, s, spans)}
		if err := prefill.AttendIn(s, form, shape, x); err != nil {
			t.Fatal(err)
		}
		for i, g := range kerneltest.Download(t, s, x.O) {
			if row := i / shape.Dim; math.IsNaN(g.Float64()) != bad(row) || (g == 0) == (good(row) || bad(row)) {
				t.Fatalf("row %d has %v", row, g)
			}
		}
	})
}

// TestMissingPages passes pages outside K and outside the table.
func TestMissingPages(t *testing.T) {
	shape := prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 16, Causal: true, Pages: 2, MaxPages: 2}
	r := rand.New(rand.NewPCG(1, 2))
	q, k := prefilltest.Numbers[dtype.BF16](r, 10*shape.Dim), prefilltest.Numbers[dtype.BF16](r, 2*prefill.PageTokens*shape.Dim)
	spans := []prefill.Span{{Row: 0, Count: 2, First: 63}, {Row: 2, Count: 2, First: 63, Keys: 1}, {Row: 4, Count: 2, First: 127, Keys: 2}, {Row: 6, Count: 2, Keys: 3}}
	onForms(t, func(t *testing.T, s *device.Stream, form prefill.Form) {
		keys := kerneltest.Upload(t, s, k)
		x := prefill.Operands[dtype.BF16]{Q: kerneltest.Upload(t, s, q), K: keys, V: keys, O: kerneltest.Upload(t, s, make([]dtype.BF16, len(q))), Spans: kerneltest.Upload(t, s, spans)}
		x.Table = kerneltest.Upload(t, s, []int32{1, -1, 0, 2, 1, 0})
		if err := prefill.AttendIn(s, form, shape, x); err != nil {
			t.Fatal(err)
		}
		for i, g := range kerneltest.Download(t, s, x.O) {
			row := i / shape.Dim
			if bad := row == 1 || row == 3 || row >= 5 && row < 8; math.IsNaN(g.Float64()) != bad || (g == 0) != (row >= 8) {
				t.Fatalf("row %d has %v", row, g)
			}
		}
	})
}

func onForms(t *testing.T, test func(*testing.T, *device.Stream, prefill.Form)) {
	for name, open := range kerneltest.Executions() {
		for _, form := range forms {
			if form == prefill.Tiled && !kerneltest.Runs(name, row.Wide) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", name, form), func(t *testing.T) { test(t, kerneltest.Stream(t, open), form) })
		}
	}
}

// TestShapes passes operands that do not fit.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	x := kerneltest.Upload(t, s, make([]dtype.BF16, 96))
	good := prefill.Operands[dtype.BF16]{Q: x, K: x, V: x, O: x, Spans: kerneltest.Upload(t, s, []prefill.Span{{Count: 1}})}
	shape := prefill.Shape{Heads: 2, KeyHeads: 2, Dim: 16}
	for name, change := range map[string]func(*prefill.Shape, *prefill.Operands[dtype.BF16]){
		"no heads":  func(c *prefill.Shape, _ *prefill.Operands[dtype.BF16]) { c.Heads = 0 },
		"groups":    func(c *prefill.Shape, _ *prefill.Operands[dtype.BF16]) { c.Heads = 3 },
		"dimension": func(c *prefill.Shape, _ *prefill.Operands[dtype.BF16]) { c.Dim = 24 },
		"large":     func(c *prefill.Shape, _ *prefill.Operands[dtype.BF16]) { c.Dim = 144 },
		"rows of Q": func(_ *prefill.Shape, o *prefill.Operands[dtype.BF16]) { o.Q, o.O = x.Slice(0, 80), x.Slice(0, 80) },
		"O":         func(_ *prefill.Shape, o *prefill.Operands[dtype.BF16]) { o.O = x.Slice(0, 64) },
		"V":         func(_ *prefill.Shape, o *prefill.Operands[dtype.BF16]) { o.V = x.Slice(0, 64) },
		"page":      func(c *prefill.Shape, _ *prefill.Operands[dtype.BF16]) { c.Pages, c.MaxPages = 1, 1 },
		"pages":     func(c *prefill.Shape, _ *prefill.Operands[dtype.BF16]) { c.Pages = -1 },
		"no keys":   func(_ *prefill.Shape, o *prefill.Operands[dtype.BF16]) { o.K, o.V = x.Slice(0, 0), x.Slice(0, 0) },
	} {
		shape, o := shape, good
		change(&shape, &o)
		if err := prefill.Attend(s, shape, o); !errors.Is(err, prefill.ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	good.K, good.V = x.Slice(1, 65), x.Slice(3, 67)
	if err := errors.Join(prefill.Attend(s, shape, good), s.Synchronize(t.Context())); err != nil {
		t.Errorf("unaligned: %v", err)
	}
	if err := prefill.AttendIn(s, prefill.Tiled, shape, good); !errors.Is(err, prefill.ErrShape) {
		t.Errorf("unaligned: %v, want ErrShape", err)
	}
}

// BenchmarkCPU reports floating-point operations of both products per CPU second.
func BenchmarkCPU(b *testing.B) {
	shape := prefill.Shape{Heads: 9, KeyHeads: 3, Dim: 64, Causal: true}
	const tokens = 512
	for name, open := range kerneltest.VectorUnits() {
		b.Run(name, func(b *testing.B) {
			s, r := kerneltest.Stream(b, open), rand.New(rand.NewPCG(1, 2))
			rows := func(heads int) device.Slice[float32] {
				return kerneltest.Upload(b, s, prefilltest.Numbers[float32](r, tokens*heads*shape.Dim))
			}
			x := prefill.Operands[float32]{Q: rows(9), K: rows(3), V: rows(3), O: rows(9), Spans: kerneltest.Upload(b, s, []prefill.Span{{Count: tokens}})}
			took := kerneltest.Measure(b, s, func() error { return prefill.Attend(s, shape, x) })
			kerneltest.ReportRate(b, 4*float64(shape.Heads*shape.Dim)*tokens*(tokens+1)/2, took)
		})
	}
}

// TestApart compares the results of queries, keys and values that are the columns of one matrix with those of three matrices.
func TestApart(t *testing.T) {
	shape := prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 32}
	spans := []prefill.Span{{Row: 0, Count: 130, First: 0, Keys: 0}, {Row: 130, Count: 70, First: 0, Keys: 130}}
	const rows = 200
	r := rand.New(rand.NewPCG(5, 2))
	var parts [3][]dtype.F16
	var all []dtype.F16
	for i, heads := range []int{2, 1, 1} {
		parts[i] = prefilltest.Numbers[dtype.F16](r, rows*heads*shape.Dim)
	}
	for i := range rows {
		for k, heads := range []int{2, 1, 1} {
			n := heads * shape.Dim
			all = append(all, parts[k][i*n:][:n]...)
		}
	}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			x := prefill.Operands[dtype.F16]{Q: kerneltest.Upload(t, s, parts[0]), K: kerneltest.Upload(t, s, parts[1]), V: kerneltest.Upload(t, s, parts[2]), O: kerneltest.Upload(t, s, make([]dtype.F16, len(parts[0]))), Spans: kerneltest.Upload(t, s, spans)}
			y, m := x, kerneltest.Upload(t, s, all)
			y.Q, y.K, y.V = m, m.Slice(2*shape.Dim, m.Len()), m.Slice(3*shape.Dim, m.Len())
			y.O = kerneltest.Upload(t, s, make([]dtype.F16, len(parts[0])))
			together := shape
			together.Apart = 4 * shape.Dim
			if err := prefill.Attend(s, shape, x); err != nil {
				t.Fatal(err)
			}
			if err := prefill.Attend(s, together, y); err != nil {
				t.Fatal(err)
			}
			want, got := kerneltest.Download(t, s, x.O), kerneltest.Download(t, s, y.O)
			if !slices.Equal(got, want) {
				t.Errorf("results of one matrix differ")
			}
			together.Apart--
			if err := prefill.Attend(s, together, prefill.Operands[dtype.F16]{Q: y.Q.Slice(0, 8), K: y.K, V: y.V, O: y.O, Spans: y.Spans}); !errors.Is(err, prefill.ErrShape) {
				t.Errorf("short queries: %v", err)
			}
		})
	}
}
