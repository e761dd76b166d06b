// Command quant measures the product of a quantized matrix and a few vectors. For each format, it multiplies the matrices of an 8B model.
// The matrices of 32 layers are used in turn, so that no matrix stays in a cache. Weights and vectors are random, times are medians of
// replayed graphs, and some rows of the results are compared with float64. The column "TB/s" is the size of the matrix in a file, divided
// by the time. The column "share" is this rate, divided by the bandwidth that the flag -bandwidth gives. A row for the matrix "all" has the
// time of all matrices of a layer.
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
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/weights"
)

func main() {
	var o options
	var shapes, rows string
	flag.StringVar(&shapes, "shapes", "6144x4096,4096x4096,28672x4096,4096x14336", "rows x columns of the matrices")
	flag.StringVar(&rows, "rows", "1,4,16", "numbers of vectors")
	flag.StringVar(&o.formats, "formats", "Q4_0,Q4_1,Q4_K,Q6_K,Q8_0", "formats")
	flag.StringVar(&o.elements, "elements", "float32,bfloat16", "element types of the vectors")
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
	formats, elements         string
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
	fmt.Fprint(table, "format\tmatrix\tvectors\telements\tform\tus\tTB/s\tshare\t\n")
	for name := range strings.SplitSeq(o.formats, ",") {
		f, err := formatOf(name)
		if err != nil {
			return err
		}
		if err := o.format(table, s, f); err != nil {
			return err
		}
		table.Flush()
	}
	return nil
}

// format is a format with the elements and the bytes of a block in a file.
type format struct {
	name            string
	of              quant.Format
	elements, bytes int
}

// formatOf returns the format with a name.
func formatOf(name string) (format, error) {
	of, ok := map[string]quant.Format{
		"Q4_0": quant.Q4_0, "Q4_1": quant.Q4_1, "Q5_0": quant.Q5_0, "Q5_1": quant.Q5_1, "Q8_0": quant.Q8_0,
		"Q2_K": quant.Q2_K, "Q3_K": quant.Q3_K, "Q4_K": quant.Q4_K, "Q5_K": quant.Q5_K, "Q6_K": quant.Q6_K,
	}[name]
	if !ok {
		return format{}, fmt.Errorf("no format %q", name)
	}
	t, _ := weights.ParseType(name)
	f := format{name: name, of: of}
	f.elements, f.bytes = t.Block()
	return f, nil
}

// matrix is what a table's rows are about.
type matrix struct {
	format
	quant.Shape
}

// bytes returns the size of the matrix in a file.
func (m matrix) bytes() int { return m.Rows * m.Columns / m.elements * m.format.bytes }

// product is a product that is measured for each matrix.
type product struct {
	rows     int
	elements string
	form     quant.Form
}

// format measures the products of all matrices in a format, and prints their sums, which are what a layer takes.
func (o options) format(w io.Writer, s *device.Stream, f format) error {
	var bytes int
	took := map[product][]time.Duration{}
	for _, shape := range o.shapes {
		m := matrix{f, shape}
		bytes += m.bytes()
		if err := o.measure(w, s, m, took); err != nil {
			return fmt.Errorf("%s, %dx%d: %w", f.name, shape.Rows, shape.Columns, err)
		}
	}
	for _, p := range o.products(s.Device().Info()) {
		var total time.Duration
		for _, one := range took[p] {
			total += one
		}
		if len(took[p]) == len(o.shapes) {
			o.print(w, p, result{f.name + "\tall", total, bytes})
		}
	}
	return nil
}

// result is the time of the product of what matrices, and their size.
type result struct {
	what  string
	took  time.Duration
	bytes int
}

// print prints a row of the table.
func (o options) print(w io.Writer, p product, r result) {
	rate := float64(r.bytes) / r.took.Seconds() / 1e12
	fmt.Fprintf(w, "%s\t%d\t%s\t%v\t%.2f\t%.2f\t%.0f %%\t\n", r.what, p.rows, p.elements, p.form, r.took.Seconds()*1e6, rate, 100*rate/o.bandwidth)
}

// measure measures the products of layers and vectors, and appends the times.
func (o options) measure(w io.Writer, s *device.Stream, m matrix, all map[product][]time.Duration) error {
	b, err := newBench(s, o, m)
	defer b.close()
	if err != nil {
		return err
	}
	for _, p := range o.products(s.Device().Info()) {
		took, err := b.measure(p)
		if p.form != (quant.Form{}) && (errors.Is(err, device.ErrGrid) || errors.Is(err, quant.ErrShape)) {
			continue // needs too much memory
		}
		if err != nil {
			return fmt.Errorf("%v: %w", p, err)
		}
		all[p] = append(all[p], took)
		o.print(w, p, result{fmt.Sprintf("%s\t%dx%d", m.name, m.Rows, m.Columns), took, m.bytes()})
	}
	return nil
}

// products returns the products to measure.
func (o options) products(info device.Info) (list []product) {
	for _, rows := range o.rows {
		for elements := range strings.SplitSeq(o.elements, ",") {
			for _, form := range o.forms(info) {
				list = append(list, product{rows, elements, form})
			}
		}
	}
	return list
}

// forms returns the forms to measure: the zero Form stands for Multiply's own choice.
func (o options) forms(info device.Info) []quant.Form {
	list := []quant.Form{{}}
	if !o.search {
		return list
	}
	for _, threads := range []int{128, 256, 384, 512} {
		for _, blocks := range []int{1, 2, 3, 4, 6} {
			list = append(list, quant.Form{Threads: threads, Blocks: blocks * info.Cores})
		}
	}
	return list
}
