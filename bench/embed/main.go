// Command embed measures an encoder with the shape of all-MiniLM-L6-v2 and random weights. It prints the texts per second and the time of a
// batch. The time begins with tokens in the host's memory and ends with vectors there. The same encoder with a classification head is a
// cross-encoder, of which the command prints the pairs per second. The command also compares the vectors and scores of each element type
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
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/weights"
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
	var first results
	for name := range strings.SplitSeq(p.types, ",") {
		of, ok := known[name]
		if !ok {
			return fmt.Errorf("-types: %q is not one of float32, bfloat16 and float16", name)
		}
		stream, err := dev.NewStream()
		if err != nil {
			return err
		}
		b := bench{plan: p, w: w, name: name}
		if err := errors.Join(b.embed(ctx, stream, f, of), b.rerank(ctx, stream, f, of), stream.Close()); err != nil {
			return err
		}
		if first.vectors == nil {
			first = b.results
		}
		b.compare(first)
	}
	return nil
}

// results are the vectors and scores of a few texts and pairs.
type results struct{ vectors, scores [][]float32 }

// bench measures a model.
type bench struct {
	plan
	results
	w    io.Writer
	name string
}

// embed measures vectors.
func (b *bench) embed(ctx context.Context, s *device.Stream, f *weights.File, of dtype.Type) error {
	model, err := bert.Load(s, f, minilm, bert.LoadOptions{DType: of})
	if err != nil {
		return err
	}
	e := bert.NewEncoder(s, model, bert.Pooling{Method: bert.Mean, Unit: true})
	for _, size := range batches {
		texts := tokens(size[0], size[1])
		if err = b.measure("texts", size, func() error {
			_, err := e.Vectors(ctx, texts...)
			return err
		}); err != nil {
			break
		}
	}
	if err == nil {
		b.vectors, err = e.Vectors(ctx, tokens(16, 50)...)
	}
	return errors.Join(err, e.Close(), model.Close())
}

// rerank measures scores of pairs. The second half of a pair's tokens has the second type.
func (b *bench) rerank(ctx context.Context, s *device.Stream, f *weights.File, of dtype.Type) error {
	config := minilm
	config.Labels = 1
	model, err := bert.Load(s, f, config, bert.LoadOptions{DType: of})
	if err != nil {
		return err
	}
	c, err := bert.NewClassifier(s, model)
	if err != nil {
		return errors.Join(err, model.Close())
	}
	for _, size := range batches {
		list := pairs(size[0], size[1])
		if err = b.measure("pairs", size, func() error {
			_, err := c.Scores(ctx, list...)
			return err
		}); err != nil {
			break
		}
	}
	if err == nil {
		b.scores, err = c.Scores(ctx, pairs(16, 50)...)
	}
	return errors.Join(err, c.Close(), model.Close())
}

// measure prints the median time of a batch of items, of which size has the number and the tokens of each.
func (b *bench) measure(items string, size [2]int, f func() error) error {
	took := make([]time.Duration, b.runs+1) // of which the first one warms up
	for i := range took {
		began := time.Now()
		if err := f(); err != nil {
			return err
		}
		took[i] = time.Since(began)
	}
	median := slices.Sorted(slices.Values(took[1:]))[b.runs/2]
	fmt.Fprintf(b.w, "%-9s %4d %s of %4d tokens %10.3f ms %10.0f %s/s\n", b.name, size[0], items, size[1], median.Seconds()*1e3, float64(size[0])/median.Seconds(), items)
	return nil
}

// compare prints how similar the results are to those of the first type.
func (b *bench) compare(first results) {
	least, largest := 1.0, 0.0
	for i, v := range b.vectors {
		least = min(least, embeddings.Similarity(v, first.vectors[i]))
	}
	for i, v := range b.scores {
		largest = max(largest, math.Abs(float64(v[0]-first.scores[i][0])))
	}
	fmt.Fprintf(b.w, "%-9s least similarity to the vectors of the first type: %.6f; largest difference of a score: %.6f\n", b.name, least, largest)
}
