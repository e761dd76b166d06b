package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// users runs users at once until the time of the attack is over.
func (t *target) users(ctx context.Context, n int, one func(ctx context.Context, r *rand.Rand)) {
	ctx, cancel := context.WithTimeout(ctx, t.span)
	defer cancel()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			for ctx.Err() == nil {
				one(ctx, r)
			}
		})
	}
	all.Wait()
}

// overload has three users for each place, until somebody has been refused. A user who is refused comes again soon.
func (t *target) overload(ctx context.Context) {
	for range 20 {
		t.users(ctx, 3*t.places, func(_ context.Context, r *rand.Rand) {
			if t.ask(ctx, r.IntN(prompts), false) == http.StatusTooManyRequests {
				time.Sleep(time.Duration(10+r.IntN(40)) * time.Millisecond)
			}
		})
		if len(t.refused) > 0 { // all users have ended
			return
		}
	}
	t.blame("nobody is refused")
}

// leave has users of whom 30 % leave before the end of their answers.
func (t *target) leave(ctx context.Context) {
	t.users(ctx, t.places, func(_ context.Context, r *rand.Rand) { t.ask(ctx, r.IntN(prompts), r.IntN(10) < 3) })
}

// ask sends a request and compares the answer with the right one. A client that leaves reads only a part of it. It returns the status, or 0.
func (t *target) ask(ctx context.Context, i int, leaves bool) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := t.request(i)
	body, err := json.Marshal(map[string]any{"prompt": q.prompt, "max_tokens": q.tokens, "temperature": 0, "stream": true})
	if err != nil {
		t.blame("%w", err)
		return 0
	}
	began := time.Now()
	a, err := t.post(ctx, body)
	if err != nil {
		t.blame("no answer: %w", err)
		return 0
	}
	defer a.Body.Close()
	t.count(a, time.Since(began))
	if a.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, a.Body)
		return a.StatusCode
	}
	got, status, err := read(a.Body, map[bool]int{true: 1 + i%3, false: 1 << 30}[leaves])
	switch {
	case leaves:
	case status != 0: // the server could not go on, and says so
		t.mu.Lock()
		t.answered, t.failed = t.answered-1, t.failed+1
		t.mu.Unlock()
		return status
	case err != nil || got != t.want[i]:
		t.blame("answer %d is %q, want %q; %v", i, got, t.want[i], err)
	}
	return a.StatusCode
}

// post sends a request for a completion.
func (t *target) post(ctx context.Context, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+t.address+"/v1/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return t.client.Do(r)
}

// count counts an answer.
func (t *target) count(a *http.Response, after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch a.StatusCode {
	case http.StatusOK:
		t.answered++
	case http.StatusTooManyRequests:
		t.refused = append(t.refused, after)
	default:
		t.failed++
	}
}

// read reads a stream to its end, or some events, and returns the text, and a status if the stream ends with an error.
func read(from io.Reader, most int) (text string, status int, err error) {
	lines := bufio.NewScanner(from)
	for n := 0; n < most && lines.Scan(); n++ {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if data == "[DONE]" {
			return text, 0, nil
		}
		var part struct {
			Choices []struct{ Text string }
			Error   *struct{ Message string }
		}
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(data), &part); err != nil {
			return text, 0, err
		}
		if part.Error != nil {
			return text, http.StatusServiceUnavailable, nil
		}
		for _, c := range part.Choices {
			text += c.Text
		}
	}
	if most < 1<<30 {
		return text, 0, lines.Err()
	}
	return text, 0, errors.Join(lines.Err(), io.ErrUnexpectedEOF)
}

// crowd has connections without requests, and clients that send a header or a body a byte at a time. Two users are answered meanwhile.
func (t *target) crowd(ctx context.Context) {
	end, err := crowd{address: t.address, idle: t.idle, slow: t.slow}.send(ctx)
	if err != nil {
		t.blame("the crowd: %w", err)
		return
	}
	t.users(ctx, 2, func(_ context.Context, r *rand.Rand) { t.ask(ctx, r.IntN(prompts), false) })
	if err := end(); err != nil {
		t.blame("the crowd: %w", err)
	}
	if t.failed > 0 || len(t.refused) > 0 {
		t.blame("%d requests of others fail", t.failed+len(t.refused))
	}
}

// besiege is the crowd, clients that read answers a byte at a time, and three users for each place, of whom 30 % leave.
func (t *target) besiege(ctx context.Context) {
	body, err := json.Marshal(map[string]any{"prompt": words(prompts, t.words), "max_tokens": t.tokens, "stream": true})
	if err != nil {
		t.blame("%w", err)
		return
	}
	end, err := crowd{address: t.address, idle: t.idle, slow: t.slow, readers: t.places / 4, body: string(body)}.send(ctx)
	if err != nil {
		t.blame("the crowd: %w", err)
		return
	}
	t.users(ctx, 3*t.places, func(_ context.Context, r *rand.Rand) {
		if t.ask(ctx, r.IntN(prompts), r.IntN(10) < 3) == http.StatusTooManyRequests {
			time.Sleep(time.Duration(10+r.IntN(40)) * time.Millisecond)
		}
	})
	if err := end(); err != nil {
		t.blame("the crowd: %w", err)
	}
}

// garble has as many users as places: half of them send requests in which bytes are wrong.
func (t *target) garble(ctx context.Context) {
	t.users(ctx, t.places, func(_ context.Context, r *rand.Rand) {
		if r.IntN(2) == 0 {
			t.ask(ctx, r.IntN(prompts), false)
			return
		}
		a, err := t.post(ctx, garbled(r))
		if err != nil {
			t.blame("no answer to a malformed request: %w", err)
			return
		}
		_, _ = io.Copy(io.Discard, a.Body)
		a.Body.Close()
		if a.StatusCode >= 500 {
			t.blame("a malformed request has status %d", a.StatusCode)
		}
	})
}

// garbled returns the body of a request, some of whose bytes are others, missing or twice there.
func garbled(r *rand.Rand) []byte {
	body := []byte(`{"prompt": ["a", [1, 2]], "max_tokens": 2, "temperature": 0.5, "n": 1, "stop": ["x"], "logit_bias": {"5": 1}, "seed": 3, "logprobs": 1}`)
	for range 1 + r.IntN(4) {
		i := r.IntN(len(body))
		switch j := r.IntN(len(body)); r.IntN(3) {
		case 0:
			body[i] = byte(r.IntN(256))
		case 1:
			body = append(body[:i:i], body[min(i+1+r.IntN(5), len(body)):]...)
		default:
			body = append(body[:i:i], append(bytes.Clone(body[j:]), body[i:]...)...)
		}
	}
	return append(body, "     "...)
}

// fault takes the device's memory for a moment, again and again: steps fail, and their texts are computed again.
func (t *target) fault(ctx context.Context) {
	t.tamper(ctx, tampering{t.limit, 2 * time.Millisecond, t.span / 8})
}

// starve takes the device's memory for longer, as another program can.
func (t *target) starve(ctx context.Context) {
	t.tamper(ctx, tampering{t.limit, t.span / 4, t.span / 4})
}

// exhaust has another process take all memory of the GPU that is left.
func (t *target) exhaust(ctx context.Context) {
	take := func() (end func() error, err error) { return spawn(ctx, neighbourCommand) }
	t.tamper(ctx, tampering{take, t.span / 4, t.span / 4})
}

// limit makes all allocations of the device fail.
func (t *target) limit() (end func() error, err error) {
	t.dev.SetMemoryLimit(1)
	return func() error { t.dev.SetMemoryLimit(0); return nil }, nil
}

// tampering is how the device's memory is taken: how long, and how long after it was given back.
type tampering struct {
	take           func() (end func() error, err error)
	taken, between time.Duration
}

// tamper takes the device's memory from time to time, while users ask. A server that refuses requests is not healthy, and is healthy again
// soon after the memory is back.
func (t *target) tamper(ctx context.Context, x tampering) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for end := time.Now().Add(t.span); time.Now().Before(end); {
			time.Sleep(x.between)
			back, err := x.take()
			if err != nil {
				t.blame("the memory cannot be taken: %w", err)
				return
			}
			t.diagnose(x.taken)
			if err := back(); err != nil {
				t.blame("the memory cannot be given back: %w", err)
			}
			t.recover()
		}
	}()
	t.users(ctx, t.places, func(_ context.Context, r *rand.Rand) {
		if t.ask(ctx, r.IntN(prompts), false) != http.StatusOK {
			time.Sleep(10 * time.Millisecond)
		}
	})
	<-done
	if status := t.ask(ctx, 0, false); status != http.StatusOK {
		t.blame("afterwards, a request has status %d", status)
	}
}

// diagnose compares the server's health with the answers while the memory is taken. The health may change
// later than the answers, so only the second half of the time counts.
func (t *target) diagnose(taken time.Duration) {
	time.Sleep(taken / 2)
	healthy, began := t.health() == http.StatusOK, t.outcomes()
	time.Sleep(taken / 2)
	if t.model.Health() != nil && t.health() != http.StatusServiceUnavailable && t.model.Health() != nil {
		t.blame("the server is healthy, although its model is not")
	}
	now, steady := t.outcomes(), healthy == (t.health() == http.StatusOK)
	answered, failed := now.answered-began.answered, now.failed-began.failed
	switch {
	case taken < shortestDiagnosis || !steady:
	case healthy && answered == 0 && failed > 0:
		t.blame("the server is healthy, but fails %d requests and answers none", failed)
	case !healthy && answered > 0 && failed == 0:
		t.blame("the server is not healthy, but answers %d requests", answered)
	}
}

// shortestDiagnosis is the time in which the answers say whether a server can serve.
const shortestDiagnosis = 400 * time.Millisecond

// outcomes are numbers of requests.
type outcomes struct{ answered, failed int }

// outcomes returns how many requests have been answered and have failed so far.
func (t *target) outcomes() outcomes {
	t.mu.Lock()
	defer t.mu.Unlock()
	return outcomes{t.answered, t.failed}
}

// The times until a server is healthy after its device works again.
const (
	longRecovery = 5 * time.Second // is wrong
	noRecovery   = time.Minute     // ends the wait
)

// recover waits until the server is healthy.
func (t *target) recover() {
	began := time.Now()
	for t.health() != http.StatusOK && time.Since(began) < noRecovery {
		time.Sleep(10 * time.Millisecond)
	}
	if took := time.Since(began); took > longRecovery {
		t.blame("the server is healthy only %v after the memory is back", took)
	}
}

// terminate ends the server while users ask. Every request that has been admitted is answered, and later ones are refused.
func (t *target) terminate(ctx context.Context) {
	time.AfterFunc(t.span/2, t.stop)
	t.users(ctx, t.places, func(of context.Context, r *rand.Rand) {
		i := r.IntN(prompts)
		body, err := json.Marshal(map[string]any{"prompt": t.request(i).prompt, "max_tokens": t.tokens, "temperature": 0, "stream": true})
		if err != nil {
			t.blame("%w", err)
			return
		}
		a, err := t.post(ctx, body)
		if err != nil { // the listener is closed
			<-of.Done()
			return
		}
		defer a.Body.Close()
		if t.count(a, 0); a.StatusCode != http.StatusOK {
			return
		}
		if got, _, err := read(a.Body, 1<<30); err != nil || got != t.want[i] {
			t.blame("an answer that had begun is %q, want %q; %v", got, t.want[i], err)
		}
	})
	if c, err := net.Dial("tcp", t.address); err == nil {
		c.Close()
		t.blame("the server accepts connections after its end")
	}
}
