// Command rows measures the kernels that work on rows of matrices: norms, rotary embedding, activations, softmax, embedding,
// sampling, and derivatives. Inputs are random, results contain NaNs before the first launch, and some rows of each result are compared
// with a reference in float64. The command prints the median time of several launches by the device's clock, and the rate at which the
// kernel transfers the bytes that it must read and write.
//
//	gopherwarp run ./bench/rows              # arrays of 1 GiB
//	gopherwarp run ./bench/rows -bytes 65536 # of 64 KiB, to try it without a GPU
//	gopherwarp run ./bench/rows -only derivative
//
//gpu:ondemand
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

func main() {
	bytes := flag.Int("bytes", 1<<30, "size of the arrays")
	rows := flag.Int("rows", 256, "number of rows of logits that are sampled")
	launches := flag.Int("launches", 17, "number of launches whose median is taken")
	only := flag.String("only", "", "measure only cases whose names contain the `text`")
	flag.Parse()
	dev, err := gopherwarp.Open()
	if err == nil {
		err = run(os.Stdout, dev, size{*bytes, *rows, max(1, *launches)}, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
		os.Exit(1)
	}
}

// size is how much is measured.
type size struct{ bytes, rows, launches int }

// run measures the cases whose names contain a text, and writes a line for each. It closes the device.
func run(w io.Writer, dev *device.Device, z size, only string) error {
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintf(w, "%v, arrays of %d bytes, medians of %d launches\n", dev.Info(), z.bytes, z.launches)
	for _, c := range cases {
		if !strings.Contains(c.name, only) {
			continue
		}
		b := &bench{s: s, size: z}
		work := c.prepare(b)
		took, err := b.measure(work)
		b.close()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintf(w, "%-44s %10.1f us %8.0f GB/s\n", c.name, took.Seconds()*1e6, work.bytes/took.Seconds()/1e9)
	}
	return nil
}
