package main

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/child"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
)

// task is what a worker has to know of a run.
type task struct {
	Seed       uint64
	Root       string
	Contracted bool
	Shape      string // of the kernels, see progen.Shape
	GPU        string // the program that runs kernels on a GPU, if they are to
}

// mode says in the report what is compared.
func (t task) mode() string {
	mode := "native"
	if t.Contracted {
		mode = "contracted"
	}
	if t.Shape != "" {
		mode += "+" + t.Shape
	}
	if t.GPU != "" {
		mode += "+gpu"
	}
	return mode
}

// span is the numbers of kernels from From to To, exclusive.
type span struct{ From, To int }

func (s span) len() int { return s.To - s.From }

// order is what a worker is asked for.
type order struct {
	Task task
	Span span
}

// outcome is what became of the kernels of a span.
type outcome struct {
	Faulted, Twins, OnGPU int
	Wrong                 map[int]string // how kernels differ, by number
	Device                string
	Error                 string // of the surroundings
	Seconds               float64
}

// work answers orders.
func work(ctx context.Context, r io.Reader, w io.Writer) error {
	debug.SetGCPercent(400)
	var c *compare.Comparer
	defer func() { closeComparer(c) }()
	orders, outcomes := gob.NewDecoder(r), gob.NewEncoder(w)
	for {
		var o order
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		start := time.Now()
		var done outcome
		var err error
		if c == nil {
			c, err = compare.New(o.Task.Root, compare.Options{Contracted: o.Task.Contracted, GPU: o.Task.GPU, MayRefuse: math.MaxInt})
		}
		if err == nil {
			done, err = kernels(ctx, c, o)
		}
		if err != nil {
			closeComparer(c)
			c, done = nil, outcome{Error: err.Error()}
		}
		done.Seconds = time.Since(start).Seconds()
		if err := outcomes.Encode(done); err != nil {
			return err
		}
	}
}

func closeComparer(c *compare.Comparer) {
	if c != nil {
		c.Close() // a folder that stays is no reason to fail
	}
}

// kernels compares the kernels of an order.
func kernels(ctx context.Context, c *compare.Comparer, o order) (outcome, error) {
	of := progen.Shape(o.Task.Shape)
	var list []progen.Kernel
	for i := o.Span.From; i < o.Span.To; i++ {
		list = append(list, of(o.Task.Seed, i))
	}
	r, err := c.Kernels(ctx, list)
	done := outcome{Faulted: r.Faulted, Twins: r.Twins, OnGPU: r.OnGPU, Device: r.Device, Wrong: map[int]string{}}
	for i, how := range r.Wrong {
		if how != "" {
			done.Wrong[o.Span.From+i] = how
		}
	}
	return done, err
}

// patience is how long a worker may take for a batch. It takes seconds, and minutes on devices whose compilers are slow.
const patience = 20 * time.Minute

// newWorker returns a process that works: there is one for each processor.
func newWorker(self string) *child.Process {
	return &child.Process{Command: []string{self, "-worker"}, Env: []string{"GOMAXPROCS=1"}, Patience: patience}
}

// do has a worker do an order. An error is how it came to an end, or to none.
func do(w *child.Process, o order) (done outcome, err error) {
	if err := w.Start(context.Background(), nil); err != nil { // which is killed by nothing but its patience
		return done, err
	}
	err = w.Ask(o, &done)
	return done, err
}
