package gemm

import (
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestShares divides the steps of tiles among several numbers of blocks: parts of tiles, whole tiles, and parts of several tiles.
// The interpreter runs a third of the cases.
func TestShares(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for i, blocks := range []int{1, 2, 3, 5, 8, 13} {
			t.Run(fmt.Sprintf("%s/%d", name, blocks), func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				if s.Device().Info().Capability != (device.Capability{Major: 9}) {
					t.Skip("needs a GPU of compute capability 9.0")
				}
				for k, shape := range []Shape{{Layout: NT, M: 140, N: 520, K: 200}, {Layout: TN, M: 136, N: 264, K: 330}} {
					if name == "cuda" || sweep.Every(3, i+k) {
						share(t, s, blocks, shape)
					}
				}
			})
		}
	}
}

// share computes a product as if the device had a number of multiprocessors.
func share(t *testing.T, s *device.Stream, blocks int, shape Shape) {
	t.Helper()
	problem := newProblem(shape, false)
	c := kerneltest.Upload(t, s, halves(problem.c))
	x := halfOf[dtype.BF16, dtype.BF16]{kernels: bf16Kernels, join: JoinBF16}
	x.Operands = Operands[dtype.BF16, dtype.BF16, dtype.BF16]{
		A: kerneltest.Upload(t, s, halves(problem.a)), B: kerneltest.Upload(t, s, halves(problem.b)), C: c, Weights: true,
		Workspace: kerneltest.Upload(t, s, poisoned((blocks+9)*tileRows*tileCols)),
	}.filled()
	p := planner[dtype.BF16, dtype.BF16]{problem.shape, shape.N, s.Device().Info(), x}
	p.info.Cores = blocks
	if !p.fits(Split) {
		t.Fatalf("Split does not fit %+v", shape)
	}
	if err := p.split(s); err != nil {
		t.Fatal(err)
	}
	problem.check(t, singles(kerneltest.Download(t, s, c)), false, 1.0/256)
}

// TestForms checks which form is chosen for the shapes of an 8B model on 132 multiprocessors.
func TestForms(t *testing.T) {
	for _, test := range []struct {
		shape Shape
		want  Form
	}{
		{Shape{Layout: NT, M: 4096, N: 4096, K: 4096}, Tiles}, {Shape{Layout: NT, M: 2048, N: 2048, K: 2048}, Tiles},
		{Shape{Layout: NT, M: 256, N: 4096, K: 4096}, Split}, {Shape{Layout: NT, M: 256, N: 4096, K: 14336}, Split},
		{Shape{Layout: NT, M: 256, N: 28672, K: 4096}, Tiles}, {Shape{Layout: TN, M: 512, N: 512, K: 8192}, Split},
	} {
		if got := formOf(jobOf(test.shape, test.shape.N, None), 132); got != test.want {
			t.Errorf("%+v: %v, want %v", test.shape, got, test.want)
		}
	}
}
