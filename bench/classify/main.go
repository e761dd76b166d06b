// Command classify measures ResNets with random weights on batches of normalized images that are already on the device.
// It prints the time of a batch and the images per second. On GPUs, each batch is one launch of a graph. It also
// compares the scores of each element type with those of the first type.
//
//	gopherwarp run ./bench/classify                                      # on a GPU
//	gopherwarp run ./bench/classify -types=float32 -batches=1 -runs=3    # on a CPU
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
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

func main() {
	types := flag.String("types", "float32,float16,bfloat16", "types of weights and activations")
	batches := flag.String("batches", "1,8,32,128", "numbers of images")
	runs := flag.Int("runs", 21, "number of runs whose median is taken")
	launches := flag.Int("launches", 10, "forward passes of a run")
	flag.Parse()
	dev, err := gopherwarp.Open()
	if err == nil {
		p := plan{types: *types, runs: max(*runs, 1), launches: max(*launches, 1)}
		if p.batches, err = numbers(*batches); err == nil {
			err = run(context.Background(), os.Stdout, dev, p)
		}
		err = errors.Join(err, dev.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "classify:", err)
		os.Exit(1)
	}
}

// plan is what is measured.
type plan struct {
	types          string
	batches        []int
	runs, launches int
}

// numbers returns the numbers of a list with commas.
func numbers(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-batches: %q is no number of images", part)
		}
		list = append(list, n)
	}
	return list, nil
}

// resnet50 is the form of ResNet-50.
var resnet50 = resnet.Config{Blocks: [4]int{3, 4, 6, 3}, Width: 64, Bottleneck: true, Classes: 1000}

const side = 224 // of an image

// run measures each type.
func run(ctx context.Context, w io.Writer, dev *device.Device, p plan) error {
	known := map[string]dtype.Type{"float32": dtype.Float32, "bfloat16": dtype.BFloat16, "float16": dtype.Float16}
	f, err := resnettest.Random(resnet50, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "ResNet-50 on %v, medians of %d runs\n", dev.Info(), p.runs)
	var first []float32
	for name := range strings.SplitSeq(p.types, ",") {
		of, ok := known[name]
		if !ok {
			return fmt.Errorf("-types: %q is not one of float32, bfloat16 and float16", name)
		}
		b := bench{plan: p, w: w, name: name}
		if b.stream, err = dev.NewStream(); err != nil {
			return err
		}
		if err := errors.Join(b.measure(ctx, f, of, &first), b.stream.Close()); err != nil {
			return err
		}
	}
	return nil
}

// bench measures a model.
type bench struct {
	plan
	w      io.Writer
	name   string
	stream *device.Stream
	model  *resnet.Model
}

// measure prints a line for each batch, and the largest difference from the scores of the first type.
func (b *bench) measure(ctx context.Context, f *weights.File, of dtype.Type, first *[]float32) (err error) {
	if b.model, err = resnet.Load(b.stream, f, resnet.LoadOptions{DType: of}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.model.Close()) }()
	if err := b.compare(ctx, first); err != nil {
		return err
	}
	for _, n := range b.batches {
		took, err := b.batch(ctx, n)
		if err != nil {
			return err
		}
		median := slices.Sorted(slices.Values(took))[b.runs/2] / time.Duration(b.launches)
		fmt.Fprintf(b.w, "%-9s %4d images %10.3f ms %10.0f images/s\n", b.name, n, median.Seconds()*1e3, float64(n)/median.Seconds())
	}
	return nil
}

// images returns normalized images.
func images(s *tensor.Scope, n int) *tensor.Tensor {
	r := rand.New(rand.NewPCG(4, 5))
	x := make([]float32, n*side*side*3)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return tensor.From(s, x, n, side, side, 3)
}

// compare prints the largest difference of two images' scores from those of the first type.
func (b *bench) compare(ctx context.Context, first *[]float32) error {
	return tensor.RunOn(ctx, b.stream, func(s *tensor.Scope) error {
		scores, err := tensor.Values[float32](ctx, b.model.Forward(images(s, 2)))
		if err != nil {
			return err
		}
		if *first == nil {
			*first = scores
		}
		most, largest := 0.0, 0.0
		for i, v := range scores {
			most = max(most, math.Abs(float64(v-(*first)[i])))
			largest = max(largest, math.Abs(float64((*first)[i])))
		}
		if math.IsNaN(most) || most > 0.1*largest {
			return fmt.Errorf("%s: scores differ by %v from those of the first type, which are up to %v", b.name, most, largest)
		}
		fmt.Fprintf(b.w, "%-9s scores differ by at most %.5f from those of the first type, which are up to %.3f\n", b.name, most, largest)
		return nil
	})
}

// batch returns the times of runs.
func (b *bench) batch(ctx context.Context, n int) (took []time.Duration, err error) {
	spec := tensor.Spec{DType: b.model.DType(), Shape: []int{n, side, side, 3}}
	g, err := tensor.Capture(ctx, b.stream, func(_ *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor {
		return []*tensor.Tensor{b.model.Forward(in[0])}
	}, spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	err = tensor.RunOn(ctx, b.stream, func(s *tensor.Scope) error {
		x := images(s, n).To(b.model.DType())
		for i := range b.runs + 1 { // of which the first one warms up
			if err := b.stream.Synchronize(ctx); err != nil {
				return err
			}
			began := time.Now()
			for range b.launches {
				s.Tidy(func() *tensor.Tensor { return g.Launch(s, x)[0] })
			}
			if err := b.stream.Synchronize(ctx); err != nil {
				return err
			}
			if i > 0 {
				took = append(took, time.Since(began))
			}
		}
		return nil
	})
	return took, err
}
