package openai_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/gate/gatetest"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// FuzzBody checks that no body of a request makes the server fail: statuses of 500 and more are its own mistakes, except that an answer
// may take too long.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{"messages": [{"role": "user", "content": "a"}], "max_tokens": 1, "stop": ["b"], "logprobs": true, "top_logprobs": 2}`,
		`{"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}], "max_completion_tokens": 1, "stream": true, "stream_options": {"include_usage": true}}`,
		`{"messages": [{"role": "user", "content": "a"}], "max_tokens": 2, "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}], "tool_choice": "required"}`,
		`{"messages": [{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "content": "x"}], "max_tokens": 1}`,
		`{"messages": [{"role": "user", "content": "a"}], "max_tokens": 2, "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}}`,
		`{"prompt": ["a", [1, 2], "b"], "max_tokens": 1, "n": 2, "best_of": 3, "echo": true}`, `{"prompt": "a", "max_tokens": 1, "logit_bias": {"5": -100}, "seed": -1}`,
		`{"input": "a", "max_output_tokens": 16}`, `{"input": [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], "max_output_tokens": 16, "text": {"format": {"type": "text"}}}`,
		`{"input": ["a", [1, 2]], "encoding_format": "base64"}`, `{"input": [99, 5], "dimensions": 2}`, `{"tokens": [1, 2, 300]}`, `{"content": "a", "with_pieces": true}`, `null`, `[]`, `{"stop": [1]}`,
		`{"prompt": [[1, "a"], "b"], "best_of": 3, "echo": true, "max_tokens": 1}`, `{"prompt": "a", "logprobs": 2, "presence_penalty": 1, "repetition_penalty": 0.5, "max_tokens": 1}`,
		`{"query": "a", "documents": ["a", {"text": "b"}], "top_n": 1, "return_documents": true, "priority": 1}`,
		`{"query": "a", "texts": ["a", "b"], "raw_scores": true, "return_text": true, "truncate": false}`,
		`{"model": "m", "input": [{"role": "user", "content": "a"}, {"type": "compaction", "encrypted_content": "YQ=="}]}`,
	} {
		f.Add(body)
		for i, odd := range gatetest.Odd(body) {
			if sweep.Every(5, i) {
				f.Add(odd)
			}
		}
	}
	dev, err := cpu.Open()
	if err != nil {
		f.Fatal(err)
	}
	m, err := llm.Open(dev, llamatest.Write(f, llamatest.Options{}), llm.Options{Context: 40})
	if err != nil {
		f.Fatal(err)
	}
	generates, embeds := gated(f, gate.Options{Models: map[string]gate.Model{"m": m}}), gated(f, gate.Options{Others: []string{"m"}})
	ranks := gated(f, gate.Options{Others: []string{"r"}})
	paths := map[string]*openai.Handler{"/v1/embeddings": embeds, "/v1/rerank": ranks, "/rerank": ranks}
	for _, path := range []string{"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/responses/compact", "/v1/chat/completions/input_tokens", "/tokenize", "/detokenize"} {
		paths[path] = generates
	}
	f.Fuzz(func(t *testing.T, body string) {
		for path, h := range paths {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
			if w.Code >= 500 && w.Code != 504 {
				t.Errorf("%s %.100q: %d %s", path, body, w.Code, w.Body)
			}
		}
	})
}

// gated returns a Handler for the models of a gate, of which those that generate no texts compute scores, if their name is r, or vectors.
func gated(f *testing.F, o gate.Options) *openai.Handler {
	f.Helper()
	o.AnyName, o.Time = true, time.Second
	g, err := gate.New(o)
	if err != nil {
		f.Fatal(err)
	}
	models := openai.EmbedOptions{Models: map[string]*repository.Model[openai.Embedder]{}, Rerankers: map[string]*repository.Model[openai.Reranker]{}}
	for _, name := range o.Others {
		if name == "r" {
			models.Rerankers[name] = repository.Loaded[openai.Reranker](shared{})
		} else {
			models.Models[name] = repository.Loaded[openai.Embedder](letters{})
		}
	}
	h, err := openai.HandleEmbedders(g, models)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(h.Close)
	return h
}
