// Command quant measures products of quantised matrices and a few vectors: for each format, the matrices of an 8B model, those of 32
// layers in turn, so that none stays in a cache. Weights and vectors are random, times are medians of replayed graphs, and rows of the
// results are compared with float64. The rate counts the bytes of the matrix in a file; the share is that of a bandwidth.
//
//	gopherwarp run ./bench/quant
//	gopherwarp run ./bench/quant -search -rows 1
//	gopherwarp run ./bench/quant -layers 2 -shapes 64x256 # to try it without a GPU
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
)

func main() {
	var o options
	var shapes, rows string
	flag.StringVar(&shapes, "shapes", "6144x4096,4096x4096,28672x4096,4096x14336", "rows x columns of the matrices")
	flag.StringVar(&rows, "rows", "1,4,16", "numbers of vectors")
	flag.StringVar(&o.formats, "formats", "Q4_0,Q4_1,Q8_0", "formats")
	flag.IntVar(&o.layers, "layers", 32, "number of matrices that are multiplied in turn")
	flag.IntVar(&o.repeats, "repeats", 4, "number of times that a graph multiplies all layers")
	flag.IntVar(&o.launches, "launches", 15, "number of launches of a graph whose median is taken")
	flag.Float64Var(&o.bandwidth, "bandwidth", 4.4, "TB/s that the share refers to")
	flag.BoolVar(&o.search, "search", false, "measure forms with other numbers of threads and blocks")
	flag.Parse()
	err := o.parse(shapes, rows)
	if err == nil {
		err = run(os.Stdout, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quant:", err)
		os.Exit(1)
	}
}

// options is what is measured.
type options struct {
	shapes                    []quant.Shape
	rows                      []int
	formats                   string
	layers, repeats, launches int
	bandwidth                 float64
	search                    bool
}

// parse parses the lists.
func (o *options) parse(shapes, rows string) error {
	for _, field := range strings.Split(shapes, ",") {
		var s quant.Shape
		if _, err := fmt.Sscanf(field, "%dx%d", &s.Rows, &s.Columns); err != nil {
			return fmt.Errorf("shape %q: %w", field, err)
		}
		o.shapes = append(o.shapes, s)
	}
	for _, field := range strings.Split(rows, ",") {
		n, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		o.rows = append(o.rows, n)
	}
	return nil
}

// run measures all cases.
func run(w io.Writer, o options) error {
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
	fmt.Fprintln(w, dev.Info())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer table.Flush()
	fmt.Fprint(table, "format\tmatrix\tvectors\tform\tus\tTB/s\tshare\t\n")
	for _, f := range []format{{"Q4_0", quant.Q4_0, 18}, {"Q4_1", quant.Q4_1, 20}, {"Q8_0", quant.Q8_0, 34}} {
		if !slices.Contains(strings.Split(o.formats, ","), f.name) {
			continue
		}
		for _, shape := range o.shapes {
			if err := o.measure(table, s, matrix{f, shape}); err != nil {
				return fmt.Errorf("%s, %dx%d: %w", f.name, shape.Rows, shape.Columns, err)
			}
			table.Flush()
		}
	}
	return nil
}

// format is a format with the bytes of a block in a file.
type format struct {
	name  string
	of    quant.Format
	bytes int
}

// matrix is what a table's rows are about.
type matrix struct {
	format
	quant.Shape
}

// measure measures the products of layers and vectors.
func (o options) measure(w io.Writer, s *device.Stream, m matrix) error {
	b, err := newBench(s, o, m)
	defer b.close()
	if err != nil {
		return err
	}
	for _, rows := range o.rows {
		for _, form := range o.forms(s.Device().Info()) {
			took, err := b.measure(form, rows)
			if form != (quant.Form{}) && (errors.Is(err, device.ErrGrid) || errors.Is(err, quant.ErrShape)) {
				continue // needs too much memory
			}
			if err != nil {
				return fmt.Errorf("%v of %d vectors: %w", form, rows, err)
			}
			rate := float64(m.Rows*m.Columns/quant.BlockSize*m.bytes) / took.Seconds() / 1e12
			fmt.Fprintf(w, "%s\t%dx%d\t%d\t%v\t%.2f\t%.2f\t%.0f %%\t\n", m.name, m.Rows, m.Columns, rows, form, took.Seconds()*1e6, rate, 100*rate/o.bandwidth)
		}
	}
	return nil
}

// forms returns the forms to measure: the zero Form stands for Multiply's own choice.
func (o options) forms(info device.Info) []quant.Form {
	list := []quant.Form{{}}
	if !o.search {
		return list
	}
	for _, threads := range []int{128, 256, 384, 512} {
		for _, blocks := range []int{1, 2, 3} {
			list = append(list, quant.Form{Threads: threads, Blocks: blocks * info.Cores})
		}
	}
	return list
}
