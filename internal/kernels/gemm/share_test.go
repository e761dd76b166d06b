package gemm

import (
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// TestParts shares sums among several numbers of blocks.
func TestParts(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for _, shape := range []Shape{
			{Layout: NT, M: 33, N: 328, K: 1096, LDA: 1104, LDB: 1112, LDC: 331}, {Layout: NT, M: 60, N: 137, K: 520}, {Layout: NT, M: 130, N: 264, K: 584},
		} {
			for parts := 1; parts <= min(mostParts, ceil(shape.K, depth)); parts++ {
				t.Run(fmt.Sprintf("%s/%d/%d", name, shape.M, parts), func(t *testing.T) {
					s := kerneltest.Stream(t, kerneltest.Executions()[name])
					if s.Device().Info().Capability != (device.Capability{Major: 9}) {
						t.Skip("needs a GPU of compute capability 9.0")
					}
					for _, add := range []bool{false, true} {
						p := newProblem(shape, add)
						y := kerneltest.Upload(t, s, halves(p.c))
						x := Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: kerneltest.Upload(t, s, halves(p.a)), B: kerneltest.Upload(t, s, halves(p.b)), C: y, Weights: !add, Workspace: kerneltest.Upload(t, s, poisoned(1<<20))}
						if add {
							x.Residual = y
						}
						if err := HalfInParts(s, parts, p.shape, x); err != nil {
							t.Fatal(err)
						}
						p.check(t, singles(kerneltest.Download(t, s, y)), add, 1.0/256)
					}
				})
			}
		}
	}
}
