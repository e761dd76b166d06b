package gate_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// onDemand returns a gate for the model m, which takes a second to load, and for the adapter x of this model. The model is unloaded after a
// minute. The first loads have the given errors.
func onDemand(t *testing.T, o gate.Options, errs ...error) (*gate.Gate, *repository.Model[gate.Model]) {
	t.Helper()
	r := repository.New(repository.Options{KeepAlive: time.Minute})
	m, err := repository.Add(r, "m", func(ctx context.Context) (gate.Model, func() error, error) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if len(errs) > 0 {
			err := errs[0]
			errs = errs[1:]
			return nil, nil, err
		}
		return parrot{}, func() error { return nil }, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	o.OnDemand, o.Repository, o.Adapters, o.Others = map[string]*repository.Model[gate.Model]{"m": m}, r, map[string]string{"x": "m"}, []string{"other"}
	g, err := gate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, m
}

// status writes the status of a Failure.
func status(w http.ResponseWriter, f gate.Failure) { http.Error(w, f.Message, f.Status) }

// Find loads a model, which stays loaded until the request has ended.
func TestFindOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := onDemand(t, gate.Options{Keys: []string{"key"}})
		h := g.Guard(g.Limit(func(w http.ResponseWriter, r *http.Request) error {
			if name, _, err := g.Peek(r.Context(), "x"); name != "" || gate.FailureOf(err).Status != http.StatusServiceUnavailable {
				t.Errorf("Peek returns %q, %v", name, err)
			}
			name, found, err := g.Find(r.Context(), "x")
			if _, ok := found.(gate.Tokenized); name != "x" || !ok || err != nil {
				t.Errorf("Find returns %q, %v, %v", name, found, err)
			}
			if name, _, err := g.Peek(r.Context(), "m"); name != "m" || err != nil {
				t.Errorf("Peek returns %q, %v", name, err)
			}
			err = gate.Hold(r.Context(), func(ctx context.Context) error {
				_, _, err := g.Find(ctx, "m")
				if gate.UserOf(ctx) != "key" {
					t.Errorf("the user is %q", gate.UserOf(ctx))
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
			if s := g.Status("x"); s.State != repository.Ready || s.Name != "m" {
				t.Errorf("during the request, the model is %+v", s)
			}
			return nil
		}), status)
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Header.Set("X-Api-Key", "key")
		if h(w, r); w.Code != http.StatusOK {
			t.Errorf("status %d", w.Code)
		}
		time.Sleep(59 * time.Second)
		if s := m.Status(); s.State != repository.Ready {
			t.Errorf("after the request, the model is %+v", s)
		}
		time.Sleep(2 * time.Second)
		if s := m.Status(); s.State != repository.Unloaded || s.Loads != 1 {
			t.Errorf("after a minute, the model is %+v", s)
		}
		if s := g.Status("other"); s.State != repository.Ready {
			t.Errorf("a model that is always loaded is %+v", s)
		}
	})
}

// Outside of Guard and Hold, a model stays loaded until the context ends.
func TestFindWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := onDemand(t, gate.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if _, _, err := g.Find(ctx, "m"); err != nil {
			t.Error(err)
		}
		for _, want := range []repository.State{repository.Ready, repository.Unloaded} {
			time.Sleep(time.Hour)
			if s := m.Status(); s.State != want {
				t.Errorf("the model is %+v, want %v", s, want)
			}
			cancel()
		}
	})
}

// Requests for a model that cannot be loaded, or not in time, are told when to try again.
func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := onDemand(t, gate.Options{Time: 600 * time.Millisecond}, errors.New("no file"))
		h := g.Guard(g.Limit(func(_ http.ResponseWriter, r *http.Request) error {
			_, _, err := g.Find(r.Context(), "m")
			return err
		}), status)
		ask := func(ctx context.Context) (int, string, string) {
			w := httptest.NewRecorder()
			h(w, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
			return w.Code, w.Header().Get("Retry-After"), strings.TrimSpace(w.Body.String())
		}
		check := func(status int, retry, text string) {
			t.Helper()
			if s, r, got := ask(t.Context()); s != status || r != retry || !strings.Contains(got, text) {
				t.Errorf("%d, Retry-After %q: %s; want %d, %q, %s", s, r, got, status, retry, text)
			}
		}
		check(503, "1", `the model is not ready yet: "m" is loading`)
		check(503, "10", `the model "m" cannot be loaded: no file`)
		time.Sleep(2500 * time.Millisecond)
		check(503, "8", `the model "m" cannot be loaded: no file`)
		time.Sleep(10 * time.Second)
		check(503, "1", `the model is not ready yet: "m" is loading`)
		check(200, "", "")
		if err := g.Unload(t.Context(), "m"); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		time.AfterFunc(time.Second/4, func() { cancel(errors.New("the server has ended")) })
		if status, _, text := ask(ctx); status != 503 || text != "the server is shutting down" {
			t.Errorf("%d %s", status, text)
		}
		if err := g.Repository.Close(); err != nil {
			t.Error(err)
		}
		check(503, "", "the server is shutting down")
	})
}

// Load and Unload refuse names of other models than those of the repository.
func TestLoadNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := onDemand(t, gate.Options{})
		if err := g.Load(t.Context(), "m"); err != nil || m.Status().State != repository.Ready {
			t.Errorf("Load returns %v; %+v", err, m.Status())
		}
		for name, want := range map[string]int{"": 400, "x": 400, "other": 400, "none": 404} {
			for _, err := range []error{g.Load(t.Context(), name), g.Unload(t.Context(), name)} {
				if f := gate.FailureOf(err); f.Status != want || f.Param != "model" {
					t.Errorf("%q: %d %v, want %d", name, f.Status, err, want)
				}
			}
		}
		if _, _, err := g.Find(t.Context(), "other"); gate.FailureOf(err).Status != 400 {
			t.Errorf("Find of a model of another kind returns %v", err)
		}
	})
	r := repository.New(repository.Options{})
	for what, o := range map[string]gate.Options{
		"the same name": {Models: map[string]gate.Model{"m": silent{}}, OnDemand: map[string]*repository.Model[gate.Model]{"m": repository.Loaded[gate.Model](silent{})}, Repository: r},
		"no such model": {OnDemand: map[string]*repository.Model[gate.Model]{"m": repository.Loaded[gate.Model](silent{})}, Adapters: map[string]string{"x": "y"}},
	} {
		if _, err := gate.New(o); !errors.Is(err, gate.ErrOptions) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
