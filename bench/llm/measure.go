package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// bench is a model that is measured.
type bench struct {
	plan
	context.Context
	w      *tabwriter.Writer
	stream *device.Stream
	model  loaded
	logits device.Slice[float32] // of the last choice, if it is not empty
}

// steps measures prompts and steps of decoding.
func steps(ctx context.Context, dev *device.Device, w *tabwriter.Writer, p plan) (err error) {
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	began := time.Now()
	m, err := p.load(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	fmt.Fprintf(w, "%d layers of %d, %d and %d heads: %.2f GB of weights, loaded in %.1f s\n", m.Layers, m.Hidden, m.Heads, m.KeyHeads, float64(m.Bytes())/1e9, time.Since(began).Seconds())
	b := &bench{plan: p, Context: ctx, w: w, stream: s, model: m}
	if err := errors.Join(b.check(), w.Flush()); err != nil {
		return err
	}
	fmt.Fprintf(w, "\ttokens/s\tms\tTB/s of weights\tTFLOP/s\t\n")
	for _, f := range []func() error{b.prefill, b.short, b.batched, b.long, b.choices} {
		if err := errors.Join(f(), w.Flush()); err != nil {
			return err
		}
	}
	return nil
}

// tokens returns n tokens that depend on a seed.
func (b *bench) tokens(n, seed int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32((i*7919 + seed*104729) % b.model.Vocabulary)
	}
	return list
}

// decoding calls f with a cache of sequences and a Decoder for all of them.
func (b *bench) decoding(o llama.CacheOptions, f func(c *llama.Cache, d *llama.Decoder) error) (err error) {
	o.DType = b.cache
	c, err := b.model.NewCache(b.stream, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	rows := 1
	for rows < o.Sequences {
		rows *= 2
	}
	params, err := device.Make[sampling.Params](b.stream, rows)
	if err != nil {
		return err
	}
	defer params.Close()
	work, err := device.Make[int32](b.stream, max(1, sampling.Workspace(b.stream, sampling.Shape{Rows: rows, Vocabulary: b.model.Vocabulary})))
	if err != nil {
		return err
	}
	defer work.Close()
	d, err := b.model.NewDecoder(c, rows, func(s *tensor.Scope, choice llama.Choice) error {
		logits, err := tensor.SliceOf[float32](choice.Logits)
		if err != nil {
			return err
		}
		n := choice.Tokens.Len()
		if b.logits.Len() >= logits.Len() {
			err = device.Copy(s.Stream(), b.logits.Slice(0, logits.Len()), logits)
		}
		return errors.Join(err, sampling.Sample(s.Stream(), sampling.Shape{Rows: n, Vocabulary: b.model.Vocabulary}, sampling.Operands{
			Logits: logits, Params: params.Slice(0, n), Positions: choice.Positions, Work: work.All(), Tokens: choice.Tokens,
		}))
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stream.Synchronize(b.Context), d.Close()) }()
	return f(c, d)
}

// farthest is the largest distance between the logits of one sequence from different kernels, relative to their length: roundings to
// bfloat16 differ in each layer.
const farthest = 0.05

// check compares the logits of a step of one sequence with those of the same sequence beside another.
func (b *bench) check() error {
	room, err := device.Make[float32](b.stream, 2*b.model.Vocabulary)
	if err != nil {
		return err
	}
	defer room.Close()
	b.logits = room.All()
	defer func() { b.logits = device.Slice[float32]{} }()
	return b.decoding(llama.CacheOptions{Sequences: 2, Tokens: 400}, func(c *llama.Cache, d *llama.Decoder) error {
		var far float64
		for prompt := range 3 { // after some prompts, two tokens are about as probable, and the second step has another one
			one, err := b.stepped(c, d, prompt, 1)
			if err != nil {
				return err
			}
			two, err := b.stepped(c, d, prompt, 2)
			if err != nil {
				return err
			}
			far = distance(one, two)
			fmt.Fprintf(b.w, "distance of logits of one row and of two: %.5f\n", far)
			if far <= farthest {
				return nil
			}
		}
		return fmt.Errorf("the distance of the logits of one row and of two is %v", far)
	})
}

// stepped returns the logits of the first of one or two sequences after two steps from a prompt with the given number.
func (b *bench) stepped(c *llama.Cache, d *llama.Decoder, prompt, sequences int) ([]float32, error) {
	c.Truncate(0, 0)
	c.Truncate(1, 0)
	spans := []llama.Span{{Sequence: 0, Tokens: b.tokens(100, 1+2*prompt)}, {Sequence: 1, Tokens: b.tokens(63, 2+2*prompt)}}
	err := d.Begin(b.Context, 0, spans[:sequences]...)
	for range 2 {
		err = errors.Join(err, d.Step([]int{0, 1}[:sequences]...))
	}
	logits := make([]float32, b.model.Vocabulary)
	return logits, errors.Join(err, device.Download(b.stream, logits, b.logits.Slice(0, b.model.Vocabulary)), b.stream.Synchronize(b.Context))
}

// distance returns the length of x - y relative to that of y. It is NaN if a number is not finite.
func distance(x, y []float32) float64 {
	var sum, all float64
	for i, v := range y {
		d := float64(x[i]) - float64(v)
		sum, all = sum+d*d, all+float64(v)*float64(v)
	}
	return math.Sqrt(sum / all)
}

// median returns the median of the times of five calls of f, after one that warms up.
func (b *bench) median(f func() error) (time.Duration, error) {
	var all []time.Duration
	for i := range 6 {
		if err := b.stream.Synchronize(b.Context); err != nil {
			return 0, err
		}
		began := time.Now()
		if err := errors.Join(f(), b.stream.Synchronize(b.Context)); err != nil {
			return 0, err
		}
		if i > 0 {
			all = append(all, time.Since(began))
		}
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// decode measures steps of sequences that have some tokens, in the wall time of the program.
func (b *bench) decode(name string, sequences, known int) error {
	room := known + 8*b.steps + 64
	return b.decoding(llama.CacheOptions{Sequences: sequences, Tokens: sequences * room}, func(c *llama.Cache, d *llama.Decoder) error {
		all := make([]int, sequences)
		for i := range all {
			all[i] = i
		}
		if err := b.fill(d, all, known); err != nil {
			return err
		}
		took, err := b.median(func() error {
			for range b.steps {
				if err := d.Step(all...); err != nil {
					return err
				}
			}
			return nil
		})
		step := took.Seconds() / float64(b.steps)
		flop := 2 * float64(b.model.products()+b.model.Vocabulary*b.model.Hidden) * float64(sequences)
		fmt.Fprintf(b.w, "%s\t%.1f\t%.3f\t%.2f\t%.1f\t\n", name, float64(sequences)/step, 1e3*step, float64(b.model.bytes)/step/1e12, flop/step/1e12)
		return err
	})
}

// fill gives sequences tokens, at most 2,048 at a time.
func (b *bench) fill(d *llama.Decoder, sequences []int, known int) error {
	const most = 2048
	for _, q := range sequences {
		for at := 0; at < known; at += most {
			if err := d.Begin(b.Context, 0, llama.Span{Sequence: q, Tokens: b.tokens(min(most, known-at), at+q)}); err != nil {
				return err
			}
		}
	}
	if len(sequences) == 1 {
		return nil
	}
	var spans []llama.Span // so that row i is that of sequence i
	for _, q := range sequences {
		spans = append(spans, llama.Span{Sequence: q, Tokens: b.tokens(1, q)})
	}
	return d.Begin(b.Context, 0, spans...)
}

func (b *bench) short() error { return b.decode("decode, 128 tokens", 1, min(128, b.prompt)) }

func (b *bench) batched() error {
	for _, n := range b.batches {
		if err := errors.Join(b.decode(fmt.Sprintf("decode, %d x 128 tokens", n), n, min(128, b.prompt)), b.w.Flush()); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) long() error {
	if b.plan.context == 0 {
		return nil
	}
	return b.decode(fmt.Sprintf("decode, %d tokens", b.plan.context), 1, b.plan.context)
}

// prefill measures a prompt.
func (b *bench) prefill() error {
	return b.decoding(llama.CacheOptions{Sequences: 1, Tokens: b.prompt}, func(c *llama.Cache, d *llama.Decoder) error {
		took, err := b.median(func() error {
			c.Truncate(0, 0)
			return d.Begin(b.Context, 0, llama.Span{Tokens: b.tokens(b.prompt, 1)})
		})
		flop := 2 * float64(b.model.products()) * float64(b.prompt)
		fmt.Fprintf(b.w, "prompt of %d tokens\t%.0f\t%.2f\t\t%.0f\t\n", b.prompt, float64(b.prompt)/took.Seconds(), 1e3*took.Seconds(), flop/took.Seconds()/1e12)
		return err
	})
}

// choices measures the choice of the most probable tokens.
func (b *bench) choices() error {
	for _, rows := range append([]int{1}, b.batches...) {
		shape := sampling.Shape{Rows: rows, Vocabulary: b.model.Vocabulary}
		logits, err := device.Make[float32](b.stream, rows*b.model.Vocabulary)
		if err != nil {
			return err
		}
		params, err := device.Make[sampling.Params](b.stream, rows)
		if err != nil {
			return errors.Join(err, logits.Close())
		}
		work, err := device.Make[int32](b.stream, max(2*rows, sampling.Workspace(b.stream, shape)+2*rows))
		if err != nil {
			return errors.Join(err, logits.Close(), params.Close())
		}
		x := sampling.Operands{Logits: logits.All(), Params: params.All(), Positions: work.Slice(0, rows), Tokens: work.Slice(rows, 2*rows), Work: work.Slice(2*rows, work.Len())}
		took, err := b.median(func() error {
			for range b.steps {
				if err := sampling.Sample(b.stream, shape, x); err != nil {
					return err
				}
			}
			return nil
		})
		step := took.Seconds() / float64(b.steps)
		fmt.Fprintf(b.w, "choice of %d tokens\t%.0f\t%.3f\t\t\t\n", rows, float64(rows)/step, 1e3*step)
		if err := errors.Join(err, logits.Close(), params.Close(), work.Close()); err != nil {
			return err
		}
	}
	return nil
}
