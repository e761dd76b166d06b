package openai_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// onDemand returns options for the models "m", which is a reporter, and "broken", which cannot be loaded.
func onDemand(t *testing.T, keep time.Duration) (openai.Options, *reporter) {
	t.Helper()
	r, found := repository.New(repository.Options{KeepAlive: keep}), &reporter{}
	o := openai.Options{Repository: r, OnDemand: map[string]*repository.Model[openai.Model]{}}
	for name, broken := range map[string]error{"m": nil, "broken": errors.New("no file")} {
		var err error
		o.OnDemand[name], err = repository.Add(r, name, func(context.Context) (openai.Model, func() error, error) {
			return found, func() error { return nil }, broken
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return o, found
}

// A connection of WebSocket keeps a model loaded only while it generates a response.
func TestSocketOnDemand(t *testing.T) {
	o, _ := onDemand(t, time.Millisecond)
	c := connect(t, serve(t, o).URL, "")
	for loads := range 3 {
		if m := c.end(`{"type": "response.create", "model": "m", "input": "a"}`); m.Response.Status != "completed" {
			t.Errorf("%+v", m)
		}
		for end := time.Now().Add(time.Minute); o.OnDemand["m"].Status().State != repository.Unloaded; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("after a response, the model is %+v", o.OnDemand["m"].Status())
			}
		}
		if got := o.OnDemand["m"].Status().Loads; got != int64(loads+1) {
			t.Errorf("%d loads, want %d", got, loads+1)
		}
	}
	if m := c.end(`{"type": "response.create", "model": "broken", "input": "a"}`); m.Status != http.StatusServiceUnavailable || m.Error.Code != "model_not_loaded" {
		t.Errorf("%+v", m)
	}
}

// Only models that are loaded count for the health, unless none can be loaded.
func TestHealthOnDemand(t *testing.T) {
	o, m := onDemand(t, 0)
	url := serve(t, o).URL
	health := func(want int, text string) {
		t.Helper()
		if status, got := get(t, url+"/health"); status != want || !strings.Contains(got, text) {
			t.Errorf("%d %s, want %d %s", status, got, want, text)
		}
	}
	m.err = errors.New("the device is lost")
	health(200, "")
	if err := o.Repository.Load(t.Context(), "m"); err != nil {
		t.Error(err)
	}
	health(503, "m: the device is lost")
	m.err = nil
	health(200, "")
	if err := o.Repository.Load(t.Context(), "broken"); err == nil {
		t.Error("no error")
	}
	health(200, "")
	if _, got := get(t, url+"/v1/models"); !strings.Contains(got, `"status":{"value":"unloaded","failed":true,"error":"no file"}`) || !strings.Contains(got, `"status":{"value":"loaded"}`) {
		t.Errorf("the models are %s", got)
	}
	r := repository.New(repository.Options{})
	alone, err := repository.Add(r, "alone", func(context.Context) (openai.Model, func() error, error) { return nil, nil, errors.New("no file") })
	if err != nil {
		t.Fatal(err)
	}
	url = serve(t, openai.Options{Repository: r, OnDemand: map[string]*repository.Model[openai.Model]{"alone": alone}}).URL
	health(200, "")
	if status, got := post(t, url+"/v1/completions", `{"prompt": "a"}`); status != 503 {
		t.Errorf("%d %s", status, got)
	}
	health(503, "alone: no file")
}

// An embedding model is loaded by a request for vectors, and again after it has been unloaded. The queue stays.
func TestEmbeddingsOnDemand(t *testing.T) {
	r, broken := repository.New(repository.Options{}), error(nil)
	m, err := repository.Add(r, "e", func(context.Context) (openai.Embedder, func() error, error) {
		return letters{}, func() error { return nil }, broken
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(gate.Options{Others: []string{"e"}, Repository: r})
	if err != nil {
		t.Fatal(err)
	}
	h, err := openai.HandleEmbedders(g, openai.EmbedOptions{Models: map[string]*repository.Model[openai.Embedder]{"e": m}, Health: func(context.Context) error { return broken }})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	defer s.Close()
	for loads := range int64(2) {
		if status, got := post(t, s.URL+"/v1/embeddings", `{"input": ["abc", "d"]}`); status != 200 || m.Status().Loads != loads+1 {
			t.Errorf("%d %s; %+v", status, got, m.Status())
		}
		if err := r.Unload(t.Context(), "e"); err != nil {
			t.Error(err)
		}
	}
	broken = errors.New("no file")
	if n, err := h.Queued("e").Width(t.Context()); n != 0 || !errors.Is(err, broken) {
		t.Errorf("Width returns %d, %v", n, err)
	}
	if status, got := post(t, s.URL+"/v1/embeddings", `{"input": "a"}`); status != 503 || !strings.Contains(got, `"model_not_loaded"`) {
		t.Errorf("%d %s", status, got)
	}
	if _, got := get(t, s.URL+"/metrics"); !strings.Contains(got, `te_request_failure{err="backend",model_name="e"} 1`+"\n") || !strings.Contains(got, `te_queue_size{model_name="e"} 0`+"\n") {
		t.Errorf("the metrics are %s", got)
	}
	if status, got := get(t, s.URL+"/health"); status != 503 || !strings.Contains(got, "no file") {
		t.Errorf("%d %s", status, got)
	}
	broken = nil
	h.Close()
	if err := r.Load(t.Context(), "e"); err != nil {
		t.Error(err)
	}
	if status, got := post(t, s.URL+"/v1/embeddings", `{"input": "a"}`); status != 503 || !strings.Contains(got, "the server is shutting down") {
		t.Errorf("after Close: %d %s", status, got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
