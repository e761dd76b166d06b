package embedding

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

var forms = map[row.Form]string{row.Plain: "plain", row.Wide: "wide"}

var shapes = []Shape{{1, 1, 1}, {5, 3, 7}, {9, 50, 64}, {3, 11, 1031}, {40, 20, 576}, {4, 0, 8}}

// TestGather compares copies in all forms with rows of the table, among them those of indices outside.
func TestGather(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for _, shape := range shapes {
					check[float32, float32](t, s, form, shape)
					check[dtype.BF16, dtype.BF16](t, s, form, shape)
					check[dtype.F16, dtype.F16](t, s, form, shape)
					check[dtype.BF16, float32](t, s, form, shape)
					check[dtype.F16, float32](t, s, form, shape)
				}
			})
		}
	}
}

// check compares rows with those of a random table.
func check[T, U row.Number](t *testing.T, s *device.Stream, form row.Form, shape Shape) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(shape.Columns), 3))
	table, indices, out := make([]T, shape.Vocabulary*shape.Columns), make([]int32, shape.Tokens), make([]U, shape.Tokens*shape.Columns)
	for i := range table {
		table[i] = row.From64[T](r.NormFloat64())
	}
	bad := uint32(0)
	for i := range indices {
		indices[i] = int32(r.IntN(shape.Vocabulary + 1))
		if i%4 == 3 {
			indices[i] = []int32{-1, math.MinInt32, math.MaxInt32, int32(shape.Vocabulary)}[i/4%4]
		}
		if indices[i] < 0 || int(indices[i]) >= shape.Vocabulary {
			bad++
		}
	}
	for i := range out {
		out[i] = row.From64[U](math.NaN())
	}
	x := Operands[T, U]{
		Table: kerneltest.Upload(t, s, table), Indices: kerneltest.Upload(t, s, indices), Out: kerneltest.Upload(t, s, out),
		Bad: kerneltest.Upload(t, s, []uint32{100}),
	}
	if err := run(s, form, shape, x); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, x.Out) {
		want := 0.0
		if at := int(indices[i/shape.Columns]); at >= 0 && at < shape.Vocabulary {
			want = row.Float64(table[at*shape.Columns+i%shape.Columns])
		}
		if row.Float64(got) != want {
			t.Fatalf("%+v of %T to %T: element %d is %v, want %v", shape, table, out, i, got, want)
		}
	}
	if got := kerneltest.Download(t, s, x.Bad)[0]; got != 100+bad {
		t.Fatalf("%+v: %d bad indices, want %d", shape, got-100, bad)
	}
	x.Bad = device.Slice[uint32]{}
	if err := errors.Join(run(s, form, shape, x), s.Synchronize(t.Context())); err != nil {
		t.Fatalf("without a counter: %v", err)
	}
}

// TestShapes passes operands that do not fit, and some of no elements.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := kerneltest.Upload(t, s, make([]float32, 12))
	indices, bad := kerneltest.Upload(t, s, make([]int32, 3)), kerneltest.Upload(t, s, make([]uint32, 2))
	for name, shape := range map[string]Shape{"tokens": {4, 3, 4}, "vocabulary": {3, 4, 4}, "columns": {3, 3, 5}, "negative": {3, -3, -4}} {
		if err := Gather(s, shape, Operands[float32, float32]{Table: x, Indices: indices, Out: x}); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	if err := Gather(s, Shape{3, 3, 4}, Operands[float32, float32]{Table: x, Indices: indices, Out: x, Bad: bad}); !errors.Is(err, ErrShape) {
		t.Errorf("two counters: %v, want ErrShape", err)
	}
	if err := Widen(s, Shape{0, 0, 4}, Operands[dtype.BF16, float32]{}); err != nil {
		t.Errorf("no tokens: %v", err)
	}
}

// BenchmarkCPU reports CPU nanoseconds for an element.
func BenchmarkCPU(b *testing.B) {
	shape := Shape{Tokens: 64, Vocabulary: 1000, Columns: 4096}
	for name, open := range kerneltest.VectorUnits() {
		b.Run("bfloat16 to float32/"+name, func(b *testing.B) {
			s := kerneltest.Stream(b, open)
			x := Operands[dtype.BF16, float32]{
				Table: kerneltest.Upload(b, s, make([]dtype.BF16, shape.Vocabulary*shape.Columns)), Indices: kerneltest.Upload(b, s, make([]int32, shape.Tokens)),
				Out: kerneltest.Upload(b, s, make([]float32, shape.Tokens*shape.Columns)),
			}
			took := kerneltest.Measure(b, s, func() error { return Widen(s, shape, x) })
			b.ReportMetric(float64(took.Nanoseconds())/float64(shape.Tokens*shape.Columns), "ns/element")
		})
	}
}
