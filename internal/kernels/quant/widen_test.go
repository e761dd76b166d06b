package quant

import (
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// TestMultiplyFine compares products of float16 vectors with the reference. The weights of random blocks are moderate.
func TestMultiplyFine(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for format, f := range formats {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				c := trial{Shape: Shape{19, 160}.in(f), rows: 67}
				m, w := upload(t, s, f, c.Shape)
				x := vector[dtype.F16](c.rows * c.Columns)
				o := FineOperands{Rows: c.rows, X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, dirty[float32](c.rows*c.Rows))}
				o.Workspace = kerneltest.Upload(t, s, dirty[float32](FineWorkspace(s.Device(), m, c.rows)))
				if err := MultiplyFine(s, m, o); err != nil {
					t.Fatal(err)
				}
				want, size := reference(w, row.Float64s(x), c.Columns)
				for i, got := range kerneltest.Download(t, s, o.Y) {
					if d := math.Abs(float64(got) - want[i]); !(d <= 0x1p-11*size[i]) {
						t.Fatalf("row %d of vector %d is %v, want %v", i%c.Rows, i/c.Rows, got, want[i])
					}
				}
			})
		}
	}
}

// dirty returns NaNs.
func dirty[T row.Number](n int) []T { return slices.Repeat([]T{row.From64[T](math.NaN())}, n) }

// TestMultiplyGate compares SwiGLU of products with the reference.
func TestMultiplyGate(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for format, f := range map[string]Format{"Q4_1": Q4_1, "Q8_0": Q8_0, "Q5_K": Q5_K} {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				c := trial{Shape: Shape{48, 288}.in(f), rows: mostRows + 1}
				m, w := upload(t, s, f, c.Shape)
				if !GatesMany(s.Device(), m, c.rows) {
					t.Fatal("no kernel")
				}
				testGate(t, s, m, w)
			})
		}
	}
}

func testGate(t *testing.T, s *device.Stream, m Matrix, weights []float32) {
	t.Helper()
	const rows = mostRows + 1
	x := vector[dtype.BF16](rows * m.Columns)
	o := Operands[dtype.BF16, dtype.BF16]{Rows: rows, X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, dirty[dtype.BF16](rows*m.Rows/2))}
	o.Workspace = kerneltest.Upload(t, s, dirty[float32](GateWorkspace(s.Device(), m, rows)))
	if err := MultiplyGate(s, m, o); err != nil {
		t.Fatal(err)
	}
	products, sizes := reference(weights, row.Float64s(x), m.Columns)
	got := kerneltest.Download(t, s, o.Y)
	for v := range rows {
		product, size := products[v*m.Rows:][:m.Rows], sizes[v*m.Rows:][:m.Rows]
		for i := range m.Rows / 2 {
			gate, up := product[i], product[m.Rows/2+i]
			want := gate / (1 + math.Exp(-gate)) * up
			allowed := 0x1p-8*math.Abs(want) + 2*0x1p-8*(size[i]*math.Abs(up)+math.Abs(gate)*size[m.Rows/2+i]) + 1e-6
			if g := got[v*m.Rows/2+i].Float64(); !(math.Abs(g-want) <= allowed) {
				t.Fatalf("element %d of vector %d is %v, want %v within %v", i, v, g, want, allowed)
			}
		}
	}
}

// TestModerate tests which matrices have weights that float16 represents well.
func TestModerate(t *testing.T) {
	for scale, want := range map[float64]bool{1e-6: false, 1e-3: true, 100: true, 400: false, math.Inf(1): false, math.NaN(): false} {
		data := make([]byte, 34)
		bits := dtype.F16From64(scale)
		data[0], data[1], data[2] = byte(bits), byte(bits>>8), 1
		p, err := Pack(Q8_0, data, Shape{1, 32})
		if err != nil {
			t.Fatal(err)
		}
		if p.Moderate != want {
			t.Errorf("with a scale of %v, Moderate is %t", scale, p.Moderate)
		}
	}
}
