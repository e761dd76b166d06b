package gate_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/spans"
	"github.com/gopherwarp/gopherwarp/serve/spans/spanstest"
)

// arrival is when the texts of a timed model arrive.
var arrival = time.Unix(1700000000, 0)

// timed is a model that generates two tokens for each text, and says when.
type timed struct{ err error }

func (m timed) Chat(_ context.Context, _ []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		if m.err != nil {
			yield(llm.Token{}, m.err)
			return
		}
		n := max(r.N, 1)
		*r.Usage = llm.Usage{Prompt: 7, Known: 3, Generated: 2 * n, Arrived: arrival, Queue: time.Second, First: 3 * time.Second, Rest: 4 * time.Second}
		for i := range 2 * n {
			t := llm.Token{Choice: i % n, Text: "a"}
			if i >= n {
				t.Finish = llm.Limited
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

func (m timed) Generate(ctx context.Context, _ string, r llm.Request) iter.Seq2[llm.Token, error] {
	return m.Chat(ctx, nil, r)
}

// recorded returns the spans of a request, the first of them the one of the request itself.
func recorded(t *testing.T, h http.HandlerFunc, key string) (root spanstest.Span, children []spanstest.Span) {
	t.Helper()
	c := spanstest.New(t)
	tracer, err := spans.New(spans.Options{Endpoint: c.URL + "/v1/traces"})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/{name}", h)
	r := httptest.NewRequest("POST", "/v1/a", nil)
	r.Header.Set("X-Api-Key", key)
	tracer.Handler(mux).ServeHTTP(httptest.NewRecorder(), r)
	tracer.Close(t.Context())
	list := c.Spans()
	if len(list) == 0 {
		t.Fatal("there is no span")
	}
	last := len(list) - 1
	return list[last], list[:last]
}

// picked returns some attributes of a span.
func picked(s spanstest.Span, keys ...string) map[string]any {
	m := map[string]any{}
	for _, key := range keys {
		if v, ok := s.Attributes[key]; ok {
			m[key] = v
		}
	}
	return m
}

// A request for texts has the attributes of OpenTelemetry's conventions, and children with the times of the engine.
func TestTracedTexts(t *testing.T) {
	g := open(t, gate.Options{Models: map[string]gate.Model{"m": timed{}}})
	fail := func(w http.ResponseWriter, f gate.Failure) { w.WriteHeader(f.Status) }
	all := []string{
		"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.request.temperature", "gen_ai.request.top_p", "gen_ai.request.max_tokens",
		"gen_ai.request.choice.count", "gen_ai.usage.input_tokens", "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.output_tokens",
		"gen_ai.server.time_to_first_token", "gen_ai.response.finish_reasons", "http.route", "http.response.status_code",
	}
	for _, c := range []struct {
		tokens   func(ctx context.Context, m gate.Model) error
		prompts  int
		want     map[string]any
		children int
	}{
		{func(ctx context.Context, m gate.Model) error {
			for _, err := range (gate.Question{Model: m}).Answer(ctx, llm.Request{Temperature: 0.5, TopP: 0.75, MaxTokens: 9, N: 2}) {
				if err != nil {
					return err
				}
			}
			return nil
		}, 1, map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.temperature": 0.5, "gen_ai.request.top_p": 0.75, "gen_ai.request.max_tokens": int64(9),
			"gen_ai.request.choice.count": int64(2), "gen_ai.usage.input_tokens": int64(7), "gen_ai.usage.cache_read.input_tokens": int64(3),
			"gen_ai.usage.output_tokens": int64(4), "gen_ai.response.finish_reasons": []any{"length", "length"},
		}, 3},
		{func(ctx context.Context, m gate.Model) error {
			for _, err := range (gate.Continuer{Model: m, Prompts: gate.Prompts{{Text: "a"}, {Text: "b"}}}).Continue(ctx, llm.Request{Usage: new(llm.Usage)}) {
				if err != nil {
					return err
				}
			}
			return nil
		}, 2, map[string]any{
			"gen_ai.operation.name": "text_completion", "gen_ai.request.temperature": 0.0, "gen_ai.usage.input_tokens": int64(14),
			"gen_ai.usage.cache_read.input_tokens": int64(6), "gen_ai.usage.output_tokens": int64(4), "gen_ai.response.finish_reasons": []any{"length", "length"},
		}, 6},
		{func(ctx context.Context, m gate.Model) error {
			for range (gate.Continuer{Model: m, Prompts: gate.Prompts{{Text: "a"}}}).Continue(ctx, llm.Request{Usage: new(llm.Usage)}) {
				break // the client has left
			}
			return nil
		}, 1, map[string]any{
			"gen_ai.operation.name": "text_completion", "gen_ai.request.temperature": 0.0, "gen_ai.usage.input_tokens": int64(7),
			"gen_ai.usage.cache_read.input_tokens": int64(3), "gen_ai.usage.output_tokens": int64(2),
		}, 3},
	} {
		root, children := recorded(t, g.Guard(func(_ http.ResponseWriter, r *http.Request) error {
			_, m, err := g.Find(r.Context(), "m")
			return errors.Join(err, c.tokens(r.Context(), m))
		}, fail), "")
		for key, v := range map[string]any{
			"gen_ai.provider.name": "gopherwarp", "gen_ai.request.model": "m", "gen_ai.server.time_to_first_token": 3.0, "http.route": "/v1/{name}", "http.response.status_code": int64(200),
		} {
			c.want[key] = v
		}
		if got := picked(root, all...); root.Name != "POST /v1/{name}" || root.Failed || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", root.Name, got, c.want)
		}
		if len(children) != c.children {
			t.Fatalf("%d children, want %d", len(children), c.children)
		}
		for i, want := range []struct {
			name         string
			began, ended time.Duration
			attributes   map[string]any
		}{
			{"queue", 0, time.Second, map[string]any{}},
			{"prefill", time.Second, 3 * time.Second, map[string]any{"gen_ai.usage.input_tokens": int64(7), "gen_ai.usage.cache_read.input_tokens": int64(3)}},
			{"decode", 3 * time.Second, 7 * time.Second, map[string]any{"gen_ai.usage.output_tokens": c.want["gen_ai.usage.output_tokens"].(int64) / int64(c.prompts)}},
		} {
			got := children[i]
			if got.Name != want.name || got.Parent != root.ID || got.Trace != root.Trace || !got.Began.Equal(arrival.Add(want.began)) || !got.Ended.Equal(arrival.Add(want.ended)) || !reflect.DeepEqual(got.Attributes, want.attributes) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
}

// A span has the status of the answer, and is an error only if the server has failed.
func TestTracedFailures(t *testing.T) {
	g := open(t, gate.Options{Models: map[string]gate.Model{"m": timed{errors.New("the device is lost")}}, Keys: []string{"k"}, Requests: 1})
	full := false
	for _, c := range []struct {
		name, key string
		h         gate.Handler
		status    any // nil for none
		failed    bool
		kind      any
	}{
		{"no key", "", func(http.ResponseWriter, *http.Request) error { return nil }, int64(401), false, nil},
		{"a mistake", "k", func(http.ResponseWriter, *http.Request) error { return gate.Invalid("x", "wrong") }, int64(400), false, nil},
		{"a failure", "k", func(http.ResponseWriter, *http.Request) error { return errors.New("broken") }, int64(500), true, "500"},
		{"no time", "k", func(http.ResponseWriter, *http.Request) error { return context.DeadlineExceeded }, int64(504), true, "504"},
		{"the client has left", "k", func(http.ResponseWriter, *http.Request) error { return gate.ErrLeft }, nil, false, "canceled"},
		{"canceled", "k", func(http.ResponseWriter, *http.Request) error { return context.Canceled }, nil, false, "canceled"},
		{"an error in a stream", "k", func(_ http.ResponseWriter, r *http.Request) error {
			for range (gate.Question{Model: g.Models["m"]}).Answer(r.Context(), llm.Request{}) {
			}
			return nil
		}, int64(200), true, nil},
		{"overload", "k", g.Limit(func(w http.ResponseWriter, r *http.Request) error {
			full = true
			return g.Limit(func(http.ResponseWriter, *http.Request) error { return nil })(w, r)
		}), int64(429), false, nil},
	} {
		root, children := recorded(t, g.Guard(c.h, func(w http.ResponseWriter, f gate.Failure) { w.WriteHeader(f.Status) }), c.key)
		if root.Attributes["http.response.status_code"] != c.status || root.Failed != c.failed || root.Attributes["error.type"] != c.kind || len(children) > 0 {
			t.Errorf("%s: %+v, %d children", c.name, root, len(children))
		}
	}
	if !full {
		t.Error("no request is admitted")
	}
}

// Each request on a connection has a span of its own, and so have the parts of the time in a batch.
func TestTracedConnection(t *testing.T) {
	g := open(t, gate.Options{})
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	root, children := recorded(t, g.Guard(func(_ http.ResponseWriter, r *http.Request) error {
		for _, err := range []error{nil, errors.New("broken")} {
			_ = gate.Hold(r.Context(), func(ctx context.Context) error {
				gate.DescribeEncoder(ctx, "e", "embeddings", 5)
				gate.DescribeBatch(ctx, batch.Times{Arrived: at(1), Collected: at(2), Began: at(3), Ended: at(5), Items: 4, Size: 9, Err: err})
				return err
			})
		}
		gate.DescribeClassifier(r.Context(), "p")
		return nil
	}, nil), "")
	if len(children) != 8 || root.Attributes["gopherwarp.model"] != "p" {
		t.Fatalf("%d children, %+v", len(children), root)
	}
	for i, failed := range []bool{false, true} {
		list, message := children[4*i:4*i+3], children[4*i+3]
		if message.Name != "message" || message.Parent != root.ID || message.Failed != failed || message.Attributes["gen_ai.operation.name"] != "embeddings" || message.Attributes["gen_ai.usage.input_tokens"] != int64(5) {
			t.Errorf("got %+v", message)
		}
		for j, want := range []struct {
			name         string
			began, ended time.Time
		}{{"queue", at(1), at(2)}, {"batch", at(2), at(3)}, {"compute", at(3), at(5)}} {
			if s := list[j]; s.Name != want.name || !s.Began.Equal(want.began) || !s.Ended.Equal(want.ended) || s.Parent != message.ID || s.Failed != (failed && j == 2) {
				t.Errorf("got %+v, want %+v", s, want)
			}
		}
		if got := list[2].Attributes; got["gopherwarp.batch.items"] != int64(4) || got["gopherwarp.batch.size"] != int64(9) {
			t.Errorf("the computation has %v", got)
		}
	}
}
