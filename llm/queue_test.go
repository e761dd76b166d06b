package llm_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// line is texts that wait for the place of another one.
type line struct {
	*testing.T
	m   *llm.Model
	all sync.WaitGroup
}

// wait adds a text to the line and waits until it is there.
func (l *line) wait(name string, r llm.Request) {
	l.Helper()
	before := l.m.Stats().Waiting
	r.MaxTokens = 1
	l.all.Go(func() {
		for _, err := range l.m.Generate(l.Context(), name, r) {
			if err != nil {
				l.Errorf("%s: %v", name, err)
			}
		}
	})
	for end := time.Now().Add(time.Minute); l.m.Stats().Waiting == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("%s does not wait: %+v", name, l.m.Stats())
		}
	}
}

// whileBusy calls add while a text has the only place of a model, and waits for the texts that add adds.
func whileBusy(t *testing.T, o llm.Options, add func(l *line)) {
	t.Helper()
	o.Sequences = 1
	l := &line{T: t, m: open(t, llamatest.Write(t, llamatest.Options{}), o)}
	for range l.m.Generate(t.Context(), "first", llm.Request{}) { // which waits for its reader
		add(l)
		break
	}
	l.all.Wait()
}

// refused returns the error of a text that ends at once. A text that waited would wait for the first one, and the test would hang.
func refused(t *testing.T, m *llm.Model, prompt string, r llm.Request) (failure error) {
	t.Helper()
	for _, err := range m.Generate(t.Context(), prompt, r) {
		failure = err
	}
	return failure
}

// A refusal precedes everything that takes time with a long prompt: the template, the tokenizer and the check of tokens. Each of these would
// return another error.
func TestBusyFirst(t *testing.T) {
	whileBusy(t, llm.Options{WaitingTexts: 1}, func(l *line) {
		l.wait("a", llm.Request{})
		ctx := t.Context()
		for name, tokens := range map[string]iter.Seq2[llm.Token, error]{
			"a model without a template":     l.m.Chat(ctx, nil, llm.Request{}),
			"a prompt beyond the context":    l.m.Generate(ctx, strings.Repeat("x", 1<<20), llm.Request{}),
			"a prompt that has wrong tokens": l.m.Continue(ctx, []int32{-1}, llm.Request{}),
		} {
			for _, err := range tokens {
				if !errors.Is(err, llm.ErrBusy) {
					t.Errorf("%s: %v, want ErrBusy", name, err)
				}
			}
		}
	})
}

func TestBusy(t *testing.T) {
	whileBusy(t, llm.Options{WaitingTexts: 3, WaitingTokens: 100}, func(l *line) {
		l.wait(strings.Repeat("long", 30), llm.Request{}) // a single one may have more tokens
		if err := refused(t, l.m, "x", llm.Request{}); !errors.Is(err, llm.ErrBusy) {
			t.Errorf("beyond the tokens: %v", err)
		}
	})
	whileBusy(t, llm.Options{WaitingTexts: 3, WaitingTokens: 100}, func(l *line) {
		l.wait("a", llm.Request{})
		l.wait("b", llm.Request{})
		if err := refused(t, l.m, "x", llm.Request{N: 2}); !errors.Is(err, llm.ErrBusy) {
			t.Errorf("two texts where there is room for one: %v", err)
		}
		l.wait("c", llm.Request{})
		if err := refused(t, l.m, "x", llm.Request{}); !errors.Is(err, llm.ErrBusy) {
			t.Errorf("beyond the texts: %v", err)
		}
	})
}

// TestDeadline checks that a text whose time is over ends although it still waits, and no longer counts.
func TestDeadline(t *testing.T) {
	whileBusy(t, llm.Options{WaitingTexts: 1}, func(l *line) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		for _, err := range l.m.Generate(ctx, "x", llm.Request{}) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after its deadline, a text ends with %v", err)
			}
		}
	})
}

// TestTimes checks the numbers of values in the histograms.
func TestTimes(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 2})
	prompts, requests := []string{"one", "two", "three"}, []llm.Request{{MaxTokens: 1}, {MaxTokens: 5}, {MaxTokens: 9}}
	texts(t, m, prompts, requests)
	s := settled(m)
	for name, c := range map[string]struct {
		h    llm.Histogram
		want uint64
	}{
		"FirstToken": {s.FirstToken, 3}, "InterToken": {s.InterToken, 12}, "Whole": {s.Whole, 3}, "Queue": {s.Queue, 3}, "Inference": {s.Inference, 3},
		"Prefill": {s.Prefill, 3}, "Decode": {s.Decode, 3}, "PerToken": {s.PerToken, 2}, "Texts": {s.Texts, 3}, "MaxTokens": {s.MaxTokens, 3},
	} {
		if c.h.Count() != c.want || c.h.Sum < 0 {
			t.Errorf("%s has %d values with the sum %v, want %d", name, c.h.Count(), c.h.Sum, c.want)
		}
	}
	if s.PromptTokens.Sum != 3+3+5 || s.GeneratedTokens.Sum != 1+5+9 || s.MaxTokens.Sum != 15 || s.StepTokens.Sum+float64(s.Known) != 3+3+5+4+8 {
		t.Errorf("tokens: %+v", s.Histograms)
	}
	if b := s.PromptTokens; b.Bounds[1] != 2 || b.Bounds[2] != 5 || b.Counts[1] != 0 || b.Counts[2] != 3 {
		t.Errorf("prompts of 3, 3 and 5 tokens: %+v", b)
	}
	if d := s.Inference.Sum - s.Prefill.Sum - s.Decode.Sum; d > 1e-6 || d < -1e-6 {
		t.Errorf("Prefill and Decode differ from Inference by %v seconds", d)
	}
}

// Request.Queued is called once, before the first token, and not for requests that fail.
func TestQueued(t *testing.T) {
	m := open(t, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 3, Context: 32})
	for prompt, want := range map[string]int{"short": 1, strings.Repeat("long", 20): 0} {
		calls, atFirst := 0, -1
		for range m.Generate(t.Context(), prompt, llm.Request{N: 2, MaxTokens: 3, Queued: func() { calls++ }}) {
			if atFirst < 0 {
				atFirst = calls
			}
		}
		if calls != want || atFirst != want {
			t.Errorf("%q: Queued is called %d times, %d of them before the first token, want %d", prompt, calls, atFirst, want)
		}
	}
}
