// Command train measures steps of training. A step is a forward pass, a backward pass and a step of AdamW. One model is a transformer with
// 6 layers of width 512, and a step reads 8 sequences of 512 tokens from a vocabulary of 8192. The other model is a perceptron with layers
// of 512, 2048 and 512 elements, and a step reads 256 rows. With -large, the model is a transformer with 16 layers of width 2048, and a
// step reads 2 sequences of 2048 tokens from a vocabulary of 32768. Each model runs operation by operation, and then as a graph. The
// command prints the loss after some steps, to show that both compute the same, and the median time of the steps that follow.
//
//	go run ./bench/train           # on a GPU
//	go run ./bench/train -large    # 940 million parameters, in 20 GB
//	go run ./bench/train -small    # sizes to try it without a GPU
//	go run ./bench/train -only graph -model perceptron
//
// The file pytorch.py in the same folder measures the same models in PyTorch.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func main() {
	small := flag.Bool("small", false, "small models, to try the command without a GPU")
	large := flag.Bool("large", false, "a transformer of 940 million parameters instead")
	only := flag.String("only", "", "measure only one way: eager or graph")
	name := flag.String("model", "", "measure only one model: transformer or perceptron")
	narrow := flag.Bool("narrow", false, "residual streams of bfloat16, as in pytorch.py without masters, and not of float32")
	steps := flag.Int("steps", 50, "number of steps whose median time is taken")
	flag.Parse()
	dev, err := gopherwarp.Open()
	if err == nil {
		err = run(context.Background(), os.Stdout, dev, options{*small, *large, *narrow, *only, *name, max(1, *steps)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// options say what is measured.
type options struct {
	small  bool
	large  bool
	narrow bool
	only   string // a way, or "" for all
	model  string // a model, or "" for all
	steps  int
}

// model is a model that is measured.
type model struct {
	name string
	make func(stream *device.Stream, of dtype.Type, small bool) *trained
}

// run measures models. It closes the device.
func run(ctx context.Context, w io.Writer, dev *device.Device, o options) error {
	defer dev.Close()
	ways := []string{"eager", "graph"}
	if o.only != "" && !slices.Contains(ways, o.only) {
		return fmt.Errorf("-only is %q, none of eager and graph", o.only)
	}
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer stream.Close()
	fmt.Fprintf(w, "%v, medians of %d steps\n", dev.Info(), o.steps)
	of := dtype.BFloat16
	if dev.Info().Kind == "cpu" {
		of = dtype.Float32
	}
	models := []model{{"transformer", newTransformer}, {"perceptron", newPerceptron}}
	if o.large {
		models = []model{{"large", newLarge}}
	}
	if o.model != "" {
		models = slices.DeleteFunc(models, func(m model) bool { return m.name != o.model })
		if len(models) == 0 {
			return fmt.Errorf("-model is %q, none of transformer and perceptron", o.model)
		}
	}
	for _, m := range models {
		for _, way := range ways {
			if o.only != "" && way != o.only {
				continue
			}
			t := m.make(stream, of, o.small)
			t.narrow = o.narrow
			r, err := t.measure(ctx, o.steps, way == "graph")
			if err = errors.Join(err, t.close()); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			fmt.Fprintf(w, "%-12s %s %v  %9.3f ms a step, host %9.3f ms, loss after %d steps %.5f\n", m.name, way, of, ms(r.step), ms(r.host), warm, r.loss)
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// result is what is measured.
type result struct {
	step, host time.Duration // the median time of a step, and of the host to enqueue it
	loss       float32
}

// warm is the number of steps before those that are measured.
const warm = 10

// measure runs steps, of which each waits for the one before only where a loss is read.
func (m *trained) measure(ctx context.Context, steps int, captured bool) (r result, err error) {
	pass := m.pass
	if captured {
		var specs []tensor.Spec
		for _, x := range m.inputs {
			specs = append(specs, tensor.Spec{DType: dtype.Int32, Shape: x.shape})
		}
		specs[0].DType = m.inputs[0].of
		g, err := tensor.Capture(ctx, m.stream, m.pass, specs...)
		if err != nil {
			return r, err
		}
		defer g.Close()
		pass = func(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor { return g.Launch(s, in...) }
	}
	warmed, err := m.run(ctx, warm, pass)
	if err != nil {
		return r, err
	}
	const groups = 5
	var times, hosts []time.Duration
	for range groups {
		n := max(1, steps/groups)
		g, err := m.run(ctx, n, pass)
		if err != nil {
			return r, err
		}
		times, hosts = append(times, g.step/time.Duration(n)), append(hosts, g.host/time.Duration(n))
	}
	slices.Sort(times)
	slices.Sort(hosts)
	return result{step: times[groups/2], host: hosts[groups/2], loss: warmed.loss}, nil
}

// run runs some steps, and returns the time until all are done, the time that the host took to enqueue them, and the loss before the last.
// The time of copying the batch to the device is not in them.
func (m *trained) run(ctx context.Context, steps int, pass func(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor) (r result, err error) {
	err = tensor.RunOn(ctx, m.stream, func(s *tensor.Scope) error {
		in := m.upload(s)
		if err := m.stream.Synchronize(ctx); err != nil {
			return err
		}
		start := time.Now()
		var last *tensor.Tensor
		for range steps {
			last = s.Tidy(func() *tensor.Tensor { return pass(s, in)[0] })
			if err := m.opt.Step(s); err != nil {
				return err
			}
		}
		r.host = time.Since(start)
		v, err := tensor.Values[float32](ctx, last) // waits
		if err == nil {
			r.step, r.loss = time.Since(start), v[0]
		}
		return err
	})
	return r, err
}
