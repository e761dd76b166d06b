// Command embed measures an encoder with the shape of all-MiniLM-L6-v2 and random weights. It prints the texts per second and the time of a
// batch. The time begins with tokens in the host's memory and ends with vectors there. It also compares the vectors of each element type
// with those of the first type.
//
//	gopherwarp run ./bench/embed                     # on a GPU: float16, bfloat16 and float32
//	gopherwarp run ./bench/embed -types=float32 -runs=3 # on a CPU
//
// It prints the median of several runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/model/bert"
)

func main() {
	types := flag.String("types", "float32,bfloat16,float16", "types of weights and activations, of which the first is compared with the others")
	runs := flag.Int("runs", 21, "number of runs whose median is taken")
	flag.Parse()
	dev, err := gopherwarp.Open()
	if err == nil {
		err = errors.Join(run(context.Background(), os.Stdout, dev, plan{*types, max(*runs, 1)}), dev.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

// plan is what is measured.
type plan struct {
	types string
	runs  int
}

// batches are the numbers of texts, and of tokens of each text.
var batches = [][2]int{{1, 32}, {1, 128}, {16, 128}, {256, 32}, {256, 128}}

// run measures each type.
func run(ctx context.Context, w io.Writer, dev *device.Device, p plan) error {
	known := map[string]dtype.Type{"float32": dtype.Float32, "bfloat16": dtype.BFloat16, "float16": dtype.Float16}
	f, err := randomWeights(minilm)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%v, medians of %d runs\n", dev.Info(), p.runs)
	var first [][]float32
	for name := range strings.SplitSeq(p.types, ",") {
		of, ok := known[name]
		if !ok {
			return fmt.Errorf("-types: %q is not one of float32, bfloat16 and float16", name)
		}
		stream, err := dev.NewStream()
		if err != nil {
			return err
		}
		model, err := bert.Load(stream, f, minilm, bert.LoadOptions{DType: of})
		if err == nil {
			b := bench{p, w, name, bert.NewEncoder(stream, model, bert.Pooling{Method: bert.Mean, Unit: true})}
			err = errors.Join(b.measure(ctx, &first), b.encoder.Close(), model.Close())
		}
		if err = errors.Join(err, stream.Close()); err != nil {
			return err
		}
	}
	return nil
}

// bench measures a model.
type bench struct {
	plan
	w       io.Writer
	name    string
	encoder *bert.Encoder
}

// measure prints a line for each batch, and the least similarity to the first type's vectors.
func (b *bench) measure(ctx context.Context, first *[][]float32) error {
	for _, size := range batches {
		texts := tokens(size[0], size[1])
		took := make([]time.Duration, b.runs+1) // of which the first one warms up
		for i := range took {
			began := time.Now()
			if _, err := b.encoder.Vectors(ctx, texts...); err != nil {
				return err
			}
			took[i] = time.Since(began)
		}
		median := slices.Sorted(slices.Values(took[1:]))[b.runs/2]
		fmt.Fprintf(b.w, "%-9s %4d texts of %4d tokens %10.3f ms %10.0f texts/s\n", b.name, size[0], size[1], median.Seconds()*1e3, float64(size[0])/median.Seconds())
	}
	list, err := b.encoder.Vectors(ctx, tokens(16, 50)...)
	if err != nil {
		return err
	}
	if *first == nil {
		*first = list
	}
	least := 1.0
	for i, v := range list {
		least = min(least, embeddings.Similarity(v, (*first)[i]))
	}
	fmt.Fprintf(b.w, "%-9s least similarity to the vectors of the first type: %.6f\n", b.name, least)
	return nil
}
