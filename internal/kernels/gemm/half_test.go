package gemm

import (
	"fmt"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// halves converts numbers to bfloat16.
func halves(x []float32) []dtype.BF16 {
	y := make([]dtype.BF16, len(x))
	for i, v := range x {
		y[i] = dtype.BF16From32(v)
	}
	return y
}

// TestHopper computes products by each method.
func TestHopper(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for _, shape := range []Shape{
			{Layout: NT, M: 1, N: 8, K: 8}, {Layout: NT, M: 3, N: 40, K: 512}, {Layout: NT, M: 11, N: 24, K: 384}, {Layout: NT, M: 29, N: 72, K: 576}, {Layout: NT, M: 60, N: 264, K: 200}, {Layout: NN, M: 130, N: 264, K: 72}, {Layout: TN, M: 136, N: 520, K: 130},
			{Layout: NT, M: 130, N: 264, K: 328, LDA: 336, LDB: 344, LDC: 272}, {Layout: TN, M: 304, N: 264, K: 392},
		} {
			for _, m := range []Form{Tiles, Split, Few, Lean, Plain} {
				if (m == Few || m == Lean) && shape.Layout != NT || m == Lean && leanOf(shape) < 0 {
					continue
				}
				if name == "interp" && !sweep.Every(2, shape.M+int(m)) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v%d/%d", name, shape.Layout, shape.M, m), func(t *testing.T) {
					s := kerneltest.Stream(t, kerneltest.Executions()[name])
					cores := 3
					if info := s.Device().Info(); name == "cuda" && info.Capability != (device.Capability{Major: 9}) {
						t.Skip("needs a GPU of compute capability 9.0")
					} else if name == "cuda" {
						cores = info.Cores
					}
					p := newProblem(shape, true)
					c := kerneltest.Upload(t, s, halves(p.c))
					x := Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: kerneltest.Upload(t, s, halves(p.a)), B: kerneltest.Upload(t, s, halves(p.b)), C: c, Residual: c}
					work := make([]float32, (16+cores)*tileRows*tileCols)
					for i := range work {
						work[i] = float32(math.NaN())
					}
					x.Workspace = kerneltest.Upload(t, s, work)
					if err := HalfIn(s, m, p.shape, x); err != nil {
						t.Fatal(err)
					}
					got := make([]float32, c.Len())
					for i, v := range kerneltest.Download(t, s, c) {
						got[i] = v.Float32()
					}
					p.check(t, got, true, 1.0/256)
				})
			}
		}
	}
}
