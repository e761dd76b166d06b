package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
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
