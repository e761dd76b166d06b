package openai_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// letters is an Embedder whose tokens are bytes, and whose vectors are the number of tokens and the first one.
type letters struct {
	wait chan struct{} // unless it is nil, received from before each batch
	err  error
	lost *atomic.Bool // the device computes nothing
}

func (letters) Encode(text string) ([]int32, bool) {
	var tokens []int32
	for _, b := range []byte(text) {
		tokens = append(tokens, int32(b))
	}
	return tokens[:min(len(tokens), 10)], len(tokens) <= 10
}

func (letters) Check(tokens []int32) error {
	if len(tokens) == 0 {
		return errors.New("no tokens")
	}
	for _, id := range tokens {
		if id > 255 {
			return errors.New("no such token")
		}
	}
	return nil
}

func (l letters) EmbedTokens(ctx context.Context, texts ...[]int32) (list [][]float32, err error) {
	if l.wait != nil {
		select {
		case <-l.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if l.lost != nil && l.lost.Load() {
		return nil, errors.New("the device is lost")
	}
	for _, text := range texts {
		list = append(list, []float32{float32(len(text)), float32(text[0]) / 3})
	}
	return list, l.err
}

func (letters) Width() int       { return 2 }
func (letters) MaxTokens() int   { return 10 }
func (letters) BatchTokens() int { return 100 }

// embedders returns a loaded model.
func embedders(name string, e openai.Embedder) map[string]*repository.Model[openai.Embedder] {
	return map[string]*repository.Model[openai.Embedder]{name: repository.Loaded(e)}
}

// serveEmbedders starts a server of an Embedder e and a language model m.
func serveEmbedders(t *testing.T, e openai.Embedder, o openai.EmbedOptions) string {
	t.Helper()
	url, _ := serveHandler(t, e, o, map[string]openai.Model{"m": &echo{}})
	return url
}

// serveHandler starts a server of an Embedder e and other models.
func serveHandler(t *testing.T, e openai.Embedder, o openai.EmbedOptions, others map[string]openai.Model) (string, *openai.Handler) {
	t.Helper()
	g, err := gate.New(gate.Options{Models: others, Others: []string{"e"}})
	if err != nil {
		t.Fatal(err)
	}
	o.Models = embedders("e", e)
	h, err := openai.HandleEmbedders(g, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, h
}

func TestEmbeddings(t *testing.T) {
	url := serveEmbedders(t, letters{}, openai.EmbedOptions{})
	for body, want := range map[string]string{
		`{"model": "e", "input": "abc"}`:                                                                             `{"data":[{"object":"embedding","index":0,"embedding":[3,32.333332]}],"model":"e","object":"list","usage":{"prompt_tokens":3,"total_tokens":3}}`,
		`{"model": "e", "input": ["c", "ab"], "dimensions": 2}`:                                                      `{"data":[{"object":"embedding","index":0,"embedding":[1,33]},{"object":"embedding","index":1,"embedding":[2,32.333332]}],"model":"e","object":"list","usage":{"prompt_tokens":3,"total_tokens":3}}`,
		`{"model": "e", "input": [99, 5], "encoding_format":"float"}`:                                                `{"data":[{"object":"embedding","index":0,"embedding":[2,33]}],"model":"e","object":"list","usage":{"prompt_tokens":2,"total_tokens":2}}`,
		`{"model": "e", "input": ["c", {"prompt_string": "c"}, {"content": [{"type": "text", "text": "c"}]}, [99]]}`: `{"data":[{"object":"embedding","index":0,"embedding":[1,33]},{"object":"embedding","index":1,"embedding":[1,33]},{"object":"embedding","index":2,"embedding":[1,33]},{"object":"embedding","index":3,"embedding":[1,33]}],"model":"e","object":"list","usage":{"prompt_tokens":4,"total_tokens":4}}`,
		`{"model": "e", "input": [[99], [6, 5, 4]]}`:                                                                 `{"data":[{"object":"embedding","index":0,"embedding":[1,33]},{"object":"embedding","index":1,"embedding":[3,2]}],"model":"e","object":"list","usage":{"prompt_tokens":4,"total_tokens":4}}`,
	} {
		if status, got := post(t, url+"/v1/embeddings", body); status != http.StatusOK || got != want+"\n" {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	_, got := post(t, url+"/v1/embeddings", `{"model": "e", "input": "c", "encoding_format": "base64"}`)
	if want := base64.StdEncoding.EncodeToString([]byte{0, 0, 0x80, 0x3f, 0, 0, 4, 0x42}); !strings.Contains(got, `"embedding":"`+want+`"`) {
		t.Errorf("base64: %s, want %s", got, want)
	}
	if _, got := get(t, url+"/v1/models"); !strings.Contains(got, `"id":"e"`) || !strings.Contains(got, `"id":"m"`) {
		t.Errorf("models: %s", got)
	}
}

// ordered is an Embedder that notes the first tokens of its batches, which have a text each.
type ordered struct {
	letters
	begun chan int32
}

func (ordered) BatchTokens() int { return 1 }

func (o ordered) EmbedTokens(ctx context.Context, texts ...[]int32) ([][]float32, error) {
	o.begun <- texts[0][0]
	return o.letters.EmbedTokens(ctx, texts...)
}

// Requests with a smaller priority are computed first.
func TestEmbeddingsPriority(t *testing.T) {
	e := ordered{letters{wait: make(chan struct{})}, make(chan int32)}
	url, h := serveHandler(t, e, openai.EmbedOptions{}, nil)
	var all sync.WaitGroup
	for i, fields := range []string{"", `, "priority": 1`, `, "priority": 0`, `, "priority": -2147483648`, ""} {
		all.Go(func() {
			if status, got := post(t, url+"/v1/embeddings", fmt.Sprintf(`{"input": [%d]%s}`, i+1, fields)); status != 200 {
				t.Errorf("%s: %d %s", fields, status, got)
			}
		})
		if i == 0 {
			<-e.begun
			continue
		}
		for want := fmt.Sprintf("te_queue_size{model_name=\"e\"} %d\n", i); ; time.Sleep(time.Millisecond) {
			if _, got := get(t, url+"/metrics"); strings.Contains(got, want) {
				break
			}
		}
	}
	var order []int32
	for range 4 {
		e.wait <- struct{}{}
		order = append(order, <-e.begun)
	}
	e.wait <- struct{}{}
	if all.Wait(); !slices.Equal(order, []int32{4, 3, 5, 2}) {
		t.Errorf("the order is %v", order)
	}
	if status, got := post(t, url+"/v1/embeddings", `{"input": "a", "priority": 2147483648}`); status != 400 || !strings.Contains(got, "priority") {
		t.Errorf("a priority out of range: %d %s", status, got)
	}
	h.Close()
}

// The function of EmbedOptions.Began hears of each request, and of its error.
func TestEmbeddingsBegan(t *testing.T) {
	var got []string
	url := serveEmbedders(t, letters{}, openai.EmbedOptions{Began: func(model string) func(error) {
		return func(err error) { got = append(got, fmt.Sprint(model, err)) }
	}})
	for _, input := range []string{`"a"`, `[]`} {
		post(t, url+"/v1/embeddings", `{"model": "e", "input": `+input+`}`)
	}
	if want := []string{"e<nil>", "einput: 0 texts, from 1 to 2048 are allowed"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmbeddingsMistakes(t *testing.T) {
	url := serveEmbedders(t, letters{}, openai.EmbedOptions{Texts: 4})
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"model": "e", "input": []}`:                                         {400, "0 texts, from 1 to 2048 are allowed"},
		`{"model": "e"}`:                                                      {400, "0 texts"},
		`{"model": "e", "input": {"a": 1}}`:                                   {400, "neither a text"},
		`{"model": "e", "input": {"content": "a"}}`:                           {400, "neither a text"},
		`{"model": "e", "input": {"content": [{"type": "image_url"}]}}`:       {400, "neither a text"},
		`{"model": "e", "input": [null]}`:                                     {400, "neither a text"},
		`{"model": "e", "input": [1.5]}`:                                      {400, "neither a text"},
		`{"model": "e", "input": ["a", "01234567890"]}`:                       {400, `text 1 is too large: it has more than 10 tokens","type":"invalid_request_error","param":"input","code":"context_length_exceeded"`},
		`{"model": "e", "input": [1, 256]}`:                                   {400, "no such token"},
		`{"model": "e", "input": "a", "encoding_format": "int8"}`:             {400, "neither float nor base64"},
		`{"model": "e", "input": "a", "dimensions": 1}`:                       {400, "the model has 2"},
		`{"model": "m", "input": "a"}`:                                        {400, "is not for requests of this kind"},
		`{"model": "x", "input": "a"}`:                                        {404, "there is e, m"},
		`{"model": "e", "input": ["a", "a", "a", "a", "a"]}`:                  {400, "more than the server's queue holds"},
		`{"model": "e", "input": [` + strings.Repeat(`"a",`, 2048) + ` "a"]}`: {400, "2049 texts"},
	} {
		if status, got := post(t, url+"/v1/embeddings", body); status != want.status || !strings.Contains(got, want.text) {
			t.Errorf("%.80s: %d %s, want %d %s", body, status, got, want.status, want.text)
		}
	}
	if status, got := post(t, url+"/v1/completions", `{"model": "e", "prompt": "a"}`); status != 400 {
		t.Errorf("a completion: %d %s", status, got)
	}
	if _, got := get(t, url+"/v1/models/e"); !strings.HasSuffix(got, `"capabilities":["embedding"]}`+"\n") {
		t.Errorf("the model is %s", got)
	}
	_, got := get(t, url+"/metrics")
	for _, want := range []string{`te_request_failure{err="validation",model_name="e"} 8`, `te_request_count{model_name="e"} 8`} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	broken := serveEmbedders(t, letters{err: errors.New("the device is lost")}, openai.EmbedOptions{})
	if status, got := post(t, broken+"/v1/embeddings", `{"model": "e", "input": "a"}`); status != 500 || !strings.Contains(got, "the device is lost") {
		t.Errorf("an error of the device: %d %s", status, got)
	}
	if status, got := get(t, broken+"/health"); status != http.StatusServiceUnavailable || !strings.Contains(got, "e: the device is lost") {
		t.Errorf("health after an error of the device: %d %s", status, got)
	}
	if _, err := gate.New(gate.Options{Models: map[string]openai.Model{"e": &echo{}}, Others: []string{"e"}}); !errors.Is(err, openai.ErrOptions) {
		t.Errorf("two models with a name: %v", err)
	}
	g, err := gate.New(gate.Options{Others: []string{"e"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []openai.EmbedOptions{{Models: embedders("f", letters{})}, {Models: embedders("e", letters{}), Delay: -1}, {Models: embedders("e", letters{}), Texts: -1}} {
		if _, err := openai.HandleEmbedders(g, o); !errors.Is(err, openai.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// After an error of the device, the server is not healthy until the device computes again, also if no request comes.
func TestEmbeddingsHealth(t *testing.T) {
	e := letters{lost: new(atomic.Bool)}
	url := serveEmbedders(t, e, openai.EmbedOptions{})
	check := func(when string, wantHealth, wantAnswer int) {
		t.Helper()
		answer, _ := post(t, url+"/v1/embeddings", `{"model": "e", "input": "a"}`)
		if health, text := get(t, url+"/health"); answer != wantAnswer || health != wantHealth {
			t.Errorf("%s: an answer %d, health %d %s", when, answer, health, text)
		}
	}
	check("at first", 200, 200)
	e.lost.Store(true)
	check("without the device", 503, 500)
	e.lost.Store(false)
	if health, text := get(t, url+"/health"); health != 200 {
		t.Errorf("the device is back: health %d %s", health, text)
	}
	check("at last", 200, 200)
}

// A full queue refuses requests, those that it has accepted are answered together, and gauges return to 0.
func TestEmbeddingsOverload(t *testing.T) {
	e := letters{wait: make(chan struct{})}
	url, h := serveHandler(t, e, openai.EmbedOptions{Texts: 3}, nil)
	var all sync.WaitGroup
	for i := range 4 { // one is computed, and three wait
		all.Go(func() {
			if status, got := post(t, url+"/v1/embeddings", `{"input": "abc"}`); status != http.StatusOK {
				t.Errorf("%d %s", status, got)
			}
		})
		waitFor(t, url, []string{"te_embed_count{model_name=\"e\"} 1", "te_queue_size{model_name=\"e\"} 1", "te_queue_size{model_name=\"e\"} 2", "te_queue_size{model_name=\"e\"} 3"}[i])
		if i == 0 {
			waitFor(t, url, `te_queue_size{model_name="e"} 0`)
		}
	}
	r, err := http.Post(url+"/v1/embeddings", "application/json", strings.NewReader(`{"input": "abc"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "1" {
		t.Errorf("a full queue: %d, %v", r.StatusCode, r.Header)
	}
	closed := make(chan struct{})
	go func() { h.Close(); close(closed) }()
	close(e.wait)
	all.Wait()
	<-closed
	_, got := get(t, url+"/metrics")
	for _, want := range []string{
		`te_queue_size{model_name="e"} 0`, `te_embed_success{model_name="e"} 4`, `te_request_success{model_name="e"} 4`, `te_request_failure{err="overloaded",model_name="e"} 1`,
		`te_batch_next_size_count{model_name="e"} 2`, `te_batch_next_size_sum{model_name="e"} 4`, `te_batch_next_tokens_sum{model_name="e"} 12`,
		`te_request_queue_duration_count{model_name="e"} 4`, `te_request_inference_duration_count{model_name="e"} 2`, `te_request_duration_count{model_name="e"} 4`,
		`te_request_tokenization_duration_count{model_name="e"} 5`, `te_request_input_length_sum{model_name="e"} 15`, `te_embed_duration_count{model_name="e"} 4`,
		`te_embed_tokenization_duration_count{model_name="e"} 5`, `te_embed_queue_duration_count{model_name="e"} 4`, `te_embed_inference_duration_count{model_name="e"} 4`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	if status, got := post(t, url+"/v1/embeddings", `{"input": "abc"}`); status != http.StatusServiceUnavailable {
		t.Errorf("after Close: %d %s", status, got)
	}
}

// waitFor waits until the metrics have a line.
func waitFor(t *testing.T, url, line string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		_, got := get(t, url+"/metrics")
		if strings.Contains(got, line+"\n") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("there is no %s in\n%s", line, got)
		}
	}
}

// embedWithClient computes vectors with the Python package openai, which asks for base64.
const embedWithClient = `
import json, openai, sys
client = openai.OpenAI(base_url=sys.argv[1], api_key="unused")
answer = client.embeddings.create(model="e", input=["the cat sat", "a dog"])
print(json.dumps([d.embedding for d in answer.data]))
`

// TestClient compares vectors that the Python package openai gets with those of the library. The environment variable GOPHERWARP_PYTHON
// names another interpreter than python3.
func TestClient(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import openai").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import openai: %v\n%s", python, err, out)
	}
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := embeddings.Open(dev, berttest.WriteFolder(t, berttest.Options{Pooling: "pooling_mode_mean_tokens"}), embeddings.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out, err := exec.CommandContext(t.Context(), python, "-c", embedWithClient, serveEmbedders(t, m, openai.EmbedOptions{})+"/v1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got [][]float64
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := m.Embed(t.Context(), "the cat sat", "a dog")
	if err != nil || len(got) != 2 {
		t.Fatalf("%d vectors, %v", len(got), err)
	}
	for i, v := range want {
		for j, w := range v {
			if math.Abs(got[i][j]-float64(w)) > 1e-6 {
				t.Fatalf("text %d, element %d is %v, want %v", i, j, got[i][j], w)
			}
		}
	}
}
