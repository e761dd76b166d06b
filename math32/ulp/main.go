// Command ulp finds, for each function of package math32 with one argument, the input with the
// largest error. It tries all float32 values and compares the results with those of package math in
// float64.
//
//	gopherwarp run ./math32/ulp                  on the best device: seconds on a GPU, hours on a CPU
//	gopherwarp run ./math32/ulp -- -func Exp,Log only these functions
//	gopherwarp run ./math32/ulp -- -step 1009    only every 1009th input
//	gopherwarp run ./math32/ulp -- -same         compare the device's bits with the CPU's instead
//
// The command fails if an error exceeds its bound or, with -same, if a bit differs.
// GOPHERWARP_DEVICE selects the device.
//
//gpu:ondemand
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// options are the flags of the command.
type options struct {
	names string
	step  int
	same  bool
}

func main() {
	var o options
	flag.StringVar(&o.names, "func", "", "comma-separated names of the functions to test; default all")
	flag.IntVar(&o.step, "step", 1, "test only every step-th input")
	flag.BoolVar(&o.same, "same", false, "compare the device's values with the CPU's, instead of errors with bounds")
	flag.Parse()
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ulp:", err)
		os.Exit(1)
	}
}

func (o options) run(w io.Writer) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	fmt.Fprintf(w, "device: %v\n", dev.Info())
	wrong := 0
	for which, f := range functions {
		if o.names != "" && !strings.Contains(","+o.names+",", ","+f.name+",") {
			continue
		}
		ok, err := o.try(w, dev, which)
		if err != nil {
			return err
		}
		if !ok {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d functions failed", wrong)
	}
	return nil
}

// try tests a function, prints a line, and reports whether the function passed.
func (o options) try(w io.Writer, dev *device.Device, which int) (bool, error) {
	f, began := functions[which], time.Now()
	if o.same {
		at, same, err := o.compare(dev, which)
		fmt.Fprintf(w, "%-6s same=%v from %#08x %v\n", f.name, same, at, time.Since(began).Round(time.Millisecond))
		return same, err
	}
	worst, err := o.worst(dev, which)
	if err != nil {
		return false, err
	}
	x := math.Float32frombits(worst.at)
	fmt.Fprintf(w, "%-6s %.4f ULP, bound %g, at %#08x = %g: is %g, true %.10g; %v\n", f.name, worst.err, f.bound,
		worst.at, x, value(which, x), reference(which, float64(x)), time.Since(began).Round(time.Millisecond))
	return worst.err <= f.bound, nil
}

// threads returns the number of threads of a launch, limited so that a launch does not exceed the
// range of inputs.
func (o options) threads() int { return min(1<<18, max(1, 1<<32/span/o.step)) }

// worst returns the finding with the largest error.
func (o options) worst(dev *device.Device, which int) (finding, error) {
	var worst finding
	err := o.each(dev, func(s *device.Stream, first uint32) error {
		found := make([]finding, o.threads())
		err := launched(s, found, func(out device.Slice[finding]) error {
			return Survey(s, device.Cover(o.threads(), 128), which, first, uint32(o.step), out)
		})
		for _, f := range found {
			if f.err > worst.err {
				worst = f
			}
		}
		return err
	})
	return worst, err
}

// compare reports whether the device and the CPU compute the same checksums. If not, it returns the
// first input of the first group that differs.
func (o options) compare(dev *device.Device, which int) (at uint32, same bool, err error) {
	host, err := cpu.Open()
	if err != nil {
		return 0, false, err
	}
	defer host.Close()
	beside, err := host.NewStream()
	if err != nil {
		return 0, false, err
	}
	defer beside.Close()
	same = true
	err = o.each(dev, func(s *device.Stream, first uint32) error {
		var found [2][]uint32
		for i, s := range [2]*device.Stream{s, beside} {
			found[i] = make([]uint32, o.threads())
			err := launched(s, found[i], func(out device.Slice[uint32]) error {
				return Sums(s, device.Cover(o.threads(), 128), which, first, uint32(o.step), out)
			})
			if err != nil {
				return err
			}
		}
		for i, sum := range found[0] {
			if sum != found[1][i] && same {
				at, same = first+uint32(i*span*o.step), false
			}
		}
		return nil
	})
	return at, same, err
}

// each calls f for each launch with the bits of its first input.
func (o options) each(dev *device.Device, f func(s *device.Stream, first uint32) error) error {
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	for first := 0; first < 1<<32; first += o.threads() * span * o.step {
		if err := f(s, uint32(first)); err != nil {
			return err
		}
	}
	return nil
}

// launched allocates a buffer, calls launch to fill it, and copies it to host.
func launched[T any](s *device.Stream, host []T, launch func(out device.Slice[T]) error) error {
	out, err := device.Make[T](s, len(host))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := launch(out.All()); err != nil {
		return err
	}
	if err := device.Download(s, host, out); err != nil {
		return err
	}
	return s.Synchronize(context.Background())
}
