package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
	"github.com/gopherwarp/gopherwarp/serve/spans"
	"github.com/gopherwarp/gopherwarp/serve/spans/spanstest"
)

// traced is what a request must have: the name and some attributes of its span, and the names of the children.
type traced struct {
	path, body string
	name       string
	attributes map[string]any
	children   string
}

// Requests of all kinds of models have spans, with children in the client's trace, and count in Triton's metrics whatever their protocol is.
func TestTraces(t *testing.T) {
	c := spanstest.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_SERVICE_NAME", "tiny")
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
	pictures := resnettest.Write(t, resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 6}, 2)
	var log lines
	command := &serveCommand{
		Model: []string{"l=" + llamatest.Write(t, llamatest.Options{}), "v=" + berttest.WriteFolder(t, berttest.Options{}), "p=" + pictures, "r=" + berttest.WriteFolder(t, berttest.Options{Labels: 1})}, Drain: time.Minute, Log: "json",
	}
	s, url := startWith(t, command, terminal{&log, &log})
	texts, batches := "queue prefill decode", "queue batch compute"
	list := []traced{
		{"/v1/chat/completions", `{"model": "l", "max_tokens": 3, "temperature": 0, "messages": [{"role": "user", "content": "Hi"}]}`, "POST /v1/chat/completions",
			map[string]any{"gen_ai.operation.name": "chat", "gen_ai.request.model": "l", "gen_ai.usage.output_tokens": int64(3)}, texts},
		{"/v1/completions", `{"model": "l", "max_tokens": 2, "prompt": ["a", "b"]}`, "POST /v1/completions",
			map[string]any{"gen_ai.operation.name": "text_completion", "gen_ai.usage.output_tokens": int64(4)}, texts + " " + texts},
		{"/v1/messages", `{"model": "l", "max_tokens": 2, "messages": [{"role": "user", "content": "Hi"}]}`, "POST /v1/messages", map[string]any{"gen_ai.request.max_tokens": int64(2)}, texts},
		{"/completion", `{"model": "l", "n_predict": 2, "prompt": "a"}`, "POST /completion", map[string]any{"gen_ai.operation.name": "text_completion"}, texts},
		{"/v1/embeddings", `{"model": "v", "input": ["the cat", "a"]}`, "POST /v1/embeddings",
			map[string]any{"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "v", "gen_ai.usage.input_tokens": int64(7)}, batches},
		{"/v1/rerank", `{"query": "the cat", "documents": ["a"]}`, "POST /v1/rerank", map[string]any{"gen_ai.operation.name": "rerank", "gen_ai.request.model": "r", "gen_ai.usage.input_tokens": int64(6)}, batches},
		{"/v2/models/v/infer", `{"inputs": [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["the cat"]}]}`, "POST /v2/models/{model}/infer",
			map[string]any{"http.route": "/v2/models/{model}/infer"}, batches},
		{"/classify?model=p", picture(t), "POST /classify", map[string]any{"gopherwarp.model": "p", "url.path": "/classify"}, batches},
	}
	for _, x := range list {
		r, err := http.NewRequest(http.MethodPost, url+x.path, strings.NewReader(x.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", x.path, a.Status)
		}
	}
	ask(t, url+"/v1/completions", `{"model": "l", "max_tokens": 2, "prompt": "a"}`) // without a parent, which the sampler does not choose
	_, metrics, _ := ask(t, url+"/metrics", "")
	for _, want := range []string{
		`nv_inference_request_success{model="v",version="1"} 2`, `nv_inference_count{model="v",version="1"} 3`, `nv_inference_request_success{model="p",version="1"} 1`,
		`gopherwarp_spans_dropped_total{reason="full"} 0`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, metrics)
		}
	}
	s.tracer.Close(context.Background())
	s.tracer = nil // which the end of the test would close
	checkTraces(t, c.Spans(), list)
	if n := strings.Count(log.text.String(), `"trace_id":"0af7651916cd43dd8448eb211c80319c"`); n != len(list) {
		t.Errorf("%d lines of the log have the trace:\n%s", n, &log.text)
	}
}

// checkTraces compares spans with what requests must have.
func checkTraces(t *testing.T, got []spanstest.Span, list []traced) {
	t.Helper()
	for _, x := range list {
		i := slices.IndexFunc(got, func(s spanstest.Span) bool { return s.Name == x.name })
		if i < 0 {
			t.Errorf("there is no span %q", x.name)
			continue
		}
		root := got[i]
		if root.Trace != "0af7651916cd43dd8448eb211c80319c" || root.Parent != "b7ad6b7169203331" || root.Resource["service.name"] != "tiny" || root.Failed {
			t.Errorf("%s: %+v", x.path, root)
		}
		for key, want := range x.attributes {
			if root.Attributes[key] != want {
				t.Errorf("%s: %s is %v, want %v", x.path, key, root.Attributes[key], want)
			}
		}
		var names []string
		for _, s := range got {
			if s.Parent != root.ID {
				continue
			}
			names = append(names, s.Name)
			if s.Began.Before(root.Began) || s.Ended.After(root.Ended) || s.Ended.Before(s.Began) || s.Trace != root.Trace {
				t.Errorf("%s: the child %+v is not within %+v", x.path, s, root)
			}
		}
		if all := strings.Join(names, " "); all != x.children {
			t.Errorf("%s: the children are %s, want %s", x.path, all, x.children)
		}
	}
	if n := len(got); n != 8+7*3+6 {
		t.Errorf("%d spans", n)
	}
}

// Without variables of OpenTelemetry, or with invalid ones, there are no traces.
func TestNoTraces(t *testing.T) {
	var log lines
	for _, variables := range []map[string]string{
		{}, {"OTEL_SERVICE_NAME": "x"}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "c"},
	} {
		tracer, err := newTracer(terminal{&log, &log}, func(name string) string { return variables[name] })
		if tracer != nil || err != nil || len(spanMetrics(tracer)) > 0 {
			t.Errorf("%v: %v, %v", variables, tracer, err)
		}
	}
	if got := log.text.String(); !strings.Contains(got, "OTEL_EXPORTER_OTLP_ENDPOINT=c is ignored") {
		t.Errorf("the program prints %q", got)
	}
}

// A server ends in time although its collector does not answer, and says that traces are lost.
func TestTracesHang(t *testing.T) {
	hung := make(chan struct{})
	c := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	defer c.Close()
	defer close(hung)
	var log lines
	tracer, err := newTracer(terminal{&log, &log}, func(name string) string { return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL}[name] })
	if err != nil {
		t.Fatal(err)
	}
	s := &server{serveCommand: &serveCommand{Drain: 2 * time.Second}, tracer: tracer, draining: time.Now().Add(-time.Second)}
	h := tracer.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { spans.Of(r.Context()).Name("n") }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	began := time.Now()
	s.flush()
	if took := time.Since(began); took < 900*time.Millisecond || took > 10*time.Second || tracer.Stats().Failed != 1 {
		t.Errorf("the end takes %v, %+v", took, tracer.Stats())
	}
	if got := log.text.String(); !strings.Contains(got, "traces are lost: spans: ") {
		t.Errorf("the program prints %q", got)
	}
}
