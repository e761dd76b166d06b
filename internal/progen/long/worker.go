package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/compare"
)

// task is what a worker has to know of a run.
type task struct {
	Seed       uint64
	Root       string
	Contracted bool
	Lanes      bool   // kernels of control flow, for vector code
	GPU        string // the program that runs kernels on a GPU, if they are to
}

// mode says in the report what is compared.
func (t task) mode() string {
	mode := "native"
	if t.Contracted {
		mode = "contracted"
	}
	if t.Lanes {
		mode += "+lanes"
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
	task
	span
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
	orders, outcomes := json.NewDecoder(r), json.NewEncoder(w)
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
			c, err = compare.New(o.Root, compare.Options{Contracted: o.Contracted, GPU: o.GPU, MayRefuse: math.MaxInt})
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
	of := progen.New
	if o.Lanes {
		of = progen.NewLanes
	}
	var list []progen.Kernel
	for i := o.From; i < o.To; i++ {
		list = append(list, of(o.Seed, i))
	}
	r, err := c.Kernels(ctx, list)
	done := outcome{Faulted: r.Faulted, Twins: r.Twins, OnGPU: r.OnGPU, Device: r.Device, Wrong: map[int]string{}}
	for i, how := range r.Wrong {
		if how != "" {
			done.Wrong[o.From+i] = how
		}
	}
	return done, err
}

// patience is how long a worker may take for a batch. It takes seconds.
const patience = 5 * time.Minute

// worker is a process that works.
type worker struct {
	command []string

	cmd     *exec.Cmd // nil where it does not run
	stdin   io.Closer
	stderr  *beginning
	send    *json.Encoder
	receive *json.Decoder
}

// do has the process do an order. An error is how it came to an end.
func (w *worker) do(o order) (done outcome, err error) {
	if err := w.start(); err != nil {
		return done, err
	}
	kill := time.AfterFunc(patience, func() { w.cmd.Process.Kill() })
	defer kill.Stop()
	if err = w.send.Encode(o); err == nil {
		err = w.receive.Decode(&done)
	}
	if err != nil {
		w.stop()
		err = fmt.Errorf("the worker ended (%w): %s", err, w.stderr)
	}
	return done, err
}

func (w *worker) start() error {
	if w.cmd != nil {
		return nil
	}
	cmd := exec.Command(w.command[0], w.command[1:]...)
	cmd.Env = append(cmd.Environ(), "GOMAXPROCS=1") // there is a worker for each processor
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	w.stderr = &beginning{}
	cmd.Stderr = w.stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	w.cmd, w.stdin, w.send, w.receive = cmd, stdin, json.NewEncoder(stdin), json.NewDecoder(stdout)
	return nil
}

// stop ends the process, at once if it does not by itself.
func (w *worker) stop() {
	if w.cmd == nil {
		return
	}
	w.stdin.Close()
	kill := time.AfterFunc(10*time.Second, func() { w.cmd.Process.Kill() })
	w.cmd.Wait() // whether it ended well does not matter any more
	kill.Stop()
	w.cmd = nil
}

// beginning keeps the beginning of what is written: Go's runtime says there why a program ends.
type beginning struct{ text []byte }

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), 3000-len(b.text))]...)
	return len(p), nil
}

// String returns it.
func (b *beginning) String() string { return string(b.text) }
