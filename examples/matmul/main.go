// Command matmul multiplies two matrices with two kernels: a naive one, and one that copies tiles
// to shared memory first.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

func main() {
	n := flag.Int("n", 200, "number of rows and columns of the matrices")
	flag.Parse()
	if err := run(os.Stdout, sizes{*n, *n, *n}); err != nil {
		fmt.Fprintln(os.Stderr, "matmul:", err)
		os.Exit(1)
	}
}

// launcher is the type of the launchers that the compiler generates for both kernels.
type launcher = func(s *device.Stream, g device.Blocks, a, b, c device.Slice[float32], z sizes) error

// run multiplies matrices of the given sizes with both kernels and compares the products with that
// of a plain Go loop.
func run(w io.Writer, z sizes) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(w, "device:", dev.Info())

	x := newProblem(z)
	want := make([]float32, z.m*z.n)
	began := time.Now()
	matmulLoop(x.a, x.b, want, z)
	fmt.Fprintf(w, "%-10s %v\n", "CPU loop", time.Since(began).Round(time.Microsecond))
	for _, k := range []struct {
		name   string
		launch launcher
	}{{"naive", Naive}, {"tiled", Tiled}} {
		got, took, err := x.multiply(s, k.launch)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		fmt.Fprintf(w, "%-10s %v\n", k.name, took.Round(100*time.Nanosecond))
		for i := range want {
			if got[i] != want[i] {
				return fmt.Errorf("%s: c[%d][%d] = %v, want %v", k.name, i/z.n, i%z.n, got[i], want[i])
			}
		}
	}
	fmt.Fprintf(w, "ok  %d elements twice, largest error 0\n", len(want))
	return nil
}

// problem consists of two matrices to multiply.
type problem struct {
	sizes
	a, b []float32
}

func newProblem(z sizes) problem {
	return problem{z, smallIntegers(z.m * z.k), smallIntegers(z.k * z.n)}
}

// smallIntegers returns n random integers from -4 to 4. Sums of their products are exact in
// float32, so the order of the additions does not matter.
func smallIntegers(n int) []float32 {
	x := make([]float32, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range x {
		x[i] = float32(r.IntN(9) - 4)
	}
	return x
}

// multiply returns the product and the kernel's time, measured by the device.
func (p problem) multiply(s *device.Stream, launch launcher) (c []float32, took time.Duration, err error) {
	da, errA := device.Upload(s, p.a)
	db, errB := device.Upload(s, p.b)
	dc, errC := device.Make[float32](s, p.m*p.n)
	if err := cmp.Or(errA, errB, errC); err != nil {
		return nil, 0, err
	}
	defer da.Close()
	defer db.Close()
	defer dc.Close()

	blocks := device.CoverBlocks(p.n, p.m, device.Dim{X: tile, Y: tile})
	c = make([]float32, p.m*p.n)
	// The first launch also loads the kernel, so only the second one is timed.
	errWarm := launch(s, blocks, da.All(), db.All(), dc.All(), p.sizes)
	start, errStart := s.Record()
	errRun := launch(s, blocks, da.All(), db.All(), dc.All(), p.sizes)
	end, errEnd := s.Record()
	errDown := device.Download(s, c, dc)
	if err := cmp.Or(errWarm, errStart, errRun, errEnd, errDown, s.Synchronize(context.Background())); err != nil {
		return nil, 0, err
	}
	took, err = end.Since(start)
	return c, took, cmp.Or(err, start.Close(), end.Close())
}
