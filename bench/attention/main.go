// Command attention measures attention on a GPU. By default it measures one shape, without and with a causal mask, and needs compute
// capability 9.0. With -packed, it measures packed sequences of several shapes; with -back, it measures derivatives. Operands
// are random bfloat16 numbers. The arrays for results are filled with NaNs before the first launch. The time is the median of several launches by the device's clock. Some rows of
// each result are compared with float64.
//
//	attention -batch 4 -heads 32 -length 8192
//	attention -packed
//	attention -back
//
// The file pytorch.py in the same folder measures the derivatives in PyTorch, by cuDNN.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
)

const (
	warmups = 3
	samples = 15
	rows    = 40 // that are checked
)

func main() {
	var s attention.Shape
	flag.IntVar(&s.Batch, "batch", 4, "number of sequences")
	flag.IntVar(&s.Heads, "heads", 32, "number of heads of the queries")
	flag.IntVar(&s.KeyHeads, "keyheads", 32, "number of heads of the keys and values")
	flag.IntVar(&s.Length, "length", 8192, "number of queries and keys of a sequence")
	packed := flag.Bool("packed", false, "measure packed sequences of several shapes instead")
	back := flag.Bool("back", false, "measure derivatives of several shapes instead")
	flag.Parse()
	if err := run(os.Stdout, s, *packed, *back); err != nil {
		fmt.Fprintln(os.Stderr, "attention:", err)
		os.Exit(1)
	}
}

// run measures the shape without and with a causal mask, and writes a line for each, or measures packed sequences or derivatives.
func run(w io.Writer, shape attention.Shape, packed, back bool) error {
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
	if back {
		return runBack(w, s)
	}
	if packed {
		return runPacked(w, s)
	}
	for _, causal := range []bool{false, true} {
		shape.Causal = causal
		took, err := measure(s, shape)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "attention forward, batch %d, heads %d/%d, length %d, causal %t: %v, %.0f TFLOP/s\n", shape.Batch,
			shape.Heads, shape.KeyHeads, shape.Length, causal, took, operations(shape)/took.Seconds()/1e12)
	}
	return nil
}

// operations returns the floating-point operations of both products. A causal mask leaves half of them.
func operations(s attention.Shape) float64 {
	n := 4 * float64(s.Batch*s.Heads) * float64(s.Length) * float64(s.Length) * attention.Dim
	if s.Causal {
		n /= 2
	}
	return n
}

// measure returns the median time of a launch, after checking its results.
func measure(s *device.Stream, shape attention.Shape) (time.Duration, error) {
	x := attention.Tensors{
		Q: random(shape.Batch*shape.Heads*shape.Length*attention.Dim, 1), K: random(shape.Batch*shape.KeyHeads*shape.Length*attention.Dim, 2),
		V: random(shape.Batch*shape.KeyHeads*shape.Length*attention.Dim, 3),
	}
	out := nans(len(x.Q))
	var all [4]*device.Buffer[dtype.BF16]
	for i, host := range [][]dtype.BF16{x.Q, x.K, x.V, out} {
		var err error
		if all[i], err = device.Upload(s, host); err != nil {
			return 0, err
		}
		defer all[i].Close()
	}
	operands := attention.Operands{Q: all[0].All(), K: all[1].All(), V: all[2].All(), O: all[3].All()}
	launch := func() error { return attention.Forward(s, shape, operands) }
	if err := errors.Join(launch(), device.Download(s, out, operands.O), s.Synchronize(context.Background())); err != nil {
		return 0, err
	}
	if err := check(shape, x, out); err != nil {
		return 0, err
	}
	return median(s, launch)
}

// nans returns n NaNs.
func nans(n int) []dtype.BF16 {
	x := make([]dtype.BF16, n)
	for i := range x {
		x[i] = 0x7fff
	}
	return x
}

// random returns n normally distributed numbers.
func random(n int, seed uint64) []dtype.BF16 {
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]dtype.BF16, n)
	for i := range x {
		x[i] = dtype.BF16From32(float32(r.NormFloat64()))
	}
	return x
}

// check compares a sample of rows with those in float64.
func check(shape attention.Shape, x attention.Tensors, out []dtype.BF16) error {
	r := rand.New(rand.NewPCG(4, 5))
	for range rows {
		head, row := r.IntN(shape.Batch*shape.Heads), r.IntN(shape.Length)
		want, size := x.Row(shape, head, row)
		for i, w := range want {
			got := out[(head*shape.Length+row)*attention.Dim+i].Float64()
			if !(math.Abs(got-w) <= size[i]*attention.Tolerance) {
				return fmt.Errorf("head %d, row %d, element %d is %v, want %v", head, row, i, got, w)
			}
		}
	}
	return nil
}

// median returns the median time of several launches.
func median(s *device.Stream, launch func() error) (time.Duration, error) {
	for range warmups {
		if err := launch(); err != nil {
			return 0, err
		}
	}
	var times []time.Duration
	for range samples {
		before, err := s.Record()
		if err != nil {
			return 0, err
		}
		err = launch()
		after, recorded := s.Record()
		if err := errors.Join(err, recorded, s.Synchronize(context.Background())); err != nil {
			return 0, err
		}
		took, err := after.Since(before)
		if err := errors.Join(err, before.Close(), after.Close()); err != nil {
			return 0, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
