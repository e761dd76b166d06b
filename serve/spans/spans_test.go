package spans

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/spans/spanstest"
)

// open returns a Tracer.
func open(t *testing.T, o Options) *Tracer {
	t.Helper()
	tracer, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// get sends a request to a handler.
func get(h http.Handler, header ...string) {
	r := httptest.NewRequest(http.MethodGet, "/a/path?key=secret", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// The collector gets the span of a request with its children, the client's trace, and what the handler says of them.
func TestSpans(t *testing.T) {
	c := spanstest.New(t)
	tracer := open(t, Options{
		Endpoint: strings.Replace(c.URL, "//", "//user:secret@", 1) + "/v1/traces", Headers: map[string]string{"Api-Key": "k"}, Resource: []Attribute{Attr("service.name", "s")},
	})
	before := time.Now().Add(-time.Hour)
	var ids [2]string
	h := tracer.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s := Of(r.Context())
		ids[0], ids[1] = s.IDs()
		s.Name("GET /a/{b}")
		s.Set(Attr("i", -3), Attr("f", 0.5), Attr("l", []string{"x", "y"}), Attr("long", strings.Repeat("ä", 1000)))
		s.Add("queue", Interval{before, before.Add(time.Second)}, errors.New("full"))
		ctx, child := Start(r.Context(), "message")
		Of(ctx).Add("inner", Interval{before, before}, nil, Attr("k", "v"))
		child.End()
		child.End()
		s.Fail("first")
		s.Fail("second")
	}))
	get(h, "traceparent", traceparent, "tracestate", "a=1", "tracestate", "b=2", "User-Agent", "curl")
	get(tracer.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), "traceparent", traceparent) // without a name
	tracer.Close(t.Context())
	list := c.Spans()
	if len(list) != 4 || tracer.Stats() != (Stats{Exported: 4}) || c.Headers()[0].Get("Api-Key") != "k" || c.Headers()[0].Get("Authorization") != "Basic dXNlcjpzZWNyZXQ=" {
		t.Fatalf("got %d spans, %+v, %v", len(list), tracer.Stats(), c.Headers())
	}
	queue, inner, message, root := list[0], list[1], list[2], list[3]
	for _, s := range list {
		if s.Trace != "0af7651916cd43dd8448eb211c80319c" || s.State != "a=1,b=2" || s.Resource["service.name"] != "s" || s.Scope != scope {
			t.Errorf("got %+v", s)
		}
	}
	if root.Trace != ids[0] || root.ID != ids[1] || root.Parent != "b7ad6b7169203331" || queue.Parent != root.ID || message.Parent != root.ID || inner.Parent != message.ID {
		t.Errorf("identifiers %v, parents: %q, %q, %q, %q", ids, root.Parent, queue.Parent, message.Parent, inner.Parent)
	}
	if root.Name != "GET /a/{b}" || root.Kind != 2 || root.Flags != 0x301 || !root.Failed || root.Message != "first" || root.Ended.Before(root.Began) || time.Since(root.Began) > time.Minute {
		t.Errorf("got %+v", root)
	}
	want := map[string]any{
		"http.request.method": "GET", "url.scheme": "http", "url.path": "/a/path", "network.protocol.version": "1.1", "client.address": "192.0.2.1",
		"user_agent.original": "curl", "i": int64(-3), "f": 0.5, "l": []any{"x", "y"}, "long": strings.Repeat("ä", 128),
	}
	if !reflect.DeepEqual(root.Attributes, want) {
		t.Errorf("attributes %v, want %v", root.Attributes, want)
	}
	if queue.Name != "queue" || queue.Kind != 1 || queue.Flags != 0x101 || !queue.Began.Equal(before) || queue.Ended.Sub(queue.Began) != time.Second || !queue.Failed || queue.Message != "full" {
		t.Errorf("got %+v", queue)
	}
	if inner.Failed || inner.Attributes["k"] != "v" || message.Name != "message" {
		t.Errorf("got %+v, %+v", inner, message)
	}
}

// A request without a span records nothing, and neither does a nil Tracer.
func TestNone(t *testing.T) {
	var none *Tracer
	called := false
	get(none.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called = true
		s := Of(r.Context())
		s.Name("x")
		s.Set(Attr("i", 1))
		s.Add("y", Interval{}, nil)
		s.Fail("z")
		s.End()
		ctx, child := Start(r.Context(), "c")
		if id, span := s.IDs(); s != nil || child != nil || ctx != r.Context() || id+span != "" {
			t.Errorf("got %v, %v, %q", s, child, id)
		}
	})))
	if !called {
		t.Error("the handler is not called")
	}
	if n := testing.AllocsPerRun(100, func() { Of(t.Context()) }); n != 0 {
		t.Errorf("Of allocates %v times", n)
	}
}

// OpenTelemetry's own definitions of the messages understand what the package sends.
func TestJudge(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if exec.Command(python, "-c", "import opentelemetry.proto").Run() != nil {
		t.Skipf("SKIP: %s has no package opentelemetry-proto", python)
	}
	at := time.Unix(1700000000, 5)
	list := []record{
		{trace: [16]byte{1, 15: 2}, id: [8]byte{3}, parent: [8]byte{4}, remote: true, state: "a=1", name: "GET /", kind: server, began: at, ended: at.Add(1), failure: "broken",
			attributes: []Attribute{Attr("s", "ä"), Attr("i", -1), Attr("f", 0.25), Attr("l", []string{"x", ""})}},
		{trace: [16]byte{1, 15: 2}, id: [8]byte{5}, parent: [8]byte{3}, name: "queue", kind: internal, began: at, ended: at},
	}
	cmd := exec.Command(python, "testdata/judge.py")
	cmd.Stdin = strings.NewReader(hex.EncodeToString(encode([]Attribute{Attr("service.name", "gopherwarp")}, list)) + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "gopherwarp"}}]}, "scopeSpans": [{"scope": {"name": "` + scope + `"}, "spans": [
		{"traceId": "AQAAAAAAAAAAAAAAAAAAAg==", "spanId": "AwAAAAAAAAA=", "parentSpanId": "BAAAAAAAAAA=", "traceState": "a=1", "name": "GET /", "kind": "SPAN_KIND_SERVER",
		"startTimeUnixNano": "1700000000000000005", "endTimeUnixNano": "1700000000000000006", "status": {"code": "STATUS_CODE_ERROR", "message": "broken"}, "flags": 769, "attributes": [
		{"key": "s", "value": {"stringValue": "ä"}}, {"key": "i", "value": {"intValue": "-1"}}, {"key": "f", "value": {"doubleValue": 0.25}},
		{"key": "l", "value": {"arrayValue": {"values": [{"stringValue": "x"}, {"stringValue": ""}]}}}]},
		{"traceId": "AQAAAAAAAAAAAAAAAAAAAg==", "spanId": "BQAAAAAAAAA=", "parentSpanId": "AwAAAAAAAAA=", "name": "queue", "kind": "SPAN_KIND_INTERNAL",
		"startTimeUnixNano": "1700000000000000005", "endTimeUnixNano": "1700000000000000005", "flags": 257}]}]}]}`
	var got, expected any
	if err := errors.Join(json.Unmarshal(out, &got), json.Unmarshal([]byte(want), &expected)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("got %s", out)
	}
}

// A collector that never answers delays no request and no Close, and takes a bounded number of spans in memory.
func TestHangs(t *testing.T) {
	entered, leave := make(chan struct{}, 1), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client leaves
		select {
		case entered <- struct{}{}:
		default:
		}
		select {
		case <-leave:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(leave)
	tracer := open(t, Options{Endpoint: s.URL, Interval: time.Millisecond})
	h := tracer.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { Of(r.Context()).Name("n") }))
	get(h)
	<-entered
	began := time.Now()
	const requests = 10000
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range requests / 10 {
				get(h)
			}
		})
	}
	all.Wait()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%d requests take %v", requests, took)
	}
	if n := len(tracer.waiting); n != mostWaiting || cap(tracer.waiting) > 2*mostWaiting {
		t.Errorf("%d spans wait, of %d", n, cap(tracer.waiting))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began = time.Now()
	if tracer.Close(ctx); time.Since(began) > 5*time.Second {
		t.Errorf("Close takes %v", time.Since(began))
	}
	get(h)
	if got, want := tracer.Stats(), (Stats{Full: requests - mostWaiting + 1, Failed: mostWaiting + 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A batch that the collector cannot take now is sent again, and one that it refuses is not.
func TestRetry(t *testing.T) {
	var answers atomic.Pointer[[]string]
	var batches [][]byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		batches = append(batches, data)
		list := *answers.Load()
		answer := list[min(len(batches), len(list))-1]
		if answer == "hang up" {
			panic(http.ErrAbortHandler)
		}
		status, body, _ := strings.Cut(answer, " ")
		if status == "302" {
			w.Header().Set("Location", "/other")
		}
		var code int
		fmt.Sscan(status, &code)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()
	partial := string(message(nil, 1, text(integer(nil, 1, 1), 2, "too old")))
	for _, c := range []struct {
		answers  string
		attempts int
		stats    Stats
		want     string // the reports
	}{
		{"200", 1, Stats{Exported: 2}, ""},
		{"503,429,hang up,200", 4, Stats{Exported: 2}, ""},
		{"503", attempts, Stats{Failed: 2}, "spans: the collector answers 503 Service Unavailable;"},
		{"400", 1, Stats{Failed: 2}, "spans: the collector answers 400 Bad Request;"},
		{"302", 1, Stats{Failed: 2}, "spans: the collector answers 302 Found;"},
		{"200 " + partial, 1, Stats{Exported: 1, Failed: 1}, `spans: the collector refuses 1 spans: "too old";`},
		{"200 {}\xff", 1, Stats{Exported: 2}, ""},
	} {
		list := strings.Split(c.answers, ",")
		answers.Store(&list)
		batches = nil
		reports := ""
		tracer := open(t, Options{Endpoint: s.URL, Interval: time.Hour, Report: func(err error) { reports += err.Error() + ";" }})
		tracer.pause = time.Millisecond
		for range 2 {
			tracer.add(record{name: "n", began: time.Now(), ended: time.Now()})
		}
		tracer.full <- struct{}{}
		for end := time.Now().Add(time.Minute); tracer.Stats() == (Stats{}) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		tracer.Close(t.Context())
		if got := tracer.Stats(); got != c.stats || len(batches) != c.attempts || reports != c.want {
			t.Errorf("%s: %d attempts, %+v, reports %q", c.answers, len(batches), got, reports)
		}
		for _, b := range batches {
			if !bytes.Equal(b, batches[0]) {
				t.Errorf("%s: another attempt sends something else", c.answers)
			}
		}
	}
}

// Without a collector, spans are lost, Close returns soon, and Report hears of it once, until it works again.
func TestNoCollector(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	reports := 0
	tracer := open(t, Options{Endpoint: s.URL, Report: func(error) { reports++ }})
	for range 3 {
		tracer.count(1, errors.New("lost"))
	}
	tracer.count(1, nil)
	tracer.add(record{name: "n"})
	began := time.Now()
	tracer.Close(t.Context())
	if got := tracer.Stats(); got != (Stats{Exported: 1, Failed: 4}) || reports != 3 || time.Since(began) > 10*time.Second {
		t.Errorf("%+v, %d reports, after %v", got, reports, time.Since(began))
	}
}
