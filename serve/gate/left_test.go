package gate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// patient is a model that generates nothing until its request ends.
type patient struct{}

func (patient) Chat(ctx context.Context, _ []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return patient{}.Generate(ctx, "", r)
}

func (patient) Generate(ctx context.Context, _ string, _ llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		<-ctx.Done()
		yield(llm.Token{}, ctx.Err())
	}
}

// If a client leaves, the function of WithLeft is called. The end of the server is another failure.
func TestLeft(t *testing.T) {
	g := open(t, gate.Options{})
	ended := errors.New("the server has ended")
	for name, generate := range map[string]func(context.Context) error{
		"an error of the context": func(ctx context.Context) error { return fmt.Errorf("waiting: %w", ctx.Err()) },
		"an answer": func(ctx context.Context) (err error) {
			for _, err = range (gate.Question{Model: patient{}}).Answer(ctx, llm.Request{}) {
			}
			return err
		},
		"continuations": func(ctx context.Context) (err error) {
			for _, err = range (gate.Continuer{Model: patient{}, Prompts: gate.Prompts{{}, {}}}).Continue(ctx, llm.Request{Usage: new(llm.Usage)}) {
			}
			return err
		},
	} {
		for _, cause := range []error{nil, ended} {
			ctx, cancel := context.WithCancelCause(t.Context())
			left, failed := false, 0
			var got error
			h := g.Guard(func(_ http.ResponseWriter, r *http.Request) error {
				cancel(cause)
				got = generate(r.Context())
				return got
			}, func(_ http.ResponseWriter, f gate.Failure) { failed = f.Status })
			h(httptest.NewRecorder(), httptest.NewRequestWithContext(gate.WithLeft(ctx, func() { left = true }), "POST", "/", nil))
			if name != "an error of the context" && errors.Is(got, gate.ErrLeft) != (cause == nil) {
				t.Errorf("%s, cause %v: the error is %v", name, cause, got)
			}
			if left != (cause == nil) || left && failed != gate.StatusLeft || !left && failed != http.StatusServiceUnavailable {
				t.Errorf("%s, cause %v: left is %v, the failure has status %d", name, cause, left, failed)
			}
		}
	}
}

// No failure is written after the beginning of an answer, or to a connection that has been taken over.
func TestLeftBegun(t *testing.T) {
	g := open(t, gate.Options{})
	for _, upgrade := range []string{"", "websocket"} {
		h := g.Guard(func(w http.ResponseWriter, _ *http.Request) error {
			if upgrade == "" {
				if err := g.NewEvents(w).Send("", 1); err != nil {
					t.Error(err)
				}
			}
			return gate.ErrLeft
		}, func(_ http.ResponseWriter, f gate.Failure) { t.Errorf("%q: the failure %v", upgrade, f) })
		left, r := false, httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Upgrade", upgrade)
		if h(httptest.NewRecorder(), r.WithContext(gate.WithLeft(r.Context(), func() { left = true }))); !left {
			t.Errorf("%q: the function is not called", upgrade)
		}
	}
}
