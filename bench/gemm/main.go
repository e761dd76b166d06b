// Command gemm compares products of bfloat16 matrices with cuBLAS. It measures products of square matrices in each layout, and products of
// a matrix of few rows with each weight matrix of an 8B model. The weights of 32 layers are used in turn. Operands are random, times are medians of replayed graphs that
// alternate with cuBLAS's, and some elements of the results are compared with float64.
//
//	gemm
//	gemm -few=false -sizes 4096
//	gemm -search -rows 64    # products of few rows; tries each number of blocks that divide the sums of a tile among them
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

func main() {
	sizes := flag.String("sizes", "2048,4096,8192", "sizes of square products")
	few := flag.Bool("few", true, "measure products of few rows")
	search := flag.Bool("search", false, "measure the form few with every number of parts instead")
	rows := flag.String("rows", "1,8,16,64,256", "rows of op(A) of products of few rows")
	layers := flag.Int("layers", 32, "number of matrices of weights that are multiplied in turn")
	flag.Parse()
	if err := run(os.Stdout, options{*sizes, *rows, *few, *search, *layers}); err != nil {
		fmt.Fprintln(os.Stderr, "gemm:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	sizes, rows string
	few, search bool
	layers      int
}

// run opens the first GPU and writes the tables.
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
	b := &bench{stream: s, host: random(pool), table: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	defer b.table.Flush()
	if b.library, err = cublas.New(s); err != nil {
		fmt.Fprintln(w, "without cuBLAS:", err)
	} else {
		defer b.library.Close()
	}
	if b.rows, err = numbers(o.rows); err != nil {
		return err
	}
	ns, err := numbers(o.sizes)
	if err != nil {
		return err
	}
	if o.search {
		return b.search(o.layers)
	}
	if err := b.squares(ns); err != nil || !o.few {
		return err
	}
	return b.few(o.layers)
}

// numbers returns the numbers of a list that is separated by commas.
func numbers(list string) (ns []int, err error) {
	for _, field := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// pool is the number of random elements on the host, from which all operands are copied.
const pool = 1 << 26

// bench is what all measurements share.
type bench struct {
	stream  *device.Stream
	library *cublas.Handle // nil if cuBLAS is not installed
	host    []dtype.BF16
	table   *tabwriter.Writer
	rows    []int // of op(A) of products of few rows
}

// random returns n elements from -1 to 1.
func random(n int) []dtype.BF16 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]dtype.BF16, n)
	for i := range x {
		x[i] = dtype.BF16From32(float32(r.Uint32())/(1<<31) - 1)
	}
	return x
}

// upload returns n elements of the pool, again and again, on the device.
func (b *bench) upload(n int) (*device.Buffer[dtype.BF16], error) {
	x, err := device.MakeDirty[dtype.BF16](b.stream, n)
	if err != nil {
		return nil, err
	}
	for i := 0; i < n; i += pool {
		part := x.Slice(i, min(n, i+pool))
		if err := device.UploadTo(b.stream, part, b.host[:part.Len()]); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	return x, b.stream.Synchronize(context.Background())
}
