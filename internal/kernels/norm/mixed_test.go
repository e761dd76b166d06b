package norm

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

// mixedShapes have rows of a few threads, of a warp and of a block.
var mixedShapes = []Shape{{0, 8}, {1, 4}, {33, 136}, {3, 576}, {2, 4100}}

// TestLayerNormNarrow compares norms of float32 rows with results of bfloat16 with the reference.
func TestLayerNormNarrow(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, shape := range mixedShapes {
				r := rand.New(rand.NewPCG(uint64(shape.Columns), 7))
				x := random[float32](r, shape.Rows*shape.Columns)
				ref := Reference{Weight: random[float32](r, shape.Columns), Bias: random[float32](r, shape.Columns), Epsilon: epsilon, Centred: true}
				o := Narrowed{X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, poison[dtype.BF16](len(x))), Weight: kerneltest.Upload(t, s, ref.Weight), Bias: kerneltest.Upload(t, s, ref.Bias)}
				if err := LayerNormNarrow(s, shape, epsilon, o); err != nil {
					t.Fatal(err)
				}
				got := kerneltest.Download(t, s, o.Y)
				for at := range shape.Rows {
					want, _ := ref.Row(row.Float64s(x[at*shape.Columns:][:shape.Columns]))
					for i, w := range want {
						if y := got[at*shape.Columns+i].Float64(); !(math.Abs(y-w) <= math.Abs(w)/250+1e-5) {
							t.Fatalf("%v: element %d of row %d is %v, want %v", shape, i, at, y, w)
						}
					}
				}
			}
			x := Narrowed{X: kerneltest.Upload(t, s, make([]float32, 6)), Y: kerneltest.Upload(t, s, make([]dtype.BF16, 6)), Weight: kerneltest.Upload(t, s, make([]float32, 6)), Bias: kerneltest.Upload(t, s, make([]float32, 6))}
			if err := LayerNormNarrow(s, Shape{1, 6}, epsilon, x); !errors.Is(err, ErrShape) {
				t.Errorf("rows of 6: %v", err)
			}
		})
	}
}

// TestBackOfHalves compares derivatives of norms of float32 rows given those of results of bfloat16 with those given the same as float32.
func TestBackOfHalves(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for i, shape := range mixedShapes {
				r := rand.New(rand.NewPCG(uint64(shape.Columns), 9))
				n, back := shape.Rows*shape.Columns, RMSNormBack[float32]
				dy := random[dtype.BF16](r, n)
				wide := make([]float32, n)
				for k, v := range dy {
					wide[k] = v.Float32()
				}
				upload := func(n int) device.Slice[float32] { return kerneltest.Upload(t, s, random[float32](r, n)) }
				x := Gradients[float32]{X: upload(n), DX: upload(n), Weight: upload(shape.Columns), DWeight: upload(shape.Columns), Workspace: upload(Workspace(shape))}
				if i%2 == 0 {
					back, x.Add, x.DBias = LayerNormBack[float32], upload(n), upload(shape.Columns)
				}
				y := x
				x.DY, y.DYHalf = kerneltest.Upload(t, s, wide), kerneltest.Upload(t, s, dy)
				y.DX, y.DWeight = upload(n), upload(shape.Columns)
				if y.DBias.Len() > 0 {
					y.DBias = upload(shape.Columns)
				}
				for _, g := range []Gradients[float32]{x, y} {
					if err := back(s, shape, epsilon, g); err != nil {
						t.Fatal(err)
					}
				}
				for k, pair := range [][2]device.Slice[float32]{{x.DX, y.DX}, {x.DWeight, y.DWeight}, {x.DBias, y.DBias}} {
					if pair[0].Len() == 0 {
						continue
					}
					want, got := kerneltest.Download(t, s, pair[0]), kerneltest.Download(t, s, pair[1])
					for e, w := range want {
						if !(math.Abs(float64(got[e]-w)) <= 1e-5*(1+math.Abs(float64(w)))) {
							t.Fatalf("%v: element %d of derivative %d is %v, want %v", shape, e, k, got[e], w)
						}
					}
				}
			}
			bad := Gradients[dtype.BF16]{X: kerneltest.Upload(t, s, make([]dtype.BF16, 8)), DYHalf: kerneltest.Upload(t, s, make([]dtype.BF16, 8)), DX: kerneltest.Upload(t, s, make([]dtype.BF16, 8)), Weight: kerneltest.Upload(t, s, make([]float32, 8))}
			if err := RMSNormBack(s, Shape{1, 8}, epsilon, bad); !errors.Is(err, ErrShape) {
				t.Errorf("rows of bfloat16: %v", err)
			}
		})
	}
}
