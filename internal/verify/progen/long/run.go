package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
)

// all runs the batches that the report does not have.
func (r *run) all(ctx context.Context, gpu bool) error {
	dir, err := os.MkdirTemp("", "gopherwarp-long-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if gpu {
		r.GPU = filepath.Join(dir, "replay.exe")
	}
	done, _, err := read(r.report)
	if err != nil {
		return err
	}
	done = slices.DeleteFunc(done, func(b batch) bool { return b.mode != r.mode() || b.seed != r.Seed })
	p := &progress{run: r, queue: newQueue(missing(span{r.first, r.first + r.n}, done), r.batch), start: time.Now()}
	if err := r.prepare(ctx, dir); err != nil {
		return err
	}
	if p.self, err = os.Executable(); err != nil {
		return err
	}
	if p.report, err = os.OpenFile(r.report, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return err
	}
	defer p.report.Close()
	return p.all(ctx)
}

// prepare builds what all workers need: one of them does it faster than all at once.
func (r *run) prepare(ctx context.Context, dir string) error {
	c, err := compare.New(r.Root, compare.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Prepare(ctx); err != nil || r.GPU == "" {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", r.GPU, "./internal/verify/progen/replay")
	build.Dir = r.Root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", build, err, out)
	}
	return nil
}

// progress is a run that goes on.
type progress struct {
	*run
	queue  *queue
	self   string // the name of this program
	report *os.File
	start  time.Time

	mu           sync.Mutex
	ran, differ  int
	workSeconds  float64
	surroundings int // orders of one kernel that failed for another reason than the kernel
	device       string
	failed       error
}

// maxSurroundings is how often the surroundings may fail before the run does.
const maxSurroundings = 10

// all has workers do what there is to do.
func (p *progress) all(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.queue.drop)
	defer stop()
	if p.limit > 0 {
		limit := time.AfterFunc(p.limit, p.queue.drop)
		defer limit.Stop()
	}
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	var working sync.WaitGroup
	for range p.jobs {
		working.Go(p.worker)
	}
	ended := make(chan struct{})
	go func() { working.Wait(); close(ended) }()
	for {
		select {
		case <-ticker.C:
			p.say()
		case <-ended:
			p.say()
			return p.verdict()
		}
	}
}

// worker does orders until there are no more.
func (p *progress) worker() {
	w := newWorker(p.self)
	defer w.Stop()
	for {
		s, ok := p.queue.next()
		if !ok {
			return
		}
		done, err := do(w, order{p.task, s})
		half := (s.From + s.To) / 2
		switch {
		case (err != nil || done.Error != "") && s.len() > 1:
			p.queue.done(span{s.From, half}, span{half, s.To})
			continue
		case err != nil: // this kernel ends whoever works on it
			done.Wrong = map[int]string{s.From: err.Error()}
		case done.Error != "":
			p.fail(done.Error)
			done.Wrong = map[int]string{s.From: done.Error}
		}
		p.write(s, done)
		p.queue.done()
	}
}

// fail counts failures that no kernel is known to be the reason of.
func (p *progress) fail(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.surroundings++; p.surroundings > maxSurroundings && p.failed == nil {
		p.failed = fmt.Errorf("%d kernels could not be run; the last: %s", p.surroundings, why)
		p.queue.drop()
	}
}

// write adds a batch to the report.
func (p *progress) write(s span, done outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := ""
	if done.Device != p.device && done.Device != "" {
		p.device = done.Device
		text = "on " + p.device + "\n"
	}
	b := batch{p.mode(), p.Seed, s, done.Faulted, done.Twins, done.OnGPU, len(done.Wrong), done.Seconds}
	text += b.String()
	for i := s.From; i < s.To; i++ {
		if how, ok := done.Wrong[i]; ok {
			text += p.difference(i, how)
		}
	}
	p.ran += s.len()
	p.differ += len(done.Wrong)
	p.workSeconds += done.Seconds
	if p.stop && p.differ > 0 {
		p.queue.drop()
	}
	if _, err := p.report.WriteString(text); err != nil && p.failed == nil {
		p.failed = err
		p.queue.drop()
	}
}

// say writes a line about how far the run is.
func (p *progress) say() {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := time.Since(p.start)
	rate := float64(p.ran) / took.Seconds()
	fmt.Fprintf(os.Stderr, "%v %s seed %d: %d of %d kernels, %d differ, %.0f a second, %.3f s of a worker each\n",
		took.Round(time.Second), p.mode(), p.Seed, p.ran, p.n, p.differ, rate, p.workSeconds/float64(max(p.ran, 1)))
}

// verdict sums up, and writes it after the batches.
func (p *progress) verdict() error {
	took := time.Since(p.start).Seconds()
	fmt.Fprintf(p.report, "ended after %.0f s: %d workers, %d kernels, %d differ, %.4f processor-seconds a kernel\n",
		took, p.jobs, p.ran, p.differ, took*float64(p.jobs)/float64(max(p.ran, 1)))
	switch {
	case p.failed != nil:
		return p.failed
	case p.differ > 0:
		return fmt.Errorf("%d %w: see %s", p.differ, errDiffer, p.run.report)
	}
	return nil
}
