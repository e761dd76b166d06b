package cpu

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// ways are the ways to run threads, with their names in the results.
var ways = []struct {
	name    string
	threads cpu.Threads
}{{"twin", cpu.Fastest}, {"AVX2", cpu.AVX2}, {"coroutines", cpu.Coroutines}}

func open(t testing.TB, threads cpu.Threads) *device.Stream {
	t.Helper()
	if threads == cpu.AVX2 && cpu.VectorLanes() == 0 {
		threads = cpu.Fastest
	}
	dev, err := cpu.OpenThreads(threads)
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Close() })
	return s
}

// numbers returns n small integers, whose sums and products are exact.
func numbers(n int) []float32 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.IntN(9) - 4)
	}
	return x
}

// problem is a kernel with its arguments, and plain Go code that does the same.
type problem struct {
	small   int // the size for slow ways
	size    int
	in      int // number of input slices, each of length(size)
	length  func(n int) int
	results func(n int) int
	launch  func(s *device.Stream, x []device.Slice[float32], n int) error // the last slice is the result
	loop    func(x [][]float32, n int)
	work    func(n int) int // elements
	// positive is set for problems that require positive inputs.
	positive bool
}

func square(n int) int { return n * n }
func cube(n int) int   { return n * n * n }
func slab(n int) int   { return n * 12 * 12 }
func same(n int) int   { return n }

// rows returns a grid of w x h threads in blocks that are rows.
func rows(w, h int) device.Grid {
	return device.Grid{Blocks: device.Dim{X: (w + 127) / 128, Y: h}, Block: device.Dim{X: 128}}
}

var problems = map[string]problem{
	"multiply": {
		small: 1 << 12, size: 1 << 20, in: 2, length: same, results: same, work: same,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return Multiply(s, device.Cover(n, 256), x[0], x[1], x[2])
		},
		loop: func(x [][]float32, _ int) { multiplyLoop(x[0], x[1], x[2]) },
	},
	"saxpy": {
		small: 1 << 12, size: 1 << 22, in: 1, length: same, results: same, work: same,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return Saxpy(s, device.Cover(n, 256), x[0], x[1], 3)
		},
		loop: func(x [][]float32, _ int) { saxpyLoop(x[0], x[1], 3) },
	},
	"mandelbrot": {
		small: 40, size: 512, length: same, results: square, work: square,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return Mandelbrot(s, rows(n, n), x[0], n)
		},
		loop: func(x [][]float32, n int) { mandelbrotLoop(x[0], n) },
	},
	"blackScholes": {
		small: 1 << 12, size: 1 << 16, in: 3, length: same, results: same, work: same, positive: true,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return BlackScholes(s, device.Cover(n, 256), x[0], x[1], x[2], x[3])
		},
		loop: func(x [][]float32, _ int) { blackScholesLoop(x[0], x[1], x[2], x[3]) },
	},
	"nbody": {
		small: 100, size: 1 << 10, in: 1, length: func(n int) int { return 3 * n }, results: func(n int) int { return 3 * n }, work: square,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return Nbody(s, device.Cover(n, 256), x[0], x[1], n)
		},
		loop: func(x [][]float32, n int) { nbodyLoop(x[0], x[1], n) },
	},
	"stencil": { // n x 12 x 12 elements: with 512, both volumes fit in a second-level cache
		small: 40, size: 512, in: 1, length: slab, results: slab, work: slab,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			g := device.Grid{Blocks: device.Dim{X: (n + 511) / 512, Y: 6, Z: 12}, Block: device.Dim{X: 512, Y: 2}}
			return Stencil(s, g, x[0], x[1], n, 12, 12)
		},
		loop: func(x [][]float32, n int) { stencilLoop(x[0], x[1], [3]int{n, 12, 12}) },
	},
	"sums": {
		small: 1 << 12, size: 1 << 20, in: 1, length: same, results: func(n int) int { return n / width }, work: same,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return Sums(s, device.Blocks{X: n / width}, x[0], x[1])
		},
		loop: func(x [][]float32, _ int) { sumsLoop(x[0], x[1]) },
	},
	"matmul": {
		small: 64, size: 1024, in: 2, length: square, results: square, work: cube,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return Matmul(s, device.CoverBlocks(n, n, device.Dim{X: tile, Y: tile}), x[0], x[1], x[2], n)
		},
		loop: func(x [][]float32, n int) { matmulLoop(x[0], x[1], x[2], n) },
	},
	"naive": {
		small: 64, size: 512, in: 2, length: square, results: square, work: cube,
		launch: func(s *device.Stream, x []device.Slice[float32], n int) error {
			return Naive(s, device.CoverBlocks(n, n, device.Dim{X: tile, Y: tile}), x[0], x[1], x[2], n)
		},
		loop: func(x [][]float32, n int) { matmulLoop(x[0], x[1], x[2], n) },
	},
}

// host returns the slices of a problem.
func (p problem) host(n int) [][]float32 {
	var x [][]float32
	for range p.in {
		list := numbers(p.length(n))
		for i := range list {
			if p.positive {
				list[i] = (list[i] + 5) / 4
			}
		}
		x = append(x, list)
	}
	return append(x, make([]float32, p.results(n)))
}

// upload returns the slices on the device, and the result's buffer.
func (p problem) upload(t testing.TB, s *device.Stream, x [][]float32) ([]device.Slice[float32], *device.Buffer[float32]) {
	t.Helper()
	var slices []device.Slice[float32]
	var last *device.Buffer[float32]
	for _, h := range x {
		b, err := device.Upload(s, h)
		if err != nil {
			t.Fatal(err)
		}
		slices, last = append(slices, b.All()), b
	}
	return slices, last
}

// TestProblems compares the results of all ways with those of plain Go.
func TestProblems(t *testing.T) {
	for name, p := range problems {
		x := p.host(p.small)
		for _, w := range ways {
			s := open(t, w.threads)
			slices, last := p.upload(t, s, x)
			if err := p.launch(s, slices, p.small); err != nil {
				t.Fatal(err)
			}
			got := make([]float32, p.results(p.small))
			if err := device.Download(s, got, last); err != nil {
				t.Fatal(err)
			}
			if err := s.Synchronize(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.loop(x, p.small)
			for i, want := range x[p.in] {
				if got[i] != want {
					t.Fatalf("%s by %s: element %d is %v, want %v", name, w.name, i, got[i], want)
				}
			}
		}
	}
}

// BenchmarkProblems reports the time per element: per term of a sum, per multiplication of a
// product.
func BenchmarkProblems(b *testing.B) {
	for _, name := range []string{"multiply", "stencil", "sums", "matmul", "naive"} {
		p := problems[name]
		for _, w := range ways {
			n := p.size
			if w.threads != cpu.Fastest {
				n = p.small
			}
			b.Run(fmt.Sprintf("%s/%s", name, w.name), func(b *testing.B) { p.bench(b, open(b, w.threads), n) })
		}
		b.Run(name+"/loop", func(b *testing.B) {
			x := p.host(p.size)
			for b.Loop() {
				p.loop(x, p.size)
			}
			perElement(b, p.work(p.size))
		})
	}
}

func (p problem) bench(b *testing.B, s *device.Stream, n int) {
	slices, _ := p.upload(b, s, p.host(n))
	for b.Loop() {
		if err := p.launch(s, slices, n); err != nil {
			b.Fatal(err)
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	perElement(b, p.work(n))
}

func perElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
}

// BenchmarkLaunch measures the cost of a launch that does nothing.
func BenchmarkLaunch(b *testing.B) {
	s := open(b, cpu.Fastest)
	b.ReportAllocs()
	for b.Loop() {
		if err := Nothing(s, device.Cover(1, 1)); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Synchronize(b.Context()); err != nil {
		b.Fatal(err)
	}
}
