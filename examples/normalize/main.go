// Command normalize divides an array by its sum with three kernels: partial sums in shared memory,
// the sum of the partial sums, and the division.
package main

import (
	"cmp"
	"context"
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
)

// tolerance is the largest relative error that is accepted: the kernels sum in float32.
const tolerance = 1e-5

func main() {
	n := flag.Int("n", 1<<20, "number of elements")
	flag.Parse()
	if err := run(os.Stdout, *n); err != nil {
		fmt.Fprintln(os.Stderr, "normalize:", err)
		os.Exit(1)
	}
}

// run normalizes n random numbers and compares them with the result of a plain Go loop.
func run(w io.Writer, n int) error {
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

	x := make([]float32, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = r.Float32() + 0.5
	}
	want := slices.Clone(x)
	began := time.Now()
	if err := normalize(s, x); err != nil {
		return err
	}
	fmt.Fprintf(w, "device with copies  %v\n", time.Since(began).Round(time.Microsecond))
	began = time.Now()
	normalizeLoop(want)
	fmt.Fprintf(w, "CPU loop            %v\n", time.Since(began).Round(time.Microsecond))

	off := relativeError(x, want)
	if !(off <= tolerance) {
		return fmt.Errorf("largest relative error %g in %d elements, want at most %g", off, n, tolerance)
	}
	fmt.Fprintf(w, "ok  %d elements, largest relative error %.2g\n", n, off)
	return nil
}

// normalize divides x by its sum on the stream's device.
func normalize(s *device.Stream, x []float32) error {
	// More blocks than elements would have nothing to sum, and more than 256 blocks would add more
	// work to singleSum than they save.
	blocks := min(256, (len(x)+block-1)/block)
	data, errX := device.Upload(s, x)
	partial, errP := device.Make[float32](s, blocks)
	sum, errS := device.Make[float32](s, 1)
	if err := cmp.Or(errX, errP, errS); err != nil {
		return err
	}
	defer data.Close()
	defer partial.Close()
	defer sum.Close()
	return cmp.Or(
		PartialSums(s, device.Blocks{X: blocks}, data.All(), partial.All()),
		SingleSum(s, device.Cover(1, 1), partial.All(), sum.All()),
		Divide(s, device.Cover(len(x), block), data.All(), sum.All()),
		device.Download(s, x, data),
		s.Synchronize(context.Background()),
	)
}

// relativeError returns the largest |got-want|/|want|, or NaN if any element is NaN.
func relativeError(got, want []float32) float64 {
	largest := 0.0
	for i, w := range want {
		off := math.Abs(float64(got[i])-float64(w)) / math.Abs(float64(w))
		largest = max(largest, off)
	}
	return largest
}
