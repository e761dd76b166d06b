// Launch measures the cost of giving work to a GPU: launches of empty kernels with 0 to 16 arguments, 10,000 launches
// and the wait for their end, the replay of a graph of 100 small kernels, and calls of libraries and of the driver.
//
//	go run ./bench/launch
//
// Its twin, launch.cu, does the same in CUDA C++. Compiled as a library, it is measured in the same process,
// in alternation with this program, sample by sample, so that both run under the same conditions:
//
//	nvcc -O3 -shared -Xcompiler -fPIC -o /tmp/launch.so bench/launch/launch.cu -lcublas -lcufft -ldl
//	go run ./bench/launch -peer /tmp/launch.so
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

const (
	samples  = 101
	launches = 200 // per sample; the driver's queue holds more
	many     = 10_000
	steps    = 100 // kernels of the graph
	replays  = 5   // runs of the graph per sample; the last one counts
	elements = 1024
)

func main() {
	peer := flag.String("peer", "", "the `library` compiled from launch.cu, to measure alternately")
	asJSON := flag.String("json", os.DevNull, "also write the results to this `file`, for gopherwarp bench -add")
	flag.Parse()
	f, err := os.Create(*asJSON)
	if err == nil {
		err = errors.Join(run(context.Background(), output{os.Stdout, f}, *peer, samples), f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "launch:", err)
		os.Exit(1)
	}
}

// output is where the text and the JSON are written.
type output struct{ text, json io.Writer }

// run measures the given number of samples.
func run(ctx context.Context, w output, peer string, samples int) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	b := &bench{ctx: ctx, stream: s, samples: samples}
	if peer != "" {
		if err := b.load(peer); err != nil {
			return err
		}
	}
	x, err := device.Make[float32](s, elements)
	if err != nil {
		return err
	}
	b.addLaunches(x.All())
	g, err := b.addGraph(x.All())
	if err != nil {
		return err
	}
	libraries, err := b.addLibraries()
	if err != nil {
		return err
	}
	if err := b.run(w); err != nil {
		return err
	}
	return errors.Join(measureCalls(w.text), checkSteps(ctx, s, x), g.Close(), libraries(), s.Close(), x.Close())
}

// checkSteps checks the result of many steps.
func checkSteps(ctx context.Context, s *device.Stream, x *device.Buffer[float32]) error {
	got := make([]float32, elements)
	if err := errors.Join(device.Download(s, got, x), s.Synchronize(ctx)); err != nil {
		return err
	}
	for i, v := range got {
		if v != 2 {
			return fmt.Errorf("element %d is %v after many steps, want 2", i, v)
		}
	}
	return nil
}
