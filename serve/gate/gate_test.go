package gate_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// silent is a model that says nothing.
type silent struct{}

func (silent) Chat(context.Context, []chat.Message, llm.Request) iter.Seq2[llm.Token, error] {
	return func(func(llm.Token, error) bool) {}
}

func (silent) Generate(context.Context, string, llm.Request) iter.Seq2[llm.Token, error] {
	return func(func(llm.Token, error) bool) {}
}

func open(t *testing.T, o gate.Options) *gate.Gate {
	t.Helper()
	if o.Models == nil {
		o.Models = map[string]gate.Model{"m": silent{}}
	}
	g, err := gate.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGuard(t *testing.T) {
	g := open(t, gate.Options{Keys: []string{"one", "two"}})
	h := g.Guard(func(w http.ResponseWriter, r *http.Request) error { return nil }, func(w http.ResponseWriter, f gate.Failure) { w.WriteHeader(f.Status) })
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"X-None", "", 401}, {"Authorization", "Bearer one", 200}, {"Authorization", "Bearer two", 200}, {"Authorization", "Bearer on", 401},
		{"Authorization", "one", 401}, {"X-Api-Key", "two", 200}, {"X-Api-Key", "Bearer two", 401}, {"X-Api-Key", "", 401},
	} {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Header.Set(c.name, c.value)
		if h(w, r); w.Code != c.want {
			t.Errorf("%s: %s: status %d, want %d", c.name, c.value, w.Code, c.want)
		}
	}
}

// Overload refuses requests at once, while those that are admitted take a second each.
func TestLimitOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t, gate.Options{Requests: 4})
		running, most, brief := 0, 0, 0
		var mu sync.Mutex
		h := g.Guard(g.Limit(func(w http.ResponseWriter, _ *http.Request) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}), func(w http.ResponseWriter, f gate.Failure) { w.WriteHeader(f.Status) })
		count := g.LimitBrief(func(http.ResponseWriter, *http.Request) error { brief++; return nil })
		answered := make(map[int]int)
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				for range 5 {
					w, began := httptest.NewRecorder(), time.Now()
					h(w, httptest.NewRequest("POST", "/", nil))
					if refused := w.Code == http.StatusTooManyRequests; refused != (time.Since(began) == 0) || refused != (w.Header().Get("Retry-After") == "1") {
						t.Errorf("status %d after %v, %v", w.Code, time.Since(began), w.Header())
					}
					mu.Lock()
					answered[w.Code]++
					mu.Unlock()
					time.Sleep(time.Second / 2)
				}
			})
		}
		time.Sleep(time.Second / 4)
		if err := count(httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil)); err != nil || brief != 1 {
			t.Errorf("a request that no model computes: %v", err)
		}
		all.Wait()
		if most != 4 || running != 0 || answered[http.StatusOK] < 4 || answered[http.StatusOK]+answered[http.StatusTooManyRequests] != 60 {
			t.Errorf("%d requests at once, %d at the end, answers %v", most, running, answered)
		}
	})
}

// A request ends after its time, and leaves its place.
func TestTime(t *testing.T) {
	g := open(t, gate.Options{Requests: 1, Time: time.Millisecond})
	h := g.Limit(func(w http.ResponseWriter, r *http.Request) error {
		<-r.Context().Done()
		return r.Context().Err()
	})
	for range 2 {
		if err := h(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request ends with %v", err)
		}
	}
}

func TestFailureOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{gate.Invalid("n", "x"), 400}, {&http.MaxBytesError{Limit: 5}, 413}, {context.Canceled, 503}, {llm.ErrClosed, 503}, {os.ErrDeadlineExceeded, 408}, {context.DeadlineExceeded, 504},
		{llm.ErrContext, 400}, {chat.ErrRefused, 400}, {errors.New("lost"), 500},
	} {
		if got := gate.FailureOf(c.err); got.Status != c.want {
			t.Errorf("%v: status %d, want %d", c.err, got.Status, c.want)
		}
	}
}

func TestSet(t *testing.T) {
	value, small := 0.5, -0.5
	got := 2.0
	if err := gate.Set(&got, "p", &value, gate.Between(0.0, 1)); err != nil || got != 0.5 {
		t.Errorf("%v, %v", got, err)
	}
	if err := gate.Set(&got, "p", nil, gate.Between(0.0, 1)); err != nil || got != 0.5 {
		t.Errorf("without a value: %v, %v", got, err)
	}
	if err := gate.Set(&got, "p", &small, gate.Between(0.0, 1)); err == nil || got != 0.5 || err.Error() != "p: -0.5 is not from 0 to 1" {
		t.Errorf("out of range: %v, %v", got, err)
	}
}

func TestEvents(t *testing.T) {
	g, w := open(t, gate.Options{}), httptest.NewRecorder()
	e := g.NewEvents(w)
	if e.Begun() {
		t.Error("an event has been sent")
	}
	if err := errors.Join(e.Send("a", map[string]int{"x": 1}), e.SendText("", []byte("end"))); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Body.String(), "event: a\ndata: {\"x\":1}\n\ndata: end\n\n"; got != want || !e.Begun() || w.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("got %q, want %q; %v", got, want, w.Header())
	}
	if err := g.NewEvents(broken{w}).Send("", 1); !errors.Is(err, gate.ErrLeft) {
		t.Errorf("a client that has left: %v", err)
	}
}

// broken is a connection that is closed.
type broken struct{ http.ResponseWriter }

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// FuzzRead checks that bodies are either read or refused with a status that blames the client.
func FuzzRead(f *testing.F) {
	for _, body := range []string{`{"stop": ["a", "b"]}`, `{"stop": null}`, `{"n": "x"}`, `[`, `{} {}`} {
		f.Add(body)
	}
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"m": silent{}}, Body: 1000})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var to struct {
			Stop gate.Texts `json:"stop"`
			N    int        `json:"n"`
		}
		err := g.Read(httptest.NewRecorder(), httptest.NewRequest("POST", "/", strings.NewReader(body)), &to)
		if err != nil && gate.FailureOf(err).Status/100 != 4 {
			t.Errorf("%.100q: %v", body, err)
		}
		if err == nil && len(body) > 1000 {
			t.Errorf("%d bytes are read", len(body))
		}
	})
}
