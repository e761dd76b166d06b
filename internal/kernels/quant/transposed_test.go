package quant

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// transposedTrials have partial tiles, matrices without rows, and no vectors.
var transposedTrials = []trial{{Shape{1, 256}, 1, false}, {Shape{16, 512}, 2, true}, {Shape{37, 768}, 9, true}, {Shape{40, 256}, 17, false}, {Shape{0, 256}, 2, false}, {Shape{5, 256}, 0, false}}

// TestMultiplyTransposed compares products with the reference, in formats that have all kernels. Executions on the CPU have half of the
// products in each format.
func TestMultiplyTransposed(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for k, f := range []Format{Q4_1, Q8_0, Q6_K} {
			t.Run(name+"/"+layouts[f].name, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, c := range transposedTrials {
					if name != "cuda" && !sweep.Every(2, i/2+k) {
						continue
					}
					transposedTest(t, s, f, c, MultiplyTransposed[float32])
					if name == "cuda" || sweep.Every(2, i) {
						transposedTest(t, s, f, c, MultiplyTransposed[dtype.BF16])
					}
					if name == "cuda" || sweep.Every(2, i+1) {
						transposedTest(t, s, f, c, func(s *device.Stream, m Matrix, x Operands[float32, float32]) error {
							return m.transposed32(s, x, 16)
						})
					}
				}
			})
		}
	}
}

// transposedTest compares the products of a function with the reference.
func transposedTest[T Element](t *testing.T, s *device.Stream, f Format, c trial, multiply func(*device.Stream, Matrix, Operands[T, T]) error) {
	t.Helper()
	if c.Rows*c.rows == 0 && !c.add {
		emptyTest(t, s, f, c)
		return
	}
	m, w := upload(t, s, f, c.Shape)
	x, y := vector[T](c.rows*c.Rows), vector[T](c.rows*c.Columns)
	if !c.add {
		y = slices.Repeat([]T{row.From64[T](math.NaN())}, len(y))
	}
	o := Operands[T, T]{Rows: c.rows, X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, y), Add: c.add}
	o.Workspace = kerneltest.Upload(t, s, slices.Repeat([]float32{float32(math.NaN())}, WorkspaceTransposed[T](s.Device(), m, c.rows)))
	if err := multiply(s, m, o); err != nil {
		t.Fatalf("%T, %+v: %v", o.X, c, err)
	}
	turned := make([]float32, len(w))
	for i, v := range w {
		turned[i%c.Columns*c.Rows+i/c.Columns] = v
	}
	want, size := reference(turned, row.Float64s(x), c.Rows)
	relative, absolute := row.Rounding[T]()
	for i, got := range kerneltest.Download(t, s, o.Y) {
		want := want[i]
		if c.add {
			want += row.Float64(y[i])
		}
		if d := math.Abs(row.Float64(got) - want); !(d <= max(relative, 4e-6)*size[i]+relative*math.Abs(want)+absolute) {
			t.Fatalf("%T, %+v: column %d of vector %d is %v, want %v", got, c, i%c.Columns, i/c.Columns, got, want)
		}
	}
}

// emptyTest multiplies no vectors, or vectors of no elements, whose products are 0.
func emptyTest(t *testing.T, s *device.Stream, f Format, c trial) {
	t.Helper()
	m, _ := upload(t, s, f, c.Shape)
	y := slices.Repeat([]float32{float32(math.NaN())}, c.rows*c.Columns)
	o := Operands[float32, float32]{Rows: c.rows, X: kerneltest.Upload(t, s, make([]float32, c.rows*c.Rows)), Y: kerneltest.Upload(t, s, y)}
	o.Workspace = kerneltest.Upload(t, s, make([]float32, WorkspaceTransposed[float32](s.Device(), m, c.rows)))
	if err := MultiplyTransposed(s, m, o); err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	for i, got := range kerneltest.Download(t, s, o.Y) {
		if got != 0 {
			t.Fatalf("%+v: product %d is %v", c, i, got)
		}
	}
}

// TestTransposedShapes passes operands that do not fit.
func TestTransposedShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	m, _ := upload(t, s, Q4_1, Shape{3, 64})
	x, y, work := kerneltest.Upload(t, s, make([]float32, 3)), kerneltest.Upload(t, s, make([]float32, 64)), kerneltest.Upload(t, s, make([]float32, 3*65))
	for i, bad := range []Operands[float32, float32]{{1, y, y, false, work}, {1, x, x, false, work}, {1, x, y, false, work.Slice(0, 10)}, {2, x, y, false, work}, {-1, x, y, false, work}} {
		if err := MultiplyTransposed(s, m, bad); !errors.Is(err, ErrShape) {
			t.Errorf("bad operands %d: %v", i, err)
		}
	}
}

// BenchmarkTransposed reports GFLOP per CPU second, for a matrix of a small model.
func BenchmarkTransposed(b *testing.B) {
	c := trial{Shape{1536, 576}, 256, false}
	for name, open := range kerneltest.VectorUnits() {
		b.Run(name, func(b *testing.B) {
			s := kerneltest.Stream(b, open)
			m, _ := upload(b, s, Q4_1, c.Shape)
			o := Operands[float32, float32]{Rows: c.rows, X: kerneltest.Upload(b, s, vector[float32](c.rows*c.Shape.Rows)), Y: kerneltest.Upload(b, s, make([]float32, c.rows*c.Columns))}
			o.Workspace = kerneltest.Upload(b, s, make([]float32, WorkspaceTransposed[float32](s.Device(), m, c.rows)))
			took := kerneltest.Measure(b, s, func() error { return MultiplyTransposed(s, m, o) })
			kerneltest.ReportRate(b, 2*float64(c.rows)*float64(c.Shape.Rows)*float64(c.Columns), took)
		})
	}
}
