package lora

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

var shapes = []Shape{
	{Rows: 1, Adapters: 1, Columns: 8, Rank: 8, Parts: []int{3}},
	{Rows: 23, Adapters: 2, Columns: 136, Rank: 16, Parts: []int{260, 20}},
	{Rows: 12, Adapters: 5, Columns: 40, Rank: 8, Parts: []int{17, 5, 9}},
	{Rows: 5, Adapters: 1, Columns: 8, Rank: 8, Parts: []int{1030, 3}}, // more than a tile
	{Rows: 13, Adapters: 2, Columns: 264, Rank: 24, Parts: []int{520, 16, 8}},
}

// TestProducts compares the products of rows of all adapters with a reference in float64. Other rows keep their values. Except on
// GPUs, the products of bfloat16 in each shape are added to one of two types, and those of float32 in the form wide have some shapes.
func TestProducts(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for f, of := range map[form]row.Form{scalar: row.Plain, wide: row.Wide, tensor: row.Wide} {
			if !kerneltest.Runs(name, of) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%v", name, f), func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, shape := range shapes {
					if f == scalar || f == wide && (name == "cuda" || sweep.Every(2, i)) {
						check[float32, float32](t, s, f, shape)
					}
					if f != scalar && (name == "cuda" || sweep.Every(2, i)) {
						check[dtype.BF16, dtype.BF16](t, s, f, shape)
					}
					if f != scalar && (name == "cuda" || sweep.Every(2, i+1)) {
						check[dtype.BF16, float32](t, s, f, shape)
					}
				}
			})
		}
	}
}

// random returns n random elements.
func random[T row.Number](r *rand.Rand, n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = row.From64[T](r.NormFloat64())
	}
	return list
}

// check compares the results of all spans of one part and of all parts.
func check[T, U float32 | dtype.BF16](t *testing.T, s *device.Stream, f form, shape Shape) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(shape.Rows), 7))
	which := make([]int32, shape.Rows)
	for i := range which {
		which[i] = int32(r.IntN(shape.Adapters+1)) - 1
	}
	x, a, b := random[T](r, shape.Rows*shape.Columns), random[T](r, shape.Adapters*shape.stack()*shape.Columns), random[T](r, shape.Adapters*shape.out()*shape.Rank)
	want := newReference(shape, which, row.Float64s(x), row.Float64s(a))
	want.b = row.Float64s(b)
	if f == scalar {
		a, b = transposed(shape.Adapters, slices.Repeat([]int{shape.Rank}, len(shape.Parts)), a), transposed(shape.Adapters, shape.Parts, b)
	}
	groups := kerneltest.Upload(t, s, Groups(which, MaxGroups(shape.Rows, shape.Adapters)+2))
	h := kerneltest.Upload(t, s, slices.Repeat([]float32{math.MaxFloat32}, shape.Rows*shape.stack()))
	if err := shrink(s, f, shape, Down[T]{kerneltest.Upload(t, s, x), kerneltest.Upload(t, s, a), groups, h}); err != nil {
		t.Fatal(err)
	}
	matrices := kerneltest.Upload(t, s, b)
	for _, span := range []Span{{0, shape.out()}, {shape.out() - shape.Parts[len(shape.Parts)-1], shape.out()}, {0, 1}} {
		n := span.To - span.From
		before := random[U](r, shape.Rows*n)
		y := kerneltest.Upload(t, s, before)
		if err := expand(s, f, shape, Up[T, U]{h, matrices, groups, y, span}); err != nil {
			t.Fatal(err)
		}
		for i, got := range kerneltest.Download(t, s, y) {
			want, size := want.product(i/n, span.From+i%n)
			want += row.Float64(before[i])
			relative, _ := row.Rounding[U]()
			if g := row.Float64(got); !(math.Abs(g-want) <= 1e-5*size+relative*math.Abs(want)) {
				t.Fatalf("%+v of %T, %+v: row %d with adapter %d, column %d is %v, want %v", shape, x, span, i/n, which[i/n], i%n, g, want)
			}
		}
	}
}

// transposed returns matrices with some rows of each of the parts of each adapter transposed.
func transposed[T any](adapters int, rows []int, list []T) []T {
	total := 0
	for _, n := range rows {
		total += n
	}
	columns, to := len(list)/max(1, adapters*total), make([]T, 0, len(list))
	for range adapters {
		for _, n := range rows {
			for k := range columns {
				for r := range n {
					to = append(to, list[r*columns+k])
				}
			}
			list = list[n*columns:]
		}
	}
	return to
}

// reference is the products of the first matrices, and the sums of the absolute values of what they add.
type reference struct {
	Shape
	which    []int32
	b        []float64
	h, sizes []float64
}

func newReference(s Shape, which []int32, x, a []float64) *reference {
	r := &reference{Shape: s, which: which}
	for i, adapter := range which {
		for k := range s.stack() {
			sum, size := 0.0, 0.0
			for c := 0; c < s.Columns && adapter >= 0; c++ {
				v := x[i*s.Columns+c] * a[(int(adapter)*s.stack()+k)*s.Columns+c]
				sum, size = sum+v, size+math.Abs(v)
			}
			r.h, r.sizes = append(r.h, sum), append(r.sizes, size)
		}
	}
	return r
}

// product returns a result of a row, and the sum of the absolute values of what it adds.
func (r *reference) product(i, column int) (sum, size float64) {
	if r.which[i] < 0 {
		return 0, 0
	}
	part, end := 0, r.Parts[0]
	for column >= end {
		part++
		end += r.Parts[part]
	}
	for k := range r.Rank {
		v, at := r.b[(int(r.which[i])*r.out()+column)*r.Rank+k], i*r.stack()+part*r.Rank+k
		sum, size = sum+v*r.h[at], size+math.Abs(v)*r.sizes[at]
	}
	return sum, size
}

// TestGroups checks that each row with an adapter is in one group, that groups are as full as they can be, and that they have room.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ rows, adapters int }{{0, 3}, {1, 1}, {7, 40}, {100, 1}, {256, 32}} {
		which := make([]int32, c.rows)
		for i := range which {
			which[i] = int32(r.IntN(c.adapters+1)) - 1
		}
		list := Groups(which, MaxGroups(c.rows, c.adapters))
		if len(list) != MaxGroups(c.rows, c.adapters) {
			t.Errorf("%+v: %d groups, want %d", c, len(list), MaxGroups(c.rows, c.adapters))
		}
		seen := make([]bool, c.rows)
		for _, g := range list {
			for _, at := range g.Rows {
				if at >= 0 && (seen[at] || which[at] != g.Adapter) {
					t.Errorf("%+v: row %d of adapter %d is in a group of %d, or in two", c, at, which[at], g.Adapter)
				}
				if at >= 0 {
					seen[at] = true
				}
			}
		}
		for at, adapter := range which {
			if seen[at] != (adapter >= 0) {
				t.Errorf("%+v: row %d of adapter %d: in a group: %v", c, at, adapter, seen[at])
			}
		}
	}
}

// TestShapes passes operands that do not fit, and some of no rows.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	good := Shape{Rows: 2, Adapters: 1, Columns: 8, Rank: 8, Parts: []int{4}}
	x, h, y := kerneltest.Upload(t, s, make([]float32, 16)), kerneltest.Upload(t, s, make([]float32, 16)), kerneltest.Upload(t, s, make([]float32, 8))
	a, b := kerneltest.Upload(t, s, make([]float32, 64)), kerneltest.Upload(t, s, make([]float32, 32))
	groups := kerneltest.Upload(t, s, Groups([]int32{0, 0}, 2))
	for i, change := range []func(c *Shape){
		func(c *Shape) { c.Rows = 3 }, func(c *Shape) { c.Adapters = 2 }, func(c *Shape) { c.Columns = 4 }, func(c *Shape) { c.Rank = 12 },
		func(c *Shape) { c.Parts = nil }, func(c *Shape) { c.Parts = []int{4, 0} }, func(c *Shape) { c.Parts = []int{1, 1, 1, 1} },
	} {
		bad := good
		change(&bad)
		if err := Shrink(s, bad, Down[float32]{x, a, groups, h}); !errors.Is(err, ErrShape) {
			t.Errorf("shape %d: Shrink returns %v, want ErrShape", i, err)
		}
		if err := Expand(s, bad, Up[float32, float32]{h, b, groups, y, Span{0, 4}}); !errors.Is(err, ErrShape) {
			t.Errorf("shape %d: Expand returns %v, want ErrShape", i, err)
		}
	}
	for _, span := range []Span{{-1, 3}, {1, 5}, {4, 4}} {
		if err := Expand(s, good, Up[float32, float32]{h, b, groups, y, span}); !errors.Is(err, ErrShape) {
			t.Errorf("%+v: %v, want ErrShape", span, err)
		}
	}
	if err := Expand(s, good, Up[float32, dtype.BF16]{h, b, groups, kerneltest.Upload(t, s, make([]dtype.BF16, 8)), Span{0, 4}}); !errors.Is(err, ErrShape) {
		t.Errorf("rounded results of float32 matrices: %v, want ErrShape", err)
	}
	shifted := kerneltest.Upload(t, s, make([]float32, 17)).Slice(1, 17)
	if err := Shrink(s, good, Down[float32]{shifted, a.Slice(0, 64), groups, h}); !errors.Is(err, ErrShape) {
		t.Errorf("X that is not aligned: %v, want ErrShape", err)
	}
	if err := Expand(s, good, Up[float32, float32]{shifted, b, groups, y, Span{0, 4}}); !errors.Is(err, ErrShape) {
		t.Errorf("H that is not aligned: %v, want ErrShape", err)
	}
	if err := Shrink(s, Shape{Columns: 8, Rank: 8, Parts: []int{4}}, Down[float32]{}); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

// BenchmarkGPU reports the time of the products of a layer of an 8B model for 256 rows of 32 adapters.
func BenchmarkGPU(b *testing.B) {
	for _, parts := range [][]int{{4096, 1024, 1024}, {4096}, {14336, 14336}} {
		b.Run(fmt.Sprint(parts), func(b *testing.B) {
			s := kerneltest.Stream(b, kerneltest.Executions()["cuda"])
			shape := Shape{Rows: 256, Adapters: 32, Columns: 4096, Rank: 16, Parts: parts}
			which := make([]int32, shape.Rows)
			for i := range which {
				which[i] = int32(i % shape.Adapters)
			}
			groups := kerneltest.Upload(b, s, Groups(which, MaxGroups(shape.Rows, shape.Adapters)))
			x, a := kerneltest.Upload(b, s, make([]dtype.BF16, shape.Rows*shape.Columns)), kerneltest.Upload(b, s, make([]dtype.BF16, shape.Adapters*shape.stack()*shape.Columns))
			m, y := kerneltest.Upload(b, s, make([]dtype.BF16, shape.Adapters*shape.out()*shape.Rank)), kerneltest.Upload(b, s, make([]dtype.BF16, shape.Rows*shape.out()))
			h := kerneltest.Upload(b, s, make([]float32, shape.Rows*shape.stack()))
			report := func(name string, f func() error) {
				const launches = 200 // one alone would take as long as its start
				took := kerneltest.Measure(b, s, func() (err error) {
					for range launches {
						err = errors.Join(err, f())
					}
					return err
				})
				b.ReportMetric(float64(took.Nanoseconds())/1e3/launches, name+"-µs")
			}
			report("shrink", func() error { return Shrink(s, shape, Down[dtype.BF16]{x, a, groups, h}) })
			report("expand", func() error {
				return Expand(s, shape, Up[dtype.BF16, dtype.BF16]{h, m, groups, y, Span{0, shape.out()}})
			})
		})
	}
}
