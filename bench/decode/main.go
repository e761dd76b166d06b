// Command decode measures a step of decoding with an 8B model of the Llama family, for one sequence. One graph contains all kernels of the step, in
// their true shapes and with random bfloat16 weights. The command checks the results of a step. It also compares several kernels for each matrix
// product, with different numbers of threads and blocks. It prints the time of each kind of kernel and the steps per second, first with kernels
// that may start before the preceding kernel is done, and then with kernels that wait for it.
//
//	gopherwarp run ./bench/decode            # with the kernels that are fastest on an H200
//	gopherwarp run ./bench/decode -search    # first finds the fastest kernel for each product
//	gopherwarp run ./bench/decode -layers 2 -vocabulary 1000 -hidden 256 -inner 512 -heads 4 -keyheads 1    # a small model
//
//gpu:ondemand
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/gopherwarp/gopherwarp"
)

func main() {
	of := llama8B
	for name, p := range map[string]*int{
		"layers": &of.layers, "hidden": &of.hidden, "heads": &of.heads, "keyheads": &of.keyHeads, "inner": &of.inner,
		"vocabulary": &of.vocabulary, "position": &of.position,
	} {
		flag.IntVar(p, name, *p, "see the type shape")
	}
	search := flag.Bool("search", false, "try all forms of the products first")
	replays := flag.Int("replays", 200, "runs of a graph between two readings of the clock")
	flag.Parse()
	if err := run(os.Stdout, of, *search, *replays); err != nil {
		fmt.Fprintln(os.Stderr, "decode:", err)
		os.Exit(1)
	}
}

// run measures a shape and writes the tables.
func run(w io.Writer, of shape, search bool, replays int) error {
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
	m, err := newModel(s, of, presets(dev.Info().Cores)[0])
	if err != nil {
		return err
	}
	defer m.Close()
	fmt.Fprintf(w, "%v\n%+v: %.2f GB of weights\n\n", dev.Info(), of, float64(of.bytes())/1e9)
	r := &report{m, tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight), replays}
	if search {
		r.oneKernel = true
		best, err := r.search()
		if err := errors.Join(err, m.setForms(best)); err != nil {
			return err
		}
	}
	return errors.Join(r.check(), r.parts(), r.steps("steps"))
}
