package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// slow is a model that takes a second to make tokens of a prompt, and an hour to generate a text.
type slow struct {
	mu         sync.Mutex
	now, most  int // prompts that become tokens: now, and at once so far
	generating int
}

func (m *slow) Chat(ctx context.Context, _ []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return m.Generate(ctx, "", r)
}

func (m *slow) Generate(_ context.Context, _ string, r llm.Request) iter.Seq2[llm.Token, error] {
	add := func(now, generating int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.now, m.generating = m.now+now, m.generating+generating
		m.most = max(m.most, m.now)
	}
	return func(yield func(llm.Token, error) bool) {
		add(1, 0)
		time.Sleep(time.Second)
		add(-1, 1)
		if r.Queued != nil {
			r.Queued()
		}
		time.Sleep(time.Hour)
		add(0, -1)
		yield(llm.Token{Finish: llm.Ended}, nil)
	}
}

// body is a request.
type body struct {
	Prompt gate.Prompts    `json:"prompt"`
	Empty  []struct{}      `json:"empty"`
	Schema json.RawMessage `json:"schema"`
}

// Requests with large bodies take turns until their prompts are tokens, and do not keep small requests waiting.
func TestTurns(t *testing.T) {
	large := strings.Repeat("x", 100<<10)
	for name, c := range map[string]struct {
		text       string
		most       int // prompts that become tokens at once
		generating int // texts that are generated at once
	}{
		"large":                {fmt.Sprintf(`{"prompt": %q}`, large), 4, 20},
		"large, with prompts":  {fmt.Sprintf(`{"prompt": [%q, "a", "b"]}`, large), 12, 60},
		"large, with a schema": {fmt.Sprintf(`{"prompt": %q, "schema": {"type": "integer"}}`, large), 4, 20},
		"large schema":         {`{"prompt": "x", "schema": {"type": "integer"` + strings.Repeat(" ", 100<<10) + `}}`, 4, 4},
		"small":                {`{"prompt": "x"}`, 20, 20},
		"refused":              {`{"prompt": "x", "empty": [` + strings.Repeat("{},", 40<<10) + `0]}`, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &slow{}
				g, err := gate.New(gate.Options{Models: map[string]gate.Model{"m": m}, Requests: 100})
				if err != nil {
					t.Fatal(err)
				}
				h := g.Guard(func(w http.ResponseWriter, r *http.Request) error {
					var b body
					if err := g.Read(w, r, &b); err != nil {
						return err
					}
					q := llm.Request{Usage: new(llm.Usage)}
					if len(b.Schema) > 0 {
						var err error
						if q.Grammar, err = grammar.Schema(b.Schema); err != nil {
							return err
						}
					}
					for range (gate.Continuer{Model: m, Prompts: b.Prompt}).Continue(r.Context(), q) {
					}
					return nil
				}, func(w http.ResponseWriter, f gate.Failure) { w.WriteHeader(f.Status) })
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() { h(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(c.text))) })
				}
				time.Sleep(time.Minute) // more than all turns take, less than a text
				m.mu.Lock()
				if m.most != c.most || m.now != 0 || m.generating != c.generating {
					t.Errorf("%d prompts at once, want %d; %d texts are being generated, want %d", m.most, c.most, m.generating, c.generating)
				}
				m.mu.Unlock()
				all.Wait()
			})
		})
	}
}

// A request that waits for its turn ends with its context.
func TestTurnOfOneThatLeaves(t *testing.T) {
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"m": &slow{}}})
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(`{"prompt": "` + strings.Repeat("x", 100<<10) + `"}`)
	var ends []func()
	for range 4 {
		ctx, end := g.WithTurn(t.Context())
		ends = append(ends, end)
		if err := g.Decode(ctx, data, new(body)); err != nil {
			t.Fatal(err)
		}
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	ctx, end := g.WithTurn(left)
	if err := g.Decode(ctx, data, new(body)); !errors.Is(err, context.Canceled) {
		t.Errorf("a fifth request: %v", err)
	}
	end()
	for _, end := range ends {
		end()
	}
	for range 4 {
		ctx, end := g.WithTurn(t.Context())
		if err := g.Decode(ctx, data, new(body)); err != nil {
			t.Error(err)
		}
		gate.EndTurn(ctx)
		end()
	}
}
