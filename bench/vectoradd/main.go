// Command vectoradd measures the addition of two large arrays on a device. The inputs are random, the output
// contains NaNs before the first launch, the time is the median of several samples by the device's clock, and
// the program checks every element. Its twin, vectoradd.cu, does the same with a kernel that nvcc compiles, and
// prints its result in the same form.
//
//	vectoradd -n 268435456
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

const (
	warmups  = 5
	samples  = 9
	launches = 10 // per sample
)

func main() {
	n := flag.Int("n", 1<<28, "number of float32 elements")
	flag.Parse()
	if err := run(os.Stdout, *n); err != nil {
		fmt.Fprintln(os.Stderr, "vectoradd:", err)
		os.Exit(1)
	}
}

// run measures, checks, and writes a line with the median time of a launch and the bandwidth,
// counted as two reads and one write of each element.
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

	a, b, c := make([]float32, n), make([]float32, n), make([]float32, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		a[i], b[i], c[i] = r.Float32(), r.Float32(), float32(math.NaN())
	}
	took, err := measure(s, a, b, c)
	if err != nil {
		return err
	}
	for i, got := range c {
		if want := a[i] + b[i]; got != want {
			return fmt.Errorf("c[%d] = %v, want %v", i, got, want)
		}
	}
	_, err = fmt.Fprintf(w, "add %d: %.4f ms %.0f GB/s, checked, %v\n",
		n, took.Seconds()*1e3, float64(n)*12/took.Seconds()/1e9, dev.Info())
	return err
}

// measure adds a and b into c and returns the median time of a launch.
func measure(s *device.Stream, a, b, c []float32) (time.Duration, error) {
	da, errA := device.Upload(s, a)
	db, errB := device.Upload(s, b)
	dc, errC := device.Upload(s, c)
	if err := cmp.Or(errA, errB, errC); err != nil {
		return 0, err
	}
	defer da.Close()
	defer db.Close()
	defer dc.Close()

	launch := func(times int) error {
		for range times {
			if err := Add(s, device.Cover(len(c), 256).Blocks, da.All(), db.All(), dc.All()); err != nil {
				return err
			}
		}
		return nil
	}
	if err := launch(warmups); err != nil {
		return 0, err
	}
	times := make([]time.Duration, samples)
	for i := range times {
		d, err := sample(s, func() error { return launch(launches) })
		if err != nil {
			return 0, err
		}
		times[i] = d / launches
	}
	slices.Sort(times)
	return times[samples/2], cmp.Or(device.Download(s, c, dc), s.Synchronize(context.Background()))
}

// sample returns the device's time for the work that the function enqueues.
func sample(s *device.Stream, work func() error) (time.Duration, error) {
	start, errStart := s.Record()
	errWork := work()
	end, errEnd := s.Record()
	if err := cmp.Or(errStart, errWork, errEnd, s.Synchronize(context.Background())); err != nil {
		return 0, err
	}
	d, err := end.Since(start)
	return d, cmp.Or(err, start.Close(), end.Close())
}
