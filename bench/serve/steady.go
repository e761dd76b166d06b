package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/llm"
)

// asker sends requests, and calls arrived for each part of an answer.
type asker interface {
	ask(ctx context.Context, q question, arrived func()) error
}

// direct asks a model without HTTP.
type direct struct{ *llm.Model }

func (d direct) ask(ctx context.Context, q question, arrived func()) error {
	for t, err := range d.Generate(ctx, q.prompt, llm.Request{MaxTokens: q.tokens, Adapter: q.adapter}) {
		if err != nil {
			return err
		}
		if t.Text != "" || t.Finish == llm.Unfinished {
			arrived()
		}
	}
	return nil
}

// remote asks a server.
type remote struct {
	url    string
	client http.Client
}

func newRemote(url string, users int) *remote {
	return &remote{url, http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: users, DisableCompression: true}}}
}

func (c *remote) ask(ctx context.Context, q question, arrived func()) error {
	body, err := json.Marshal(map[string]any{"prompt": q.prompt, "max_tokens": q.tokens, "temperature": 0, "stream": true})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v1/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", answer.Status)
	}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(`"choices":[{`)) && bytes.Contains(lines.Bytes(), []byte(`"finish_reason":null`)) {
			arrived()
		}
	}
	return lines.Err()
}

// steady is a load that lasts for a time.
type steady struct {
	scenario
	asker
	model *llm.Model
	warm  time.Duration // before the measurement
	span  time.Duration // that is measured

	mu             sync.Mutex
	from           time.Time // when the measurement begins
	parts          int
	first, between []time.Duration
}

// result is what a steady load has measured.
type result struct {
	*steady
	took   time.Duration
	tokens int64
	times  llm.Times
	known  float64 // the share of the tokens of prompts that the cache had
}

// run runs the load.
func (l *steady) run(ctx context.Context) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, l.users+1)
	l.from = time.Now().Add(l.warm)
	var all sync.WaitGroup
	for i := range l.users {
		all.Go(func() { errs[i] = l.user(ctx, i) })
	}
	if l.long > 0 {
		all.Go(func() { errs[l.users] = l.reader(ctx) })
	}
	time.Sleep(l.warm)
	began, before := time.Now(), l.model.Stats()
	time.Sleep(l.span)
	after := l.model.Stats()
	r := result{
		steady: l, took: time.Since(began), tokens: after.Generated - before.Generated,
		times: llm.Times{Steps: after.Steps - before.Steps, All: after.All - before.All, Prompts: after.Prompts - before.Prompts, Waited: after.Waited - before.Waited, Idle: after.Idle - before.Idle},
		known: float64(after.Known-before.Known) / float64(max(1, after.Prompt-before.Prompt)),
	}
	cancel()
	all.Wait()
	return r, errors.Join(errs...)
}

// user sends one request after another.
func (l *steady) user(ctx context.Context, i int) error {
	s := &source{l.scenario, rand.New(rand.NewPCG(l.seed, uint64(i))), l.model, ""}
	if n := len(l.adapters); n > 0 {
		s.adapter = l.adapters[i%n]
	}
	for ctx.Err() == nil {
		if err := l.one(ctx, s.next()); err != nil {
			return err
		}
	}
	return nil
}

// reader sends a long prompt from time to time.
func (l *steady) reader(ctx context.Context) error {
	s := &source{l.scenario, rand.New(rand.NewPCG(l.seed, 1<<33)), l.model, ""}
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for {
		q := s.longest()
		all.Go(func() { _ = l.one(ctx, q) }) // one that is late does not keep the next ones back
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// one sends a request and notes the times of its parts.
func (l *steady) one(ctx context.Context, q question) error {
	n, last := 0, time.Now()
	err := l.ask(ctx, q, func() {
		now := time.Now()
		n++
		l.note(now, now.Sub(last), n == 1 && !q.long, n > 1)
		last = now
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// note counts a part of an answer.
func (l *steady) note(now time.Time, after time.Duration, first, further bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.from) {
		return
	}
	l.parts++
	switch {
	case first:
		l.first = append(l.first, after)
	case further:
		l.between = append(l.between, after)
	}
}

// rate returns the tokens per second.
func (r result) rate() float64 { return float64(r.tokens) / r.took.Seconds() }

// header are the columns of row.
const header = "load\tusers\ttokens/s\tof them read\tfirst token, ms: median\t99 %\tbetween tokens, ms: median\t99 %\tsteps/s\thost %\tidle %\tprompts %\tcached %\t\n"

// row returns a line of the table. The times of the host are those of the engine, apart from waits and prompts. While the host works, the
// device computes, too: how long it has nothing to compute is idle.
func (r result) row(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	host := r.times.All - r.times.Prompts - r.times.Waited
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / r.took.Seconds() }
	return fmt.Sprintf("%s\t%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t\n", name, r.users, r.rate(), float64(r.parts)/r.took.Seconds(),
		at(r.first, 0.5), at(r.first, 0.99), at(r.between, 0.5), at(r.between, 0.99),
		float64(r.times.Steps)/r.took.Seconds(), share(host), share(r.times.Idle), share(r.times.Prompts), 100*r.known)
}

// at returns the duration of a list below which a share of them lies, in ms.
func at(list []time.Duration, share float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return 1e3 * list[int(share*float64(len(list)-1))].Seconds()
}
