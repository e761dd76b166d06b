package gemm

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestParts shares sums among several numbers of blocks. The interpreter runs one case of each shape.
func TestParts(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for i, shape := range []Shape{
			{Layout: NT, M: 33, N: 328, K: 1096, LDA: 1104, LDB: 1112, LDC: 336}, {Layout: NT, M: 60, N: 136, K: 520}, {Layout: NT, M: 100, N: 136, K: 520}, {Layout: NT, M: 130, N: 264, K: 584},
		} {
			for parts := 1; parts <= min(mostParts, ceil(shape.K, depth)); parts++ {
				t.Run(fmt.Sprintf("%s/%d/%d", name, shape.M, parts), func(t *testing.T) {
					s := kerneltest.Stream(t, kerneltest.Executions()[name])
					if s.Device().Info().Capability != (device.Capability{Major: 9}) {
						t.Skip("needs a GPU of compute capability 9.0")
					}
					for k, add := range []bool{false, true} {
						if name == "interp" && !sweep.Every(16, 7*i+parts+8*k) {
							continue
						}
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

// TestEqualRows multiplies equal rows by columns whose sum depends on the order of additions: the rows of C are equal, too, whichever
// block of a cluster adds their sums.
func TestEqualRows(t *testing.T) {
	const parts, n = 3, 136
	for _, name := range []string{"interp", "cuda"} {
		for _, m := range []int{60, 100} {
			t.Run(fmt.Sprintf("%s/%d", name, m), func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				if s.Device().Info().Capability != (device.Capability{Major: 9}) {
					t.Skip("needs a GPU of compute capability 9.0")
				}
				shape := Shape{Layout: NT, M: m, N: n, K: parts * depth}
				a, b := make([]float32, m*shape.K), make([]float32, n*shape.K)
				for i := range a {
					a[i] = 1
				}
				for i := range n {
					b[i*shape.K], b[i*shape.K+depth], b[i*shape.K+2*depth] = 1<<26, -1<<26, 1
				}
				c := kerneltest.Upload(t, s, halves(make([]float32, m*n)))
				x := Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: kerneltest.Upload(t, s, halves(a)), B: kerneltest.Upload(t, s, halves(b)), C: c, Workspace: kerneltest.Upload(t, s, poisoned(1<<20))}
				if err := HalfInParts(s, parts, shape, x); err != nil {
					t.Fatal(err)
				}
				for i, got := range singles(kerneltest.Download(t, s, c)) {
					if got != 1 {
						t.Fatalf("element %d of row %d is %v, want 1", i%n, i/n, got)
					}
				}
			})
		}
	}
}

// TestMisplaced multiplies matrices that do not begin at multiples of 16 bytes, for which the form Few has no loads and stores, and other
// forms have.
func TestMisplaced(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["interp"])
	p := newProblem(Shape{Layout: NT, M: 20, N: 136, K: 72}, false)
	for misplaced := range 3 {
		var m [3]device.Slice[dtype.BF16]
		for i, x := range [][]float32{p.a, p.b, p.c} {
			m[i] = kerneltest.Upload(t, s, halves(x))
			if i == misplaced {
				m[i] = kerneltest.Upload(t, s, halves(append([]float32{0}, x...))).Slice(1, 1+len(x))
			}
		}
		x := Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: m[0], B: m[1], C: m[2]}
		if err := HalfIn(s, Few, p.shape, x); !errors.Is(err, ErrShape) {
			t.Errorf("operand %d: error %v, want ErrShape", misplaced, err)
		}
		if err := Half(s, p.shape, x); err != nil {
			t.Fatal(err)
		}
		p.check(t, singles(kerneltest.Download(t, s, m[2])), false, 1.0/256)
	}
}

// TestSlim computes products with tiles of 64 columns, as on a device with many multiprocessors.
func TestSlim(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for parts := 1; parts <= 4; parts++ {
			t.Run(fmt.Sprintf("%s/%d", name, parts), func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				if s.Device().Info().Capability != (device.Capability{Major: 9}) {
					t.Skip("needs a GPU of compute capability 9.0")
				}
				problem := newProblem(Shape{Layout: NT, M: 50, N: 136, K: 584}, false)
				c := kerneltest.Upload(t, s, halves(problem.c))
				p, err := plan(s, problem.shape, bf16Half(Operands[dtype.BF16, dtype.BF16, dtype.BF16]{
					A: kerneltest.Upload(t, s, halves(problem.a)), B: kerneltest.Upload(t, s, halves(problem.b)), C: c, Weights: true,
					Workspace: kerneltest.Upload(t, s, poisoned(1<<17)),
				}))
				if err != nil {
					t.Fatal(err)
				}
				if p.info.Cores = 132; !p.slim() {
					t.Fatalf("%+v has no tiles of 64 columns", p.Shape)
				}
				if err := p.few(s, parts); err != nil {
					t.Fatal(err)
				}
				problem.check(t, singles(kerneltest.Download(t, s, c)), false, 1.0/256)
			})
		}
	}
}

// TestCast computes products with tiles of 64, 128 and 192 columns. One has fewer steps than a block has stages, one has a row of tiles
// outside the matrix. The interpreter computes one of the products with each width.
func TestCast(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for i, shape := range []Shape{{Layout: NT, M: 190, N: 200, K: 1032}, {Layout: NT, M: 100, N: 400, K: 200, LDA: 208, LDB: 216, LDC: 408}} {
			for panels := 1; panels <= castWidest; panels++ {
				if name == "interp" && !sweep.Every(2, i+panels) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%d", name, shape.M, panels), func(t *testing.T) {
					s := kerneltest.Stream(t, kerneltest.Executions()[name])
					if s.Device().Info().Capability != (device.Capability{Major: 9}) {
						t.Skip("needs a GPU of compute capability 9.0")
					}
					problem := newProblem(shape, false)
					c := kerneltest.Upload(t, s, halves(problem.c))
					x := Operands[dtype.BF16, dtype.BF16, dtype.BF16]{
						A: kerneltest.Upload(t, s, halves(problem.a)), B: kerneltest.Upload(t, s, halves(problem.b)), C: c, Weights: i == 0,
					}
					p, err := plan(s, problem.shape, bf16Half(x))
					if err != nil {
						t.Fatal(err)
					}
					if err := p.cast(s, panels); err != nil {
						t.Fatal(err)
					}
					problem.check(t, singles(kerneltest.Download(t, s, c)), false, 1.0/256)
				})
			}
		}
	}
}

// TestCastPanels checks how wide tiles of cast are on 132 multiprocessors, and for which products few is chosen.
func TestCastPanels(t *testing.T) {
	for _, test := range []struct{ m, n, k, want int }{
		{256, 6144, 4096, 3}, {256, 6336, 4096, 3}, {256, 6337, 4096, 0}, {256, 4096, 4096, 2}, {256, 4224, 4096, 2}, {256, 4225, 4096, 3}, {256, 6144, 14336, 3},
		{256, 4096, 8192, 2}, {256, 4096, 8256, 0}, {256, 4096, 14336, 0}, {256, 1024, 4096, 0}, {257, 6144, 4096, 0}, {64, 12288, 4096, 0}, {65, 12288, 4096, 3},
		{128, 12288, 4096, 3}, {128, 6144, 4096, 2}, {128, 4096, 4096, 1}, {128, 2048, 4096, 0}, {256, 28672, 4096, 0},
	} {
		if got := castPanelsOf(Shape{Layout: NT, M: test.m, N: test.n, K: test.k}, 132); got != test.want {
			t.Errorf("%+v: %d panels", test, got)
		}
	}
}

// TestSlimParts checks how many blocks share a tile of 64 columns.
func TestSlimParts(t *testing.T) {
	for _, test := range []struct{ m, n, k, want int }{
		{64, 6144, 4096, 2}, {64, 4096, 4096, 3}, {33, 4096, 4096, 3}, {32, 4096, 4096, 0}, {64, 128, 64, 1}, {64, 28672, 4096, 0}, {64, 4096, 14336, 3}, {65, 4096, 4096, 0},
	} {
		if got := slimParts(Shape{Layout: NT, M: test.m, N: test.n, K: test.k}, 132); got != test.want {
			t.Errorf("%+v: %d parts", test, got)
		}
	}
}

// TestPartsOf checks how many blocks share a tile, for the shapes of an 8B model and others.
func TestPartsOf(t *testing.T) {
	for _, test := range []struct{ m, n, k, want int }{
		{64, 6144, 4096, 4}, {64, 4096, 4096, 4}, {64, 28672, 4096, 1}, {64, 4096, 14336, 6}, {64, 4096, 8192, 4}, {64, 4096, 10240, 5}, {64, 128, 64, 1}, {64, 128, 192, 2},
		{128, 6144, 4096, 2}, {128, 4096, 4096, 3}, {256, 6144, 4096, 1}, {256, 4096, 4096, 2}, {256, 4096, 14336, 2}, {256, 128, 64, 1},
	} {
		if got := partsOf(Shape{Layout: NT, M: test.m, N: test.n, K: test.k}, 132); got != test.want {
			t.Errorf("%+v: %d parts", test, got)
		}
	}
}

// TestEights multiplies for a C whose rows are not groups of eight elements, which the form Few cannot store, and other forms can.
func TestEights(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["interp"])
	for _, shape := range []Shape{{Layout: NT, M: 20, N: 137, K: 72}, {Layout: NT, M: 20, N: 136, K: 72, LDC: 139}} {
		p := newProblem(shape, false)
		c := kerneltest.Upload(t, s, halves(p.c))
		work := kerneltest.Upload(t, s, poisoned(Workspace(s.Device(), shape, None)))
		x := Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: kerneltest.Upload(t, s, halves(p.a)), B: kerneltest.Upload(t, s, halves(p.b)), C: c, Workspace: work}
		if err := HalfIn(s, Few, shape, x); !errors.Is(err, ErrShape) {
			t.Errorf("%+v: error %v, want ErrShape", shape, err)
		}
		if err := Half(s, shape, x); err != nil {
			t.Fatal(err)
		}
		p.check(t, singles(kerneltest.Download(t, s, c)), false, 1.0/256)
	}
}

// TestCastSites checks that no thread of cast can fault: a block that ended early would leave the other one of its cluster waiting, and would
// receive copies after its end.
func TestCastSites(t *testing.T) {
	for _, k := range []*driver.Kernel{cast64BF16Kernel, cast128BF16Kernel, cast192BF16Kernel} {
		if len(k.Sites) > 0 {
			t.Errorf("%s can fault: %+v", k.Name, k.Sites)
		}
	}
}
