package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// tuning is a fine-tuning of an adapter of all linear layers, of rank 16, that is measured.
type tuning struct {
	*bench
	adapter *lora.Adapter
	opt     *train.AdamW
}

// tune measures steps of fine-tuning with one sequence of p.prompt tokens.
func tune(ctx context.Context, dev *device.Device, w io.Writer, p plan) (err error) {
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, err := p.load(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	a, err := lora.New(s, m.Linears(), lora.Options{Rank: 16, Alpha: 32, Seed: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := m.Adapt(a); err != nil {
		return err
	}
	t := &tuning{&bench{plan: p, Context: ctx, stream: s, model: m}, a, train.NewAdamW(a.Params(), train.AdamWOptions{Rate: 1e-4, Clip: 1})}
	defer func() { err = errors.Join(err, t.opt.Close()) }()
	return t.measure(w)
}

// measure writes the rate and the memory of steps, and the time of each kernel.
func (t *tuning) measure(w io.Writer) error {
	var first, last float64
	var host time.Duration
	took, err := t.median(func() (err error) {
		last, host, err = t.step()
		first = cmp.Or(first, last)
		return err
	})
	if err != nil {
		return err
	}
	stats, err := t.stream.Device().MemoryStats()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "fine-tuning, %d tokens: %.0f tokens/s, %.2f ms, host %.2f ms, peak %.2f GiB of which %.2f are weights, loss %.4f, %.4f after 6 steps\n", t.prompt, float64(t.prompt)/took.Seconds(), 1e3*took.Seconds(),
		1e3*host.Seconds(), float64(stats.Peak)/(1<<30), float64(t.model.Bytes())/(1<<30), first, last)
	times := &kernelTimes{all: map[string]*spent{}}
	stop, err := t.stream.Device().Watch(times)
	if err != nil {
		return err
	}
	_, _, err = t.step()
	stop()
	if err != nil {
		return err
	}
	times.write(w)
	return nil
}

// step takes a step and returns its loss, and the time until the host had enqueued it.
func (t *tuning) step() (loss float64, host time.Duration, err error) {
	began := time.Now()
	tokens := t.tokens(t.prompt, 3)
	err = tensor.RunOn(t.Context, t.stream, func(s *tensor.Scope) error {
		s.Record()
		x, err := t.model.Read(s, llama.Packed{Tokens: tokens, Lengths: []int{len(tokens)}})
		if err != nil {
			return err
		}
		sum := t.model.Loss(x, append(tokens[1:], tokens[0]))
		s.Backward(sum)
		if err := t.opt.Step(s); err != nil {
			return err
		}
		host = time.Since(began)
		v, err := tensor.Values[float32](t.Context, sum)
		if err == nil {
			loss = float64(v[0])
		}
		return err
	})
	return loss, host, err
}

// kernelTimes is a device.Watcher that adds up the times of kernels.
type kernelTimes struct {
	mu  sync.Mutex
	all map[string]*spent
}

// spent is the launches of a kernel with one size of grid and their time.
type spent struct {
	name  string
	times int
	took  time.Duration
}

// Did implements device.Watcher.
func (k *kernelTimes) Did(done []device.Activity) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range done {
		name := a.Work.String()
		if a.Kernel != nil {
			name = fmt.Sprintf("%s.%s %v", a.Kernel.Package, a.Kernel.Name, a.Grid)
		}
		s := k.all[name]
		if s == nil {
			s = &spent{name: name}
			k.all[name] = s
		}
		s.times++
		s.took += a.End.Sub(a.Begin)
	}
}

// Closed implements device.Watcher.
func (k *kernelTimes) Closed() error { return nil }

// write writes the kernels that took longest.
func (k *kernelTimes) write(w io.Writer) {
	const most = 30
	k.mu.Lock()
	defer k.mu.Unlock()
	list := slices.SortedFunc(maps.Values(k.all), func(a, b *spent) int { return cmp.Compare(b.took, a.took) })
	var sum time.Duration
	for _, s := range list {
		sum += s.took
	}
	fmt.Fprintf(w, "kernels %.2f ms\n", 1e3*sum.Seconds())
	for _, s := range list[:min(most, len(list))] {
		fmt.Fprintf(w, "%9.3f ms %5d x  %s\n", 1e3*s.took.Seconds(), s.times, s.name)
	}
}
