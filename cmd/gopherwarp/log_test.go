package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// lines collects what handlers write.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

// A request whose client leaves has the status 499, whether a part of the answer has been sent or not.
func TestLogOfLeft(t *testing.T) {
	g, err := gate.New(gate.Options{Others: []string{"m"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/whole", "/streamed"} {
		ctx, leave := context.WithCancel(t.Context())
		next := g.Guard(func(w http.ResponseWriter, r *http.Request) error {
			if path == "/streamed" {
				if err := g.NewEvents(w).Send("", 1); err != nil {
					t.Error(err)
				}
			}
			leave()
			<-r.Context().Done()
			return r.Context().Err()
		}, func(w http.ResponseWriter, f gate.Failure) { w.WriteHeader(f.Status) })
		var log lines
		s := httptest.NewServer(logging(next, &log, "text"))
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, a.Body)
			a.Body.Close()
		}
		s.Close() // waits for the handler
		if text := log.text.String(); !strings.Contains(text, "path="+path+" ") || !strings.Contains(text, "status=499 ") || !strings.Contains(text, "aborted=true") {
			t.Errorf("the log is %q", text)
		}
	}
}

// Each request has a line with its status and size, also a refused one, and one whose answer is aborted. Answers can be flushed, and
// connections taken over.
func TestLog(t *testing.T) {
	next := http.NewServeMux()
	next.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) {
		for range 2 {
			if _, err := w.Write([]byte("part")); err != nil {
				t.Error(err)
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
		}
	})
	next.HandleFunc("GET /taken", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	})
	next.HandleFunc("GET /aborted", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	var log lines
	var handlers sync.WaitGroup // the server does not wait for those that take connections over
	logged := logging(next, &log, "json")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		logged.ServeHTTP(w, r)
	}))
	for _, path := range []string{"/slow", "/none?key=secret", "/taken", "/aborted"} {
		if answer, err := http.Get(s.URL + path); err == nil {
			answer.Body.Close()
		}
	}
	s.Close()
	handlers.Wait()
	var got []string
	for line := range strings.Lines(log.text.String()) {
		var x struct {
			Msg, Method, Path, Client string
			Status, Bytes             int
			Aborted                   bool
			Seconds                   float64
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.Msg != "request" || x.Method != "GET" || x.Client == "" || x.Seconds <= 0 {
			t.Errorf("%v: %s", err, line)
		}
		if x.Path == "/slow" && (x.Status != 200 || x.Bytes != 8) || x.Path == "/none" && x.Status != 404 || x.Path == "/taken" && x.Status != 101 || x.Aborted != (x.Path == "/aborted") {
			t.Errorf("%+v", x)
		}
		got = append(got, x.Path)
	}
	slices.Sort(got) // a client may have an answer before its line is written
	if want := []string{"/aborted", "/none", "/slow", "/taken"}; !slices.Equal(slices.Compact(got), want) || strings.Contains(log.text.String(), "secret") {
		t.Errorf("the lines are about %s, want %s", got, want)
	}
	var text lines
	logging(next, &text, "text").ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/none", nil))
	if !strings.Contains(text.text.String(), "path=/none") || !strings.Contains(text.text.String(), "status=404") {
		t.Errorf("as text: %s", &text.text)
	}
	if got := logging(next, &text, "off"); got != http.Handler(next) {
		t.Errorf("without a log, the handler is %v", got)
	}
}

// With -log json, all lines are objects: those about requests, about models, about connections, and about errors.
func TestLogOfServer(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	path := llamatest.Write(t, llamatest.Options{})
	serve := func(c serveCommand, ask func(url string)) (string, error) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		r, w := io.Pipe()
		var printed lines
		ended := make(chan error, 1)
		go func() { ended <- errors.Join(c.Run(ctx, terminal{w, &printed}), w.Close()) }()
		text := make([]byte, 200)
		if n, err := r.Read(text); err == nil {
			_, url, _ := strings.Cut(strings.TrimSpace(string(text[:n])), " at ")
			ask(url)
		}
		stop()
		err := <-ended
		return printed.text.String(), err
	}
	c := serveCommand{Model: []string{"m=" + path}, Listen: "localhost:0", Requests: 4, Sockets: 4, Drain: time.Minute, Demand: true, Log: "json", Profiles: "localhost:0"}
	text, err := serve(c, func(url string) {
		if a, err := http.Post(url+"/completions", "", strings.NewReader(`{"prompt": "a", "max_tokens": 1}`)); err != nil || a.StatusCode != 200 {
			t.Errorf("%+v, %v", a, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	checkLines(t, text, "profiles of the server", "m is loaded", "request", "answers that have begun end", "m is unloaded")
	c.Model, c.Demand = []string{"m=" + path + ".none"}, false
	text, err = serve(c, func(url string) { t.Errorf("the server is at %s", url) })
	if e, ok := errors.AsType[exit](err); !ok || e.code == 0 || e.cause != nil {
		t.Errorf("the error is %v", err)
	}
	checkLines(t, text, "none")
	var other lines
	before, end := log.Writer(), notices(&other).take()
	log.Print("two\nlines")
	if end(); log.Writer() != before {
		t.Error("package log keeps its writer")
	}
	checkLines(t, other.text.String(), "two\nlines")
}

// checkLines checks that all lines are objects, and that there are messages that begin with, or contain, the given texts.
func checkLines(t *testing.T, text string, want ...string) {
	t.Helper()
	var messages []string
	for line := range strings.Lines(text) {
		var x struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &x); err != nil || x.Time == "" || x.Level == "" {
			t.Errorf("%v: %s", err, line)
		}
		messages = append(messages, x.Msg)
	}
	for _, w := range want {
		if !slices.ContainsFunc(messages, func(m string) bool { return strings.Contains(m, w) }) {
			t.Errorf("no message %q in %q", w, messages)
		}
	}
}
