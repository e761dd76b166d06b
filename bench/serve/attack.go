package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/listen"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// siege says how a server is attacked.
type siege struct {
	places, idle, slow int           // requests that the server admits, and texts that may wait; connections without a request; clients that send slowly
	refused, settled   time.Duration // bounds: of the median time of a refusal, and of the time until nothing is in use
}

// attack is what clients do to a server while it answers others.
type attack struct {
	name string
	run  func(t *target, ctx context.Context)
}

// attacks returns all attacks on a device of a kind.
func attacks(kind string) []attack {
	list := []attack{
		{"three times as many users as places", (*target).overload},
		{"idle connections and slow clients", (*target).crowd},
		{"30 % of the users leave", (*target).leave},
		{"all of these at once", (*target).besiege},
		{"malformed requests", (*target).garble},
		{"a step that fails", (*target).fault},
		{"no memory for a time", (*target).starve},
	}
	if kind == "cuda" {
		list = append(list, attack{"a neighbour takes all memory", (*target).exhaust})
	}
	return append(list, attack{"SIGTERM", (*target).terminate})
}

// target is a server that is attacked, and what its clients see.
type target struct {
	plan
	dev     *device.Device
	model   *llm.Model
	address string
	stop    context.CancelFunc // ends the server, as SIGTERM does
	client  *http.Client
	want    map[int]string // right answers by the number of the prompt

	mu       sync.Mutex
	answered int             // requests that were answered
	failed   int             // those that ended with another status than 429
	refused  []time.Duration // of requests with status 429
	waiting  int             // texts that waited at once
	wrong    []error         // what must not be
}

// blame notes what must not be.
func (t *target) blame(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.wrong) < 5 {
		t.wrong = append(t.wrong, fmt.Errorf(format, args...))
	}
}

// attacked runs all attacks and writes a table. The error says what the server did wrong.
func (p plan) attacked(ctx context.Context, w *tabwriter.Writer, dev *device.Device, m *llm.Model) error {
	fmt.Fprint(w, "attack\tanswers\tstatus 429\tmedian, ms\t99 %\tother errors\tmost waiting\tall free after, ms\tgoroutines left\t\n")
	want, err := p.answers(ctx, m)
	if err != nil {
		return err
	}
	var all error
	for _, a := range attacks(dev.Info().Kind) {
		t := &target{plan: p, dev: dev, model: m, want: want}
		if err := t.suffer(ctx, w, a); err != nil {
			return err
		}
		for _, err := range t.wrong {
			all = errors.Join(all, fmt.Errorf("%s: %w", a.name, err))
		}
	}
	return all
}

// prompts is the number of different prompts of an attack.
const prompts = 8

// answers returns the right answers, which the model gives when it has nothing else to do.
func (p plan) answers(ctx context.Context, m *llm.Model) (map[int]string, error) {
	want := map[int]string{}
	for i := range prompts {
		for token, err := range m.Generate(ctx, p.request(i).prompt, llm.Request{MaxTokens: p.tokens}) {
			if err != nil {
				return nil, err
			}
			want[i] += string([]rune(token.Text)) // JSON has no bytes that are not UTF-8
		}
	}
	return want, nil
}

// request returns a request.
func (p plan) request(i int) question {
	return question{prompt: words(i, p.words) + fmt.Sprint(" ", i), tokens: p.tokens}
}

// suffer runs an attack on a server of its own, and writes a row.
func (t *target) suffer(ctx context.Context, w *tabwriter.Writer, a attack) error {
	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"m": t.model}, Requests: t.places})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return err
	}
	before := runtime.NumGoroutine()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	t.address, t.stop, t.client = l.Addr().String(), stop, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4 * t.places, DisableCompression: true}}
	ended := make(chan error, 1)
	go func() { ended <- listen.Serve(serving, l, h, listen.Options{Drain: time.Minute}) }()
	watched, watch := context.WithCancel(ctx)
	seen := make(chan struct{})
	go func() { t.watch(watched); close(seen) }()
	a.run(t, ctx)
	free := t.settle()
	watch()
	<-seen
	t.client.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		t.blame("the server ends with %w", err)
	}
	left := t.goroutines(before)
	fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%.1f\t%d\t%d\t%.0f\t%d\t\n", a.name, t.answered, len(t.refused), at(t.refused, 0.5), at(t.refused, 0.99), t.failed, t.waiting, 1e3*free.Seconds(), left)
	t.judge()
	return nil
}

// watch notes how many texts wait at once.
func (t *target) watch(ctx context.Context) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		s := t.model.Stats()
		t.mu.Lock()
		t.waiting = max(t.waiting, s.Waiting)
		t.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// settle waits until no text and no page is in use, and returns how long that took.
func (t *target) settle() time.Duration {
	began := time.Now()
	for {
		s, took := t.model.Stats(), time.Since(began)
		if s.Running+s.Waiting+s.UsedPages == 0 {
			if took > t.settled {
				t.blame("texts or pages are in use for %v after the last client", took)
			}
			return took
		}
		if took > 10*time.Second+t.settled {
			t.blame("%d texts run, %d wait and %d pages are in use after %v", s.Running, s.Waiting, s.UsedPages, took)
			return took
		}
		time.Sleep(time.Millisecond / 2)
	}
}

// goroutines returns how many more goroutines there are than before.
func (t *target) goroutines(before int) int {
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	left := runtime.NumGoroutine() - before
	t.blame("%d goroutines are left", left)
	return left
}

// judge notes what the numbers of an attack say.
func (t *target) judge() {
	if t.answered == 0 {
		t.blame("no request is answered")
	}
	if t.waiting > t.places {
		t.blame("%d texts wait, more than %d", t.waiting, t.places)
	}
	if slices.Sort(t.refused); len(t.refused) > 0 && t.refused[len(t.refused)/2] > t.siege.refused {
		t.blame("the median refusal takes %v", t.refused[len(t.refused)/2])
	}
}

// health returns the status of the server's health.
func (t *target) health() int {
	r, err := t.client.Get("http://" + t.address + "/health")
	if err != nil {
		t.blame("health: %w", err)
		return 0
	}
	_, _ = io.Copy(io.Discard, r.Body)
	r.Body.Close()
	return r.StatusCode
}
