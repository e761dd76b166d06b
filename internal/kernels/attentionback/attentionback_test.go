package attentionback_test

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
	"github.com/gopherwarp/gopherwarp/internal/kernels/attentionback"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefilltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// packed returns the spans of sequences of the given lengths, before and after which there is a row of none.
func packed(lengths ...int) (list []prefill.Span, rows int) {
	rows = 1
	for _, n := range lengths {
		list = append(list, prefill.Span{Row: int32(rows), Count: int32(n), Keys: int32(rows)})
		rows += n
	}
	return list, rows + 1
}

// random returns operands for a number of rows.
func random[T attentionback.Element](shape prefill.Shape, rows int) attentionback.Tensors[T] {
	r := rand.New(rand.NewPCG(uint64(shape.Dim), 11))
	q, k := rows*shape.Heads*shape.Dim, rows*shape.KeyHeads*shape.Dim
	numbers := prefilltest.Numbers[T]
	return attentionback.Tensors[T]{Tensors: prefill.Tensors[T]{Shape: shape, Q: numbers(r, q), K: numbers(r, k), V: numbers(r, k)}, DO: numbers(r, q)}
}

// TestReference compares the derivatives of the reference with finite differences.
func TestReference(t *testing.T) {
	const h = 1.0 / 512 // exact in float32, as are the operands
	for _, causal := range []bool{false, true} {
		shape := prefill.Shape{Heads: 4, KeyHeads: 2, Dim: 3, Causal: causal}
		spans, rows := packed(5, 1, 3)
		x := random[float32](shape, rows)
		for _, list := range [][]float32{x.Q, x.K, x.V} {
			for i := range list {
				list[i] = float32(math.Round(float64(list[i])*512) / 1024)
			}
		}
		loss := func() (sum float64) {
			for _, span := range spans {
				for i := range int(span.Count) {
					for head := range shape.Heads {
						o, _ := x.Query(span, i, head)
						for d, v := range o {
							sum += v * float64(x.DO[((int(span.Row)+i)*shape.Heads+head)*shape.Dim+d])
						}
					}
				}
			}
			return sum
		}
		g, _ := x.Back(spans)
		for name, pair := range map[string]struct {
			values []float32
			got    []float64
		}{"Q": {x.Q, g.Q}, "K": {x.K, g.K}, "V": {x.V, g.V}} {
			for i, got := range pair.got {
				was := pair.values[i]
				pair.values[i] = was + h
				want := loss()
				pair.values[i] = was - h
				want = (want - loss()) / (2 * h)
				if pair.values[i] = was; !(math.Abs(got-want) <= 2e-5*(1+math.Abs(want))) {
					t.Errorf("causal %t: derivative %d with respect to %s is %v, difference quotient %v", causal, i, name, got, want)
				}
			}
		}
	}
}

// problem is operands, and what is expected.
type problem[T attentionback.Element] struct {
	attentionback.Tensors[T]
	spans    []prefill.Span
	rows     int
	expected func() (want, size attentionback.Gradients)
}

func newProblem[T attentionback.Element](shape prefill.Shape, lengths ...int) *problem[T] {
	p := &problem[T]{}
	p.spans, p.rows = packed(lengths...)
	p.Tensors = random[T](shape, p.rows)
	spans := p.spans
	p.expected = sync.OnceValues(func() (want, size attentionback.Gradients) { return p.Back(spans) })
	return p
}

// operands returns the operands on a device, after the forward pass. Results hold NaNs.
func (p *problem[T]) operands(tb testing.TB, s *device.Stream, f attentionback.Form) attentionback.Operands[T] {
	tb.Helper()
	bad := func(n int) device.Slice[T] {
		x := make([]T, n)
		for i := range x {
			x[i] = row.From64[T](math.NaN())
		}
		return kerneltest.Upload(tb, s, x)
	}
	x := attentionback.Operands[T]{
		Q: kerneltest.Upload(tb, s, p.Q), K: kerneltest.Upload(tb, s, p.K), V: kerneltest.Upload(tb, s, p.V), O: bad(len(p.Q)), DO: kerneltest.Upload(tb, s, p.DO),
		States: kerneltest.Upload(tb, s, make([]prefill.State, p.rows*p.Heads)), Spans: kerneltest.Upload(tb, s, p.spans),
		DQ: bad(len(p.Q)), DK: bad(len(p.K)), DV: bad(len(p.V)),
	}
	work := make([]float32, attentionback.WorkspaceIn[T](f, p.Shape, p.rows))
	for i := range work {
		work[i] = float32(math.NaN())
	}
	x.Workspace = kerneltest.Upload(tb, s, work)
	if err := prefill.Attend(s, p.Shape, prefill.Operands[T]{Q: x.Q, K: x.K, V: x.V, O: x.O, States: x.States, Spans: x.Spans}); err != nil {
		tb.Fatal(err)
	}
	return x
}

// tolerance is the error allowed in an element, relative to the sum of the magnitudes of its terms.
func tolerance[T attentionback.Element]() float64 {
	relative, _ := row.Rounding[T]()
	return max(4*relative, 2e-5)
}

// check compares all derivatives with the reference.
func (p *problem[T]) check(t *testing.T, s *device.Stream, f attentionback.Form) {
	t.Helper()
	x := p.operands(t, s, f)
	if err := attentionback.BackwardIn(s, f, p.Shape, x); err != nil {
		t.Fatal(err)
	}
	expected, sizes := p.expected()
	for _, c := range []struct {
		name       string
		got        []T
		want, size []float64
	}{{"Q", kerneltest.Download(t, s, x.DQ), expected.Q, sizes.Q}, {"K", kerneltest.Download(t, s, x.DK), expected.K, sizes.K}, {"V", kerneltest.Download(t, s, x.DV), expected.V, sizes.V}} {
		for i, got := range c.got {
			if g := row.Float64(got); !(math.Abs(g-c.want[i]) <= c.size[i]*tolerance[T]()) {
				t.Fatalf("%T, %+v: derivative %d (row %d) with respect to %s is %v, want %v within %v", got, p.Shape, i, i/(len(c.got)/p.rows), c.name, g, c.want[i], c.size[i]*tolerance[T]())
			}
		}
	}
}

// checker is a problem of any element type.
type checker interface {
	check(t *testing.T, s *device.Stream, f attentionback.Form)
}

// TestBackward compares derivatives in all forms with float64: of all dimensions of instances and some between them, groups of heads, and
// sequences whose ends are anywhere in a tile. The interpreter has half of the problems of the form Tiled, and a third of those of the form Grouped.
func TestBackward(t *testing.T) {
	short, long := []int{1, 15, 0, 16, 17, 40}, []int{63, 0, 64, 65, 1, 130}
	small := prefill.Shape{Heads: 4, KeyHeads: 2, Dim: 16, Causal: true}
	small32, smallBF16 := newProblem[float32](small, short...), newProblem[dtype.BF16](small, short...)
	fast := []checker{
		small32, newProblem[float32](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 64}, long...), newProblem[float32](prefill.Shape{Heads: 3, KeyHeads: 1, Dim: 128, Causal: true}, long...),
		newProblem[float32](prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 80}, long...), newProblem[float32](prefill.Shape{Heads: 2, KeyHeads: 2, Dim: 48, Causal: true}, long...),
	}
	tiled := []checker{
		smallBF16, newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 64, Causal: true}, long...), newProblem[dtype.BF16](prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 32}, long...),
		newProblem[dtype.BF16](prefill.Shape{Heads: 3, KeyHeads: 1, Dim: 128}, 70, 3, 64), newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 2, Dim: 112, Causal: true}, 130, 65),
	}
	grouped := []checker{
		newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 64, Causal: true}, 63, 0, 64, 1, 140),
		newProblem[dtype.BF16](prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 128, Causal: true}, 65, 130),
		newProblem[dtype.BF16](prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 64}, 260, 3), newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 128}, 70),
	}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			list := map[attentionback.Form][]checker{attentionback.Direct: {small32, smallBF16}, attentionback.Tiled: {smallBF16}}
			switch kind := s.Device().Info().Kind; {
			case kind == "cuda":
				list[attentionback.Direct], list[attentionback.Tiled] = append(fast, smallBF16), tiled
			case kind == "interp":
				list[attentionback.Tiled] = part(2, tiled)
			case name != "native" && name != "scalar":
				list[attentionback.Direct] = append(fast, smallBF16)
			}
			if !kerneltest.Runs(name, row.Wide) {
				delete(list, attentionback.Tiled)
			}
			if hasGroups(s) {
				list[attentionback.Grouped] = part(3, grouped)
			}
			if hasGroups(s) && s.Device().Info().Kind == "cuda" {
				list[attentionback.Grouped] = append(grouped, newProblem[dtype.BF16](prefill.Shape{Heads: 4, KeyHeads: 2, Dim: 128, Causal: true}, 300, 150), newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 64}, 1, 330))
			}
			for form, problems := range list {
				t.Run(form.String(), func(t *testing.T) {
					for _, p := range problems {
						p.check(t, s, form)
					}
				})
			}
		})
	}
}

// part returns one of n problems, or all in sweeps.
func part[P any](n int, all []P) (some []P) {
	for i, p := range all {
		if sweep.Every(n, i) {
			some = append(some, p)
		}
	}
	return some
}

// TestForward compares results and states with those of prefill.Attend, also of queries, keys and values that are columns of one matrix.
func TestForward(t *testing.T) {
	problems := []*problem[dtype.BF16]{
		newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 64, Causal: true}, 63, 0, 64, 1, 300),
		newProblem[dtype.BF16](prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 128, Causal: true}, 65, 130),
		newProblem[dtype.BF16](prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 64}, 260, 3), newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 128}, 70),
	}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			if !hasGroups(s) || !attentionback.Forwards(s.Device(), problems[0].Shape) {
				t.Skip("no products of warp groups")
			}
			for i, p := range problems {
				if name == "cuda" || sweep.Every(3, i) {
					p.checkForward(t, s)
				}
			}
		})
	}
}

// checkForward compares the results of a problem's operands.
func (p *problem[T]) checkForward(t *testing.T, s *device.Stream) {
	t.Helper()
	x, ok := any(p.operands(t, s, attentionback.Grouped)).(attentionback.Operands[dtype.BF16])
	if !ok {
		t.Fatal("not of bfloat16")
	}
	want, states := kerneltest.Download(t, s, x.O), kerneltest.Download(t, s, x.States)
	widths := []int{p.Heads * p.Dim, p.KeyHeads * p.Dim, p.KeyHeads * p.Dim}
	all := beside(widths, kerneltest.Download(t, s, x.Q), kerneltest.Download(t, s, x.K), kerneltest.Download(t, s, x.V))
	for _, apart := range []int{0, widths[0] + 2*widths[1]} {
		shape, y := p.Shape, x
		if shape.Apart = apart; apart > 0 {
			y.Q, y.K, y.V = columns(kerneltest.Upload(t, s, all), widths)
		}
		y.O, y.States = kerneltest.Upload(t, s, make([]dtype.BF16, len(want))), kerneltest.Upload(t, s, make([]prefill.State, len(states)))
		if err := attentionback.Forward(s, shape, y); err != nil {
			t.Fatal(err)
		}
		got, sums := kerneltest.Download(t, s, y.O), kerneltest.Download(t, s, y.States)
		for _, span := range p.spans {
			from := int(span.Row) * p.Heads
			for i := from; i < from+int(span.Count)*p.Heads; i++ {
				if a, b := logOf(sums[i]), logOf(states[i]); !(math.Abs(a-b) < 1e-4) {
					t.Fatalf("%+v: the logarithm of sum %d is %v, want %v", shape, i, a, b)
				}
				for k := i * p.Dim; k < (i+1)*p.Dim; k++ {
					if a, b := float64(got[k].Float32()), float64(want[k].Float32()); !(math.Abs(a-b) < 0.02*(1+math.Abs(b))) {
						t.Fatalf("%+v: result %d (row %d) is %v, want %v", shape, k, i/p.Heads, a, b)
					}
				}
			}
		}
	}
}

// logOf returns the logarithm to base 2 of the sum of a state.
func logOf(x prefill.State) float64 { return float64(x.Top) + math.Log2(float64(x.Sum)) }

// TestApart compares derivatives of the columns of one matrix with those of three matrices, bit for bit.
func TestApart(t *testing.T) {
	p := newProblem[dtype.BF16](prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 64, Causal: true}, 63, 0, 64, 1, 140)
	widths := []int{2 * p.Dim, p.Dim, p.Dim}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			shape := p.Shape
			shape.Apart = 4 * p.Dim
			x := p.operands(t, s, attentionback.Grouped)
			y := x
			y.Q, y.K, y.V = columns(kerneltest.Upload(t, s, beside(widths, p.Q, p.K, p.V)), widths)
			all := kerneltest.Upload(t, s, make([]dtype.BF16, p.rows*shape.Apart))
			y.DQ, y.DK, y.DV = columns(all, widths)
			if !attentionback.Apart[dtype.BF16](s.Device(), shape) || !hasGroups(s) {
				if err := attentionback.BackwardIn(s, attentionback.Direct, shape, y); !errors.Is(err, attentionback.ErrShape) {
					t.Errorf("form Direct: %v", err)
				}
				t.Skip("no form takes rows that are apart")
			}
			if err := errors.Join(attentionback.Backward(s, p.Shape, x), attentionback.Backward(s, shape, y)); err != nil {
				t.Fatal(err)
			}
			want := beside(widths, kerneltest.Download(t, s, x.DQ), kerneltest.Download(t, s, x.DK), kerneltest.Download(t, s, x.DV))
			if !slices.Equal(kerneltest.Download(t, s, all), want) {
				t.Error("derivatives of one matrix differ")
			}
			shape.Apart -= 8
			if err := attentionback.Backward(s, shape, x); !errors.Is(err, attentionback.ErrShape) {
				t.Errorf("short rows: %v", err)
			}
		})
	}
}

// beside returns the rows of matrices with the given widths beside each other.
func beside(widths []int, parts ...[]dtype.BF16) (all []dtype.BF16) {
	for i := range len(parts[0]) / widths[0] {
		for k, n := range widths {
			all = append(all, parts[k][i*n:][:n]...)
		}
	}
	return all
}

// columns returns slices that begin at the columns of three matrices with the given widths.
func columns(all device.Slice[dtype.BF16], widths []int) (q, k, v device.Slice[dtype.BF16]) {
	n := all.Len()
	return all, all.Slice(widths[0], n), all.Slice(widths[0]+widths[1], n)
}

// BenchmarkCPU reports floating-point operations of the five products per CPU second.
func BenchmarkCPU(b *testing.B) {
	shape := prefill.Shape{Heads: 9, KeyHeads: 3, Dim: 64, Causal: true}
	for _, tokens := range []int{256, 1024} {
		p := &problem[float32]{spans: []prefill.Span{{Count: int32(tokens)}}, rows: tokens, Tensors: random[float32](shape, tokens)}
		for name, open := range kerneltest.VectorUnits() {
			b.Run(fmt.Sprintf("%s/%d", name, tokens), func(b *testing.B) {
				s := kerneltest.Stream(b, open)
				x := p.operands(b, s, attentionback.Direct)
				took := kerneltest.Measure(b, s, func() error { return attentionback.Backward(s, shape, x) })
				kerneltest.ReportRate(b, 10*float64(shape.Heads*shape.Dim*tokens)*float64(tokens+1)/2, took)
			})
		}
	}
}

// TestSpans passes spans outside operands and with other numbers than those of sequences, whose derivatives are 0.
func TestSpans(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for _, form := range []attentionback.Form{attentionback.Direct, attentionback.Tiled, attentionback.Grouped} {
			t.Run(fmt.Sprintf("%s/%v", name, form), func(t *testing.T) { testSpans(t, kerneltest.Stream(t, open), form) })
		}
	}
}

func testSpans(t *testing.T, s *device.Stream, form attentionback.Form) {
	shape := prefill.Shape{Heads: 1, KeyHeads: 1, Dim: 16, Causal: true}
	if form == attentionback.Grouped {
		needGroups(t, s)
		shape.Dim = 64
	}
	p := newProblem[dtype.BF16](shape, 3, 20, 3)
	p.spans = append([]prefill.Span{{Row: -3, Count: 4, Keys: -3}}, p.spans...)
	p.spans[2].Keys = 1 // no longer the span's rows
	p.spans = append(p.spans, prefill.Span{Row: 27, Count: 2, Keys: 27}, prefill.Span{Row: math.MaxInt32 - 1, Count: math.MaxInt32, Keys: math.MaxInt32 - 1})
	good := func(row int) bool { return row >= 1 && row < 4 || row >= 24 && row < 27 }
	x := p.operands(t, s, form)
	if err := attentionback.BackwardIn(s, form, shape, x); err != nil {
		t.Fatal(err)
	}
	for i, to := range []device.Slice[dtype.BF16]{x.DQ, x.DK, x.DV} {
		for j, g := range kerneltest.Download(t, s, to) {
			if row := j / shape.Dim; g.Float64() != g.Float64() || !good(row) && g != 0 || good(row) && i == 2 && g == 0 {
				t.Fatalf("derivative %d, row %d has %v", i, row, g)
			}
		}
	}
}

// needGroups skips a test unless the device has products of warp groups.
func needGroups(t *testing.T, s *device.Stream) {
	t.Helper()
	if !hasGroups(s) {
		t.Skipf("%v has no products of warp groups", s.Device().Info().Name)
	}
}

func hasGroups(s *device.Stream) bool {
	info := s.Device().Info()
	return info.Kind != "cpu" && info.Capability == (device.Capability{Major: 9})
}

// TestShapes passes operands that do not fit.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	shape := prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 16}
	p := newProblem[float32](shape, 4)
	good := p.operands(t, s, attentionback.Direct)
	few := good.Q.Slice(0, 16)
	for name, change := range map[string]func(*prefill.Shape, *attentionback.Operands[float32]){
		"heads":     func(c *prefill.Shape, _ *attentionback.Operands[float32]) { c.KeyHeads = 3 },
		"dimension": func(c *prefill.Shape, _ *attentionback.Operands[float32]) { c.Dim = 8 },
		"pages":     func(c *prefill.Shape, _ *attentionback.Operands[float32]) { c.Pages, c.MaxPages = 1, 1 },
		"Q":         func(_ *prefill.Shape, o *attentionback.Operands[float32]) { o.Q = o.Q.Slice(0, 100) },
		"K":         func(_ *prefill.Shape, o *attentionback.Operands[float32]) { o.K = few },
		"DO":        func(_ *prefill.Shape, o *attentionback.Operands[float32]) { o.DO = few },
		"DV":        func(_ *prefill.Shape, o *attentionback.Operands[float32]) { o.DV = few },
		"states":    func(_ *prefill.Shape, o *attentionback.Operands[float32]) { o.States = o.States.Slice(0, 3) },
		"workspace": func(_ *prefill.Shape, o *attentionback.Operands[float32]) { o.Workspace = few },
	} {
		shape, o := shape, good
		change(&shape, &o)
		if err := attentionback.Backward(s, shape, o); !errors.Is(err, attentionback.ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	if err := attentionback.BackwardIn(s, attentionback.Tiled, shape, good); !errors.Is(err, attentionback.ErrShape) {
		t.Errorf("float32 in tiles: %v, want ErrShape", err)
	}
}

// TestNeighbours fills a sequence with NaNs: the derivatives of the sequences before and after it must stay as they were.
func TestNeighbours(t *testing.T) {
	shape, counts := prefill.Shape{Heads: 2, KeyHeads: 1, Dim: 64, Causal: true}, []int{70, 30, 5}
	p := newProblem[dtype.BF16](shape, counts...)
	bad := newProblem[dtype.BF16](shape, counts...)
	first := counts[0] + 1
	inside := func(row int) bool { return row >= first && row < first+counts[1] }
	for _, x := range [][]dtype.BF16{bad.Q, bad.K, bad.V, bad.DO} {
		for i := range x {
			if inside(i * p.rows / len(x)) {
				x[i] = dtype.BF16From32(float32(math.NaN()))
			}
		}
	}
	for _, name := range []string{"interp", "cuda"} {
		for _, form := range []attentionback.Form{attentionback.Tiled, attentionback.Grouped} {
			t.Run(fmt.Sprintf("%s/%v", name, form), func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				if form == attentionback.Grouped {
					needGroups(t, s)
				}
				want, got := p.derivatives(t, s, form), bad.derivatives(t, s, form)
				for i := range want {
					for j, g := range got[i] {
						if row := j * p.rows / len(got[i]); !inside(row) && g != want[i][j] {
							t.Fatalf("derivative %d, row %d has %v, want %v", i, row, g, want[i][j])
						}
					}
				}
			})
		}
	}
}

// derivatives returns the derivatives with respect to queries, keys and values.
func (p *problem[T]) derivatives(t *testing.T, s *device.Stream, f attentionback.Form) (list [3][]T) {
	t.Helper()
	x := p.operands(t, s, f)
	if err := attentionback.BackwardIn(s, f, p.Shape, x); err != nil {
		t.Fatal(err)
	}
	for i, d := range []device.Slice[T]{x.DQ, x.DK, x.DV} {
		list[i] = kerneltest.Download(t, s, d)
	}
	return list
}
