package openai_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gopherwarp/gopherwarp/rerank"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// shared is a Reranker whose tokens are bytes, and whose logits are the number of bytes of a document that the query has, minus 2.
type shared struct {
	wait chan struct{} // unless it is nil, received from before each batch
	lost *atomic.Bool  // the device computes nothing
}

func (shared) Encode(query string, documents ...string) (list []rerank.Pair) {
	for _, d := range documents {
		var p rerank.Pair
		for i, b := range []byte(query + d) {
			p.Tokens, p.Types = append(p.Tokens, int32(b)), append(p.Types, 0)
			if i >= len(query) {
				p.Types[i] = 1
			}
		}
		if p.Truncated = len(p.Tokens) > 10; p.Truncated {
			p.Tokens, p.Types = p.Tokens[:10], p.Types[:10]
		}
		list = append(list, p)
	}
	return list
}

func (shared) Check(p rerank.Pair) error {
	if len(p.Tokens) == 0 {
		return errors.New("no tokens")
	}
	return nil
}

func (s shared) Logits(ctx context.Context, pairs ...rerank.Pair) (list []float32, err error) {
	if s.wait != nil {
		select {
		case <-s.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.lost != nil && s.lost.Load() {
		return nil, errors.New("the device is lost")
	}
	for _, p := range pairs {
		at := slices.Index(append(slices.Clone(p.Types), 1), 1)
		v := float32(-2)
		for _, id := range p.Tokens[at:] {
			if slices.Contains(p.Tokens[:at], id) {
				v++
			}
		}
		list = append(list, v)
	}
	return list, nil
}

func (shared) Relevance(logit float32) float32 { return logit / 4 }
func (shared) MaxTokens() int                  { return 10 }
func (shared) BatchTokens() int                { return 100 }

// serveReranker starts a server of a Reranker r, an Embedder e and a language model m.
func serveReranker(t *testing.T, r openai.Reranker, o openai.EmbedOptions) (string, *openai.Handler) {
	t.Helper()
	g, err := gate.New(gate.Options{Models: map[string]openai.Model{"m": &echo{}}, Others: []string{"e", "r"}})
	if err != nil {
		t.Fatal(err)
	}
	o.Models, o.Rerankers = embedders("e", letters{}), map[string]*repository.Model[openai.Reranker]{"r": repository.Loaded(r)}
	h, err := openai.HandleEmbedders(g, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, h
}

func TestRerank(t *testing.T) {
	url, _ := serveReranker(t, shared{}, openai.EmbedOptions{})
	id := regexp.MustCompile(`"id":"rerank-[A-Z2-7]{26}",`)
	for _, x := range []struct{ path, body, want string }{
		{"/v1/rerank", `{"model": "r", "query": "ab", "documents": ["x", {"text": "aba", "title": "t"}, "by"]}`,
			`{"model":"r","object":"list","results":[{"index":1,"document":{"text":"aba"},"relevance_score":0.25},{"index":2,"document":{"text":"by"},"relevance_score":-0.25},{"index":0,"document":{"text":"x"},"relevance_score":-0.5}],"usage":{"prompt_tokens":12,"total_tokens":12}}`},
		{"/v2/rerank", `{"query": "ab", "documents": ["x", "aba", "y"], "top_n": 2, "return_documents": false, "priority": -1}`,
			`{"model":"r","object":"list","results":[{"index":1,"relevance_score":0.25},{"index":0,"relevance_score":-0.5}],"usage":{"prompt_tokens":11,"total_tokens":11}}`},
		{"/v1/rerank", `{"query": "", "documents": ["x"], "top_n": 0}`, `{"model":"r","object":"list","results":[{"index":0,"document":{"text":"x"},"relevance_score":-0.5}],"usage":{"prompt_tokens":1,"total_tokens":1}}`},
		{"/rerank", `{"query": "a", "documents": ["aaaaaaaaaaaaaa"], "top_n": 9, "return_documents": false}`, `{"model":"r","object":"list","results":[{"index":0,"relevance_score":1.75}],"usage":{"prompt_tokens":10,"total_tokens":10}}`},
		{"/rerank", `{"query": "ab", "texts": ["x", "aba", "ay"]}`, `[{"index":1,"score":0.7310586},{"index":2,"score":0.26894143},{"index":0,"score":0.11920292}]`},
		{"/rerank", `{"query": "ab", "texts": ["x", "aba"], "raw_scores": true, "return_text": true, "truncate": false}`, `[{"index":1,"text":"aba","score":1},{"index":0,"text":"x","score":-2}]`},
	} {
		status, got := post(t, url+x.path, x.body)
		if short := id.ReplaceAllString(got, ""); status != http.StatusOK || short != x.want+"\n" || (short == got) != strings.HasPrefix(got, "[") {
			t.Errorf("%s %s: %d %s", x.path, x.body, status, got)
		}
	}
	if _, got := get(t, url+"/v1/models/r"); !strings.HasSuffix(got, `"capabilities":["rerank"]}`+"\n") {
		t.Errorf("the model is %s", got)
	}
}

func TestRerankMistakes(t *testing.T) {
	url, _ := serveReranker(t, shared{}, openai.EmbedOptions{Texts: 4})
	for _, x := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/rerank", `{"model": "r", "query": "a"}`, 400, `{"error":{"message":"documents: 0 texts, from 1 to 2048 are allowed","type":"invalid_request_error","param":"documents","code":null}}`},
		{"/v1/rerank", `{"model": "r", "documents": ["a"]}`, 400, "query: there is none"},
		{"/v1/rerank", `{"model": "r", "query": 1, "documents": ["a"]}`, 400, "query: a JSON number, want"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": "a"}`, 400, "documents: a JSON string, want array"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": [null]}`, 400, "neither a text nor an object"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": [{"title": "a"}]}`, 400, "neither a text nor an object"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": [1]}`, 400, "neither a text nor an object"},
		{"/v1/rerank", `{"model": "r", "query": "", "documents": ["a", ""]}`, 400, "documents: no tokens"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": ["a"], "top_n": -1}`, 400, "top_n: -1 is not from 0"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": ["a"], "priority": 2147483648}`, 400, "priority"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": ["a", "a", "a", "a", "a"]}`, 400, "documents: 5 texts, which are more than the server's queue holds"},
		{"/v1/rerank", `{"model": "r", "query": "a", "documents": [` + strings.Repeat(`"a",`, 2048) + ` "a"]}`, 400, "2049 texts"},
		{"/v1/rerank", `{"model": "e", "query": "a", "documents": ["a"]}`, 400, `the model \"e\" is no cross-encoder`},
		{"/v1/rerank", `{"model": "m", "query": "a", "documents": ["a"]}`, 400, `the model \"m\" is no cross-encoder`},
		{"/v1/rerank", `{"model": "x", "query": "a", "documents": ["a"]}`, 404, `"code":"model_not_found"`},
		{"/rerank", `{"model": "e", "query": "a", "texts": ["a"]}`, 400, `is no cross-encoder, which reranking needs: a model with a classification head and one label, such as bge-reranker-base or ms-marco-MiniLM-L-6-v2","error_type":"Validation"}`},
		{"/rerank", `{"query": "a", "texts": []}`, 400, `{"error":"texts: 0 texts, from 1 to 2048 are allowed","error_type":"Validation"}`},
		{"/rerank", `{"query": "a", "texts": ["a", "0123456789"], "truncate": false}`, 413, `{"error":"texts: the query and text 1 have more than 10 tokens together","error_type":"Validation"}`},
		{"/v1/embeddings", `{"model": "r", "input": "a"}`, 400, "computes no vectors: it is for /v1/rerank"},
		{"/embeddings", `{"model": "r", "input": "a"}`, 400, "computes no vectors: it is for /v1/rerank"},
		{"/reranking", `{"model": "r", "query": "a"}`, 400, `{"error":{"message":"documents: 0 texts, from 1 to 2048 are allowed"`},
		{"/v1/reranking", `{"model": "r", "query": "a"}`, 400, `{"error":{"message":"documents: 0 texts, from 1 to 2048 are allowed"`},
		{"/v1/completions", `{"model": "r", "prompt": "a"}`, 400, "is not for requests of this kind"},
	} {
		if status, got := post(t, url+x.path, x.body); status != x.status || !strings.Contains(got, x.want) {
			t.Errorf("%s %.80s: %d %s, want %d %s", x.path, x.body, status, got, x.status, x.want)
		}
	}
	g, err := gate.New(gate.Options{Others: []string{"e"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openai.HandleEmbedders(g, openai.EmbedOptions{Rerankers: map[string]*repository.Model[openai.Reranker]{"r": repository.Loaded[openai.Reranker](shared{})}}); !errors.Is(err, openai.ErrOptions) {
		t.Errorf("a model that the gate does not know: %v", err)
	}
	keyed, err := openai.New(openai.Options{Models: map[string]openai.Model{"m": &echo{}}, Keys: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
		w := httptest.NewRecorder()
		if keyed.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader("{}"))); w.Code != http.StatusUnauthorized {
			t.Errorf("%s without a key: %d %s", path, w.Code, w.Body)
		}
	}
}

// A full queue refuses requests, and the others are computed together. After an error of the device, the server is not healthy until the
// device computes again.
func TestRerankOverload(t *testing.T) {
	s := shared{wait: make(chan struct{}), lost: new(atomic.Bool)}
	var began []string
	url, _ := serveReranker(t, s, openai.EmbedOptions{Texts: 3, Began: func(model string) func(error) {
		return func(err error) { began = append(began, fmt.Sprint(model, err)) }
	}})
	const body = `{"model": "r", "query": "a", "texts": ["a"]}`
	var all sync.WaitGroup
	for i := range 4 { // one is computed, and three wait
		all.Go(func() {
			if status, got := post(t, url+"/rerank", body); status != http.StatusOK {
				t.Errorf("%d %s", status, got)
			}
		})
		waitFor(t, url, fmt.Sprintf("te_predict_count{model_name=\"r\"} %d", i+1))
		waitFor(t, url, fmt.Sprintf("te_queue_size{model_name=\"r\"} %d", i))
	}
	r, err := http.Post(url+"/rerank", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "1" || !slices.Equal(began, []string{"rbatch: the queue is full"}) {
		t.Errorf("a full queue: %d, %v, %q", r.StatusCode, r.Header, began)
	}
	close(s.wait)
	all.Wait()
	_, got := get(t, url+"/metrics")
	for _, want := range []string{
		`te_queue_size{model_name="r"} 0`, `te_predict_success{model_name="r"} 4`, `te_request_success{model_name="r"} 4`, `te_request_failure{err="overloaded",model_name="r"} 1`,
		`te_batch_next_size_count{model_name="r"} 2`, `te_batch_next_tokens_sum{model_name="r"} 8`, `te_request_input_length_sum{model_name="r"} 10`, `te_predict_duration_count{model_name="r"} 4`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	s.lost.Store(true)
	if status, got := post(t, url+"/rerank", body); status != 500 || got != `{"error":"the device is lost","error_type":"Backend"}`+"\n" {
		t.Errorf("without the device: %d %s", status, got)
	}
	if status, got := get(t, url+"/health"); status != 503 || !strings.Contains(got, "r: the device is lost") {
		t.Errorf("health without the device: %d %s", status, got)
	}
	s.lost.Store(false)
	if status, got := get(t, url+"/health"); status != 200 {
		t.Errorf("health with the device: %d %s", status, got)
	}
}

// rankWithClient ranks documents with the Python package cohere, in both versions of its API.
const rankWithClient = `
import cohere, json, sys
for client in cohere.ClientV2(api_key="x", base_url=sys.argv[1]), cohere.Client(api_key="x", base_url=sys.argv[1]):
    answer = client.rerank(model="r", query="ab", documents=["x", "aba", "by"], top_n=2)
    print([[r.index, r.relevance_score] for r in answer.results])
`

// TestRerankClient compares what the Python package cohere gets with the server's scores. The environment variable GOPHERWARP_PYTHON names
// another interpreter than python3.
func TestRerankClient(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import cohere").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import cohere: %v\n%s", python, err, out)
	}
	url, _ := serveReranker(t, shared{}, openai.EmbedOptions{})
	out, err := exec.CommandContext(t.Context(), python, "-c", rankWithClient, url).CombinedOutput()
	if want := strings.Repeat("[[1, 0.25], [2, -0.25]]\n", 2); err != nil || string(out) != want {
		t.Errorf("%v, %s, want %s", err, out, want)
	}
}
