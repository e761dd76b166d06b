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
)

// TestPlan tests that slices cover all blocks of a row, that each has a chunk, and that a block of threads has the memory it needs.
func TestPlan(t *testing.T) {
	for blocks := chunkSize; blocks < 1000; blocks += 1 + blocks/100 {
		for rows := 1; rows <= batchRows; rows++ {
			for name, f := range formats {
				m := Matrix{Shape: Shape{100, blocks * BlockSize}, Format: f}
				plans := []plan{
					planIn[float32](formOf[float32](132, m, rows, true), m, min(rows, maxVectors), true),
					planIn[dtype.BF16](formOf[dtype.BF16](132, m, rows, true), m, min(rows, maxVectors), true),
				}
				if f.dots() {
					plans = append(plans,
						planIn[float32](formOf[float32](132, m, rows, false), m, rows, false),
						planIn[dtype.BF16](formOf[dtype.BF16](132, m, rows, false), m, rows, false))
				}
				for _, p := range plans {
					last := blocks - (p.slices-1)*p.share
					if p.share < chunkSize || last < chunkSize || last > p.share || p.grid().Shared > mostBytes {
						t.Fatalf("%s, %d blocks, %d vectors of %d parts: %d slices of %d blocks, %d bytes", name, blocks, rows, p.parts, p.slices, p.share, p.grid().Shared)
					}
				}
			}
		}
	}
}

// TestMultiplyIn tests forms that Multiply does not choose, with more blocks of threads than tiles and with fewer.
func TestMultiplyIn(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		t.Run(name, func(t *testing.T) {
			s, shape := kerneltest.Stream(t, kerneltest.Executions()[name]), Shape{70, 736}
			m, w := upload(t, s, Q4_1, shape)
			for _, rows := range []int{1, 5} {
				for _, f := range []Form{{128, 1}, {256, 3}, {256, 9}} {
					inForm[float32](t, s, formTrial{f, m, w, rows})
					inForm[dtype.BF16](t, s, formTrial{f, m, w, rows})
				}
			}
			inForm[float32](t, s, formTrial{Form{384, 9}, m, w, 5})
			for _, format := range []Format{Q4_K, Q5_K, Q6_K} {
				m, w := upload(t, s, format, Shape{70, 768})
				inForm[float32](t, s, formTrial{Form{256, 3}, m, w, 1})
				inForm[dtype.BF16](t, s, formTrial{Form{128, 3}, m, w, 1})
				inForm[float32](t, s, formTrial{Form{128, 9}, m, w, 3})
				m, w = upload(t, s, format, Shape{16 * 40, 256}) // more tiles than the kernel gemv has the sums of
				inForm[dtype.BF16](t, s, formTrial{Form{128, 3}, m, w, 1})
			}
			o := Operands[float32, float32]{Rows: 1, X: kerneltest.Upload(t, s, vector[float32](shape.Columns)), Y: kerneltest.Upload(t, s, make([]float32, shape.Rows))}
			for _, f := range []Form{{100, 1}, {0, 1}, {1024, 1}, {256, 0}, {384, 1}} {
				if err := MultiplyIn(s, f, m, o); !errors.Is(err, ErrShape) {
					t.Errorf("form %+v: %v", f, err)
				}
			}
		})
	}
}

// TestFormats tests that products that no kernel for GPUs computes in a format are refused.
func TestFormats(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		t.Run(name, func(t *testing.T) {
			s, shape := kerneltest.Stream(t, kerneltest.Executions()[name]), Shape{16, 256}
			m, _ := upload(t, s, Q5_K, shape)
			o := Operands[float32, float32]{Rows: 5, X: kerneltest.Upload(t, s, vector[float32](5*shape.Columns)), Y: kerneltest.Upload(t, s, make([]float32, 5*shape.Rows))}
			if err := MultiplyIn(s, Form{256, 1}, m, o); !errors.Is(err, ErrShape) {
				t.Errorf("MultiplyIn of 5 vectors: %v", err)
			}
		})
	}
}

// formTrial is a product to test in a form.
type formTrial struct {
	form    Form
	m       Matrix
	weights []float32
	rows    int
}

// inForm multiplies vectors in a form.
func inForm[X Element](t *testing.T, s *device.Stream, c formTrial) {
	t.Helper()
	f, m, x := c.form, c.m, vector[X](c.rows*c.m.Columns)
	o := Operands[X, float32]{Rows: c.rows, X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, make([]float32, c.rows*m.Rows))}
	if err := MultiplyIn(s, f, m, o); err != nil {
		t.Fatal(err)
	}
	want, size := reference(c.weights, row.Float64s(x), m.Columns)
	for i, got := range kerneltest.Download(t, s, o.Y) {
		if !(math.Abs(float64(got)-want[i]) <= 4e-6*size[i]) {
			t.Fatalf("form %+v: row %d of vector %d is %v, want %v", f, i%m.Rows, i/m.Rows, got, want[i])
		}
	}
}

// TestUnaligned tests results that do not begin at a multiple of 16 bytes.
func TestUnaligned(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for _, f := range []Format{Q4_1, Q6_K} {
			t.Run(name+"/"+layouts[f].name, func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				for _, rows := range []int{2, 9} {
					unaligned(t, s, formTrial{m: Matrix{Shape: Shape{37, 736}.in(f), Format: f}, rows: rows})
				}
			})
		}
	}
}

// unaligned multiplies vectors by a matrix of the shape and the format of a trial.
func unaligned(t *testing.T, s *device.Stream, c formTrial) {
	t.Helper()
	m, w := upload(t, s, c.m.Format, c.m.Shape)
	x := vector[float32](c.rows * m.Columns)
	y := kerneltest.Upload(t, s, make([]float32, 1+c.rows*m.Rows))
	o := Operands[float32, float32]{Rows: c.rows, X: kerneltest.Upload(t, s, x), Y: y.Slice(1, y.Len())}
	if err := Multiply(s, m, o); !errors.Is(err, ErrShape) {
		t.Errorf("without a workspace: %v", err)
	}
	o.Workspace = kerneltest.Upload(t, s, slices.Repeat([]float32{float32(math.NaN())}, o.Y.Len()))
	if err := Multiply(s, m, o); err != nil {
		t.Fatal(err)
	}
	want, size := reference(w, row.Float64s(x), m.Columns)
	for i, got := range kerneltest.Download(t, s, o.Y) {
		if !(math.Abs(float64(got)-want[i]) <= 4e-6*size[i]) {
			t.Fatalf("row %d of vector %d is %v, want %v", i%m.Rows, i/m.Rows, got, want[i])
		}
	}
}
