// Command cached measures attention to keys and values in pages, as in decoding: each sequence has one query. The shapes are those of an 8B model
// of the Llama family, and one graph computes the attention of all layers. Keys and values are random bfloat16 numbers, pages are in random order,
// and some results are compared with float64. The command prints the median time of a layer and the rate at which keys and values are read, first
// with kernels that may start before the preceding kernel is done, and then with kernels that wait for it. The last column is the time for rotating
// the queries and keys of a layer's new tokens and storing the keys and values.
//
//	go run ./bench/cached                                              # on a GPU with 80 GB
//	go run ./bench/cached -layers 2 -most 128 -sequences 8 -launches 1 # to try it without a GPU
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

func main() {
	z := size{heads: 32, keyHeads: 8, dim: 128}
	flag.IntVar(&z.layers, "layers", 32, "number of layers")
	flag.IntVar(&z.launches, "launches", 9, "number of launches of a graph whose median is taken")
	flag.IntVar(&z.most, "most", 8192, "largest number of tokens of a sequence")
	flag.IntVar(&z.sequences, "sequences", 64, "largest number of sequences")
	flag.Parse()
	dev, err := gopherwarp.Open()
	if err == nil {
		err = run(os.Stdout, dev, z)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cached:", err)
		os.Exit(1)
	}
}

// size is what is measured.
type size struct {
	heads, keyHeads, dim, layers int
	most, sequences, launches    int
}

// run measures all cases that are not too large, and writes a line for each. It closes the device.
func run(w io.Writer, dev *device.Device, z size) error {
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintf(w, "%v; %d heads of %d, %d of keys, %d layers\n", dev.Info(), z.heads, z.dim, z.keyHeads, z.layers)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "sequences\ttokens\tus\tTB/s\tof %.1f\twithout overlap: us\tTB/s\trotate, store: us\t\n", peak/1e12)
	for _, sequences := range []int{1, 8, 64} {
		for _, tokens := range []int{128, 2048, 8192} {
			if sequences > z.sequences || tokens > z.most {
				continue
			}
			c := &bench{size: z, s: s, batch: sequences, tokens: tokens}
			if err := c.line(table); err != nil {
				return fmt.Errorf("%d sequences of %d tokens: %w", sequences, tokens, err)
			}
		}
	}
	return table.Flush()
}
