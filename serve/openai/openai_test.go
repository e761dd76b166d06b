package openai_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// echo is a model that repeats the last message, a word at a time. All texts of a request are the same.
type echo struct {
	requests chan llm.Request
	wait     chan struct{} // unless it is nil, received from before each token
	ended    chan error    // unless it is nil, is sent the error of the context at the end
}

func (e *echo) Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return e.Generate(ctx, messages[len(messages)-1].Content, r)
}

func (e *echo) Generate(ctx context.Context, prompt string, r llm.Request) iter.Seq2[llm.Token, error] {
	if e.requests != nil {
		e.requests <- r
	}
	return func(yield func(llm.Token, error) bool) {
		if e.ended != nil {
			defer func() { e.ended <- ctx.Err() }()
		}
		words := strings.SplitAfter(prompt, " ")
		n := max(r.N, 1)
		*r.Usage = llm.Usage{Prompt: len(words), Known: 1, Generated: n * len(words)}
		for i, word := range words {
			if e.wait != nil {
				select {
				case <-e.wait:
				case <-ctx.Done():
					yield(llm.Token{}, ctx.Err())
					return
				}
			}
			failures := map[string]error{"fail": errors.New("the device is lost"), "long": llm.ErrContext, "busy": llm.ErrBusy, "device": llm.ErrDevice}
			if err := failures[word]; err != nil {
				yield(llm.Token{}, err)
				return
			}
			for word == "endless" && yield(llm.Token{Text: strings.Repeat("x", 10000)}, nil) {
			}
			if word == "endless" {
				return
			}
			t := llm.Token{Text: word}
			if i == len(words)-1 {
				t.Finish = llm.Ended
			}
			for t.Choice = range n {
				if !yield(t, nil) {
					return
				}
			}
		}
	}
}

// serve starts a server.
func serve(t *testing.T, o openai.Options) *httptest.Server {
	t.Helper()
	h, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// post sends a request and returns the status and the body.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// fields returns a JSON object without the fields that differ each time.
func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if id, ok := m["id"].(string); ok && !strings.Contains(id, "cmpl-") {
		t.Errorf("the id is %q", id)
	}
	if build, ok := m["system_fingerprint"].(string); ok && !strings.HasPrefix(build, "b") {
		t.Errorf("the build is %q", build)
	}
	delete(m, "system_fingerprint")
	delete(m, "id")
	delete(m, "created")
	return m
}

// check compares a JSON object with what is wanted.
func check(t *testing.T, got, want string) {
	t.Helper()
	if g, w := fields(t, got), fields(t, want); !reflect.DeepEqual(g, w) {
		t.Errorf("got %v\nwant %v", g, w)
	}
}

func TestChat(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	status, body := post(t, s.URL+"/v1/chat/completions", `{"model": "m", "temperature": 0.5, "top_p": 0.9, "top_k": 7, "min_p": 0.1, "seed": 3, "max_completion_tokens": 9,
		"stop": "x", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]}]}`)
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	check(t, body, `{"object": "chat.completion", "model": "m",
		"choices": [{"index": 0, "message": {"role": "assistant", "content": "a b"}, "logprobs": null, "finish_reason": "stop"}],
		"usage": {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}}}`)
	r := <-m.requests
	r.Usage, r.Template = nil, chat.Options{}
	if want := (llm.Request{MaxTokens: 9, Temperature: 0.5, TopK: 7, TopP: 0.9, MinP: 0.1, N: 1, Seed: 3, Stop: []string{"x"}}); !reflect.DeepEqual(r, want) {
		t.Errorf("the request is %+v, want %+v", r, want)
	}
}

// TestFormat checks that the grammar of response_format reaches the model.
func TestFormat(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	for path, fields := range map[string]string{"/v1/chat/completions": `{"messages": [{"role": "user", "content": "a"}]`, "/v1/completions": `{"prompt": "a"`} {
		for format, texts := range map[string][2]string{
			`"response_format": {"type": "json_object"}`: {`{"a": [1]}`, `[1]`},
			`"response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": {"type": "integer", "minimum": 10}}}`: {`10`, `9`},
			`"json_schema": {"type": "integer", "minimum": 10}`: {`10`, `9`},
		} {
			status, body := post(t, s.URL+path, fields+`, `+format+`}`)
			if status != 200 {
				t.Fatalf("%s %s: %d %s", path, format, status, body)
			}
			if r := <-m.requests; r.Grammar == nil || !r.Grammar.Match(texts[0]) || r.Grammar.Match(texts[1]) {
				t.Errorf("%s %s: %s, %+v", path, format, body, r)
			}
		}
		for _, format := range []string{`"response_format": {"type": "text"}`, `"response_format": null, "json_schema": null`} {
			post(t, s.URL+path, fields+`, `+format+`}`)
			if r := <-m.requests; r.Grammar != nil {
				t.Errorf("%s %s: the grammar is %v", path, format, r.Grammar)
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	if status, body := post(t, s.URL+"/v1/completions", `{"prompt": "a", "stop": null, "top_k": -1.0, "n": 1.0}`); status != http.StatusOK {
		t.Fatal(body)
	}
	r := <-m.requests
	if r.Temperature != 1 || r.MaxTokens != 16 || r.TopK != 0 || r.Stop != nil {
		t.Errorf("the request is %+v", r)
	}
}

// adaptable is a model with adapters. Its only answer is an empty text.
type adaptable struct {
	gate.Tokenized
	requests chan llm.Request
}

func (m adaptable) Chat(ctx context.Context, _ []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return m.Generate(ctx, "", r)
}

func (m adaptable) Generate(_ context.Context, _ string, r llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		m.requests <- r
		yield(llm.Token{Finish: llm.Ended}, nil)
	}
}

// The fields lora and n_predict of llama-server work on the paths of OpenAI's protocol.
func TestLlamaServerFields(t *testing.T) {
	m := adaptable{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}, Adapters: map[string]string{"a": "m", "b": "m"}})
	for path, base := range map[string]string{"/v1/chat/completions": `{"messages": [{"role": "user", "content": "a"}], `, "/v1/completions": `{"prompt": "a", `} {
		for _, c := range []struct {
			fields, model string
			adapter       string
			most          int
		}{
			{`"max_tokens": 3, "n_predict": 5`, "m", "", 5}, {`"max_tokens": 3, "n_predict": -1`, "m", "", 0}, {`"max_tokens": 3, "n_predict": null`, "m", "", 3},
			{`"n_predict": 5, "lora": [{"id": 1, "scale": 1}]`, "b", "b", 5}, {`"n_predict": 5, "model": "a", "lora": [{"id": 0, "scale": 0}]`, "m", "", 5},
			{`"n_predict": 5, "model": "a", "lora": []`, "a", "a", 5},
		} {
			status, body := post(t, s.URL+path, base+c.fields+`}`)
			if status != 200 || fields(t, body)["model"] != c.model {
				t.Fatalf("%s %s: %d %s", path, c.fields, status, body)
			}
			if r := <-m.requests; r.Adapter != c.adapter || r.MaxTokens != c.most {
				t.Errorf("%s %s: the adapter is %q, and the answer has at most %d tokens", path, c.fields, r.Adapter, r.MaxTokens)
			}
		}
		for field, want := range map[string]string{
			`"n_predict": 0`: `"param":"n_predict"`, `"lora": [{"id": 2, "scale": 1}]`: "there is no adapter 2", `"lora": [{"id": 0, "scale": 0.5}]`: "a scale other than 0 and 1",
		} {
			if status, body := post(t, s.URL+path, base+field+`}`); status != 400 || !strings.Contains(body, want) {
				t.Errorf("%s %s: %d %s, want %s", path, field, status, body, want)
			}
		}
	}
}

// A top_p of 0 permits only the most probable token. Without the field, all tokens are permitted.
func TestTopP(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	for path, fields := range map[string]string{
		"/v1/chat/completions": `{"messages": [{"role": "user", "content": "a"}]`, "/v1/completions": `{"prompt": "a"`, "/v1/responses": `{"input": "a"`,
	} {
		for top, want := range map[string]float64{"0": 0, "0.0": 0, "0.5": 0.7, "null": 0.7} {
			status, body := post(t, s.URL+path, fields+`, "temperature": 0.7, "top_p": `+top+`}`)
			if status != 200 || path == "/v1/responses" && (!strings.Contains(body, `"temperature":0.7`) || top == "0" && !strings.Contains(body, `"top_p":0,`)) {
				t.Fatalf("%s, top_p %s: %d %s", path, top, status, body)
			}
			if r := <-m.requests; r.Temperature != want {
				t.Errorf("%s, top_p %s: the temperature is %v, want %v", path, top, r.Temperature, want)
			}
		}
	}
}

func TestChoices(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 2)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	_, body := post(t, s.URL+"/v1/completions", `{"prompt": ["a b"], "n": 2, "seed": 10, "echo": true}`)
	check(t, body, `{"object": "text_completion", "model": "m",
		"choices": [{"index": 0, "text": "a ba b", "logprobs": null, "finish_reason": "stop"}, {"index": 1, "text": "a ba b", "logprobs": null, "finish_reason": "stop"}],
		"usage": {"prompt_tokens": 2, "completion_tokens": 4, "total_tokens": 6, "prompt_tokens_details": {"cached_tokens": 1}}}`)
	if r := <-m.requests; r.Seed != 10 || r.N != 2 {
		t.Errorf("the request has the seed %d and %d texts", r.Seed, r.N)
	}
	got := events(t, s.URL+"/v1/chat/completions", `{"stream": true, "n": 2, "messages": [{"role": "user", "content": "a b"}]}`)
	const head = `{"object": "chat.completion.chunk", "model": "m", "choices": [{"logprobs": null, "index": `
	want := []string{
		`0, "delta": {"role": "assistant", "content": null}, "finish_reason": null}]}`, `0, "delta": {"content": "a "}, "finish_reason": null}]}`,
		`1, "delta": {"role": "assistant", "content": null}, "finish_reason": null}]}`, `1, "delta": {"content": "a "}, "finish_reason": null}]}`,
		`0, "delta": {"content": "b"}, "finish_reason": null}]}`, `0, "delta": {}, "finish_reason": "stop"}]}`,
		`1, "delta": {"content": "b"}, "finish_reason": null}]}`, `1, "delta": {}, "finish_reason": "stop"}]}`,
	}
	if len(got) != len(want)+1 {
		t.Fatalf("events: %q", got)
	}
	for i := range want {
		check(t, got[i], head+want[i])
	}
}

// TestQueue checks what a model learns of the place of a request among others, and the answers when it refuses.
func TestQueue(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 4)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}, Keys: []string{"one", "two"}})
	send := func(path, body string) *http.Response {
		r, err := http.NewRequest("POST", s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer two")
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		return got
	}
	send("/v1/completions", `{"prompt": "a", "priority": -3, "cache_salt": "s"}`)
	if r := <-m.requests; r.User != "two" || r.Priority != -3 || r.Salt != "s" {
		t.Errorf("the user %q, priority %d, salt %q", r.User, r.Priority, r.Salt)
	}
	send("/v1/chat/completions", `{"messages": [{"role": "user", "content": "a"}]}`)
	if r := <-m.requests; r.User != "two" || r.Priority != 0 || r.Salt != "" {
		t.Errorf("the user %q, priority %d, salt %q", r.User, r.Priority, r.Salt)
	}
	if r := send("/v1/completions", `{"prompt": "busy"}`); r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("a full queue: %d, %v", r.StatusCode, r.Header)
	}
	if r := send("/v1/completions", `{"prompt": "device"}`); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a device that fails: %d", r.StatusCode)
	}
}

// events returns the data of a stream of events.
func events(t *testing.T, url, body string) (list []string) {
	t.Helper()
	status, text := post(t, url, body)
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, text)
	}
	for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
		if data, ok := strings.CutPrefix(scan.Text(), "data: "); ok {
			list = append(list, data)
		} else if scan.Text() != "" {
			t.Errorf("a line is %q", scan.Text())
		}
	}
	return list
}

func TestStream(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	got := events(t, s.URL+"/v1/chat/completions", `{"stream": true, "stream_options": {"include_usage": true}, "messages": [{"role": "user", "content": "a b"}]}`)
	const head = `{"object": "chat.completion.chunk", "model": "m", `
	want := []string{
		head + `"choices": [{"index": 0, "delta": {"role": "assistant", "content": null}, "logprobs": null, "finish_reason": null}]}`,
		head + `"choices": [{"index": 0, "delta": {"content": "a "}, "logprobs": null, "finish_reason": null}]}`,
		head + `"choices": [{"index": 0, "delta": {"content": "b"}, "logprobs": null, "finish_reason": null}]}`,
		head + `"choices": [{"index": 0, "delta": {}, "logprobs": null, "finish_reason": "stop"}]}`,
		head + `"choices": [], "usage": {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4, "prompt_tokens_details": {"cached_tokens": 1}}}`,
		"[DONE]",
	}
	if len(got) != len(want) || got[5] != want[5] {
		t.Fatalf("%d events: %q", len(got), got)
	}
	for i := range want[:5] {
		check(t, got[i], want[i])
	}
}

// TestTimings expects timings in an answer and in all parts of a stream but the first, which has only the role.
func TestTimings(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	const request = `{"timings_per_token": true, "stream": %t, "stream_options": {"include_usage": true}, "messages": [{"role": "user", "content": "a b c"}]}`
	list := events(t, s.URL+"/v1/chat/completions", fmt.Sprintf(request, true))
	_, answer := post(t, s.URL+"/v1/chat/completions", fmt.Sprintf(request, false))
	list = append(list[:len(list)-1], answer)
	if len(list) != 7 {
		t.Fatalf("%d parts and an answer: %q", len(list), list)
	}
	for i, text := range list {
		var part struct{ Timings map[string]float64 }
		if err := json.Unmarshal([]byte(text), &part); err != nil {
			t.Fatal(err)
		}
		x := part.Timings
		if i == 0 && x != nil || i > 0 && (x["cache_n"] != 1 || x["prompt_n"] != 2 || x["predicted_n"] != 3) {
			t.Errorf("part %d: timings %v", i, x)
		}
	}
}

func TestStreamOfText(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	got := events(t, s.URL+"/v1/completions", `{"stream": true, "prompt": "a", "echo": true}`)
	if len(got) != 3 || got[2] != "[DONE]" {
		t.Fatalf("events: %q", got)
	}
	check(t, got[0], `{"object": "text_completion", "model": "m", "choices": [{"index": 0, "text": "aa", "logprobs": null, "finish_reason": null}]}`)
	check(t, got[1], `{"object": "text_completion", "model": "m", "choices": [{"index": 0, "text": "", "logprobs": null, "finish_reason": "stop"}]}`)
}

func TestErrorInStream(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	got := events(t, s.URL+"/v1/completions", `{"stream": true, "prompt": "a fail"}`)
	if len(got) != 2 || !strings.Contains(got[1], `"message":"the device is lost"`) {
		t.Errorf("events: %q", got)
	}
}

func TestMistakes(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"a": &echo{}, "b": &echo{}}, Body: 1000})
	user := `"model": "a", "messages": [{"role": "user", "content": "hi"}]`
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"chat/completions", `{`, 400, "not a request in JSON"},
		{"chat/completions", `{} {}`, 400, "more after the object"},
		{"chat/completions", `{"model": "a"}`, 400, `"param":"messages"`},
		{"chat/completions", `{"model": "c", "messages": []}`, 404, `"code":"model_not_found"`},
		{"chat/completions", `{"messages": [{"role": "user", "content": "hi"}]}`, 404, "there is a, b"},
		{"chat/completions", `{"model": "a", "messages": [{"content": "hi"}]}`, 400, "message 0 has no role"},
		{"chat/completions", `{"model": "a", "messages": [{"role": "user", "content": "hi"}, {"role": "king", "content": "hi"}]}`, 400, `messages: message 1 has the role \"king\", want system, developer, user, assistant, tool or function","type":"invalid_request_error","param":"messages"`},
		{"chat/completions", `{"model": "a", "messages": [{"role": "assistant"}, {"role": "user"}]}`, 400, `"param":"messages[1].content"`},
		{"chat/completions", `{"model": "a", "messages": [{"role": "system", "content": null}]}`, 400, `"param":"messages[0].content"`},
		{"chat/completions", `{"model": "a", "messages": [{"role": "tool", "content": null}]}`, 400, `"param":"messages[0].content"`},
		{"responses", `{"model": "a", "input": [{"role": "user", "content": "x"}, {"role": "user"}]}`, 400, `"param":"input[1].content"`},
		{"chat/completions", "{\"model\": \"a\", \"messages\": [{\"role\": \"user\", \"content\": \"\xff\"}]}", 400, "not valid UTF-8"},
		{"chat/completions", `{` + user + `, "max_tokens": 3.5}`, 400, `"message":"max_tokens: a JSON number 3.5, want integer"`},
		{"responses", `{"model": "a", "input": [{"role": "king", "content": "hi"}]}`, 400, `input: item 0 has the role \"king\"`},
		{"chat/completions", `{"model": "a", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}`, 400, "only text is supported"},
		{"chat/completions", `{"model": "a", "messages": [{"role": "user", "content": 5}]}`, 400, "neither a text nor"},
		{"chat/completions", `{"model": "a", "messages": [{"role": "user", "content": "long"}]}`, 400, "context_length_exceeded"},
		{"chat/completions", `{"model": "a", "messages": [{"role": "user", "content": "fail"}]}`, 500, "server_error"},
		{"chat/completions", `{` + user + `, "temperature": 3}`, 400, "temperature: 3 is not from 0 to 2"},
		{"chat/completions", `{` + user + `, "temperature": "hot"}`, 400, `"message":"temperature: a JSON string, want number","type":"invalid_request_error","param":"temperature"`},
		{"chat/completions", `{` + user + `, "top_p": -1}`, 400, `"param":"top_p"`},
		{"chat/completions", `{` + user + `, "top_k": -2}`, 400, `"param":"top_k"`},
		{"chat/completions", `{` + user + `, "max_tokens": 0}`, 400, `"param":"max_tokens"`},
		{"chat/completions", `{` + user + `, "n": 100}`, 400, `"param":"n"`},
		{"chat/completions", `{` + user + `, "stop": 5}`, 400, "a list of texts"},
		{"chat/completions", `{` + user + `, "presence_penalty": 3}`, 400, "presence_penalty: 3 is not from -2 to 2"},
		{"chat/completions", `{` + user + `, "frequency_penalty": -3}`, 400, `"param":"frequency_penalty"`},
		{"chat/completions", `{` + user + `, "repetition_penalty": 0}`, 400, `"param":"repetition_penalty"`},
		{"chat/completions", `{` + user + `, "logit_bias": {"5": 101}}`, 400, `"param":"logit_bias"`},
		{"chat/completions", `{` + user + `, "logit_bias": {"x": 1}}`, 400, "is not the number of a token"},
		{"chat/completions", `{` + user + `, "top_logprobs": 1}`, 400, "needs logprobs"},
		{"chat/completions", `{` + user + `, "tools": [{}]}`, 400, "only functions are supported"},
		{"chat/completions", `{` + user + `, "tools": [{"type": "function", "function": {"name": "a b"}}]}`, 400, "the name \\\"a b\\\""},
		{"chat/completions", `{` + user + `, "tools": [{"type": "function", "function": {"name": "a", "parameters": 5}}]}`, 400, "not a JSON object"},
		{"chat/completions", `{` + user + `, "tools": [` + strings.Repeat(`{"type": "function"},`, 128) + `{"type": "function"}]}`, 413, ""},
		{"chat/completions", `{` + user + `, "tool_choice": "required"}`, 400, "there are no functions to call"},
		{"chat/completions", `{` + user + `, "tool_choice": {"type": "function", "function": {"name": "a"}}}`, 400, "there is no function"},
		{"chat/completions", `{` + user + `, "tool_choice": {"type": "custom"}}`, 400, "neither a text nor a function"},
		{"chat/completions", `{` + user + `, "tool_choice": "often"}`, 400, "not none, auto or required"},
		{"chat/completions", `{` + user + `, "functions": [{"name": "a"}]}`, 400, "unsupported_parameter"},
		{"chat/completions", `{` + user + `, "logprobs": true}`, 501, "no tokenizer"},
		{"chat/completions", `{` + user + `, "grammar": "root ::= x"}`, 400, "grammar is not supported"},
		{"chat/completions", `{` + user + `, "json_schema": {"type": "text"}}`, 400, "at #/type"},
		{"chat/completions", `{` + user + `, "response_format": {"type": "json_object", "schema": {"type": "text"}}}`, 400, "at #/type"},
		{"chat/completions", `{` + user + `, "response_format": {"type": "yaml"}}`, 400, `"param":"response_format"`},
		{"chat/completions", `{` + user + `, "response_format": {"type": "json_schema"}}`, 400, "has no schema"},
		{"chat/completions", `{` + user + `, "response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": "x"}}}}`, 400, `"code":"unsupported_schema"`},
		{"chat/completions", `{` + user + `, "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "text"}}}}`, 400, "at #/type"},
		{"chat/completions", `{"model": "` + strings.Repeat("x", 2000) + `"}`, 413, "more than 1000 bytes"},
		{"completions", `{"model": "a"}`, 400, `"param":"prompt"`},
		{"completions", `{"model": "a", "prompt": []}`, 400, `"param":"prompt"`},
		{"completions", `{"model": "a", "prompt": [["x", 5]]}`, 400, "neither a text, nor tokens"},
		{"completions", `{"model": "a", "prompt": [[5, null]]}`, 400, "neither a text, nor tokens"},
		{"completions", `{"model": "a", "prompt": ["x"` + strings.Repeat(`, "x"`, 128) + `]}`, 400, "at most 128"},
		{"completions", `{"model": "a", "prompt": "x", "logprobs": 1}`, 501, "no tokenizer"},
		{"completions", `{"model": "a", "prompt": "x", "logprobs": 1, "echo": true}`, 400, "probabilities of prompts"},
		{"completions", `{"model": "a", "prompt": "x", "n": 2, "best_of": 1}`, 400, "best_of: 1 is not from 2 to 16"},
		{"completions", `{"model": "a", "prompt": "x", "stream": true, "best_of": 2}`, 400, "cannot be streamed"},
		{"completions", `{"model": "a", "prompt": "x", "suffix": "y"}`, 400, "unsupported_parameter"},
		{"completions", `{"model": "a", "prompt": "x", "grammar": "root ::= x"}`, 400, "unsupported_parameter"},
		{"completions", `{"model": "a", "prompt": "x", "response_format": {"type": "xml"}}`, 400, `"param":"response_format"`},
		{"completions", `{"model": "a", "prompt": "x", "response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": "x"}}}}`, 400, `"code":"unsupported_schema"`},
		{"nothing", `{}`, 404, "there is no POST /v1/nothing"},
	} {
		if status, body := post(t, s.URL+"/v1/"+c.path, c.body); status != c.status || !strings.Contains(body, c.want) || !strings.HasPrefix(body, `{"error":{`) {
			t.Errorf("%s: %d %s, want %d and %s", c.body, status, body, c.status, c.want)
		}
	}
}

// A wrong method is another error than a wrong path.
func TestWrongMethod(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"a": &echo{}}})
	for path, want := range map[string]string{"/v1/chat/completions": "POST", "/v1/responses": "GET, HEAD, POST", "/health": "GET, HEAD", "/v1/models/a": "GET, HEAD"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		if err = errors.Join(err, a.Body.Close()); err != nil || a.StatusCode != http.StatusMethodNotAllowed || a.Header.Get("Allow") != want || !strings.Contains(string(text), `"type":"invalid_request_error"`) {
			t.Errorf("OPTIONS %s: %d, Allow %q: %s, %v; want %q", path, a.StatusCode, a.Header.Get("Allow"), text, err, want)
		}
	}
}

func TestModels(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"org/b": struct{ gate.Tokenized }{}, "a": &echo{}}, Adapters: map[string]string{"x": "org/b"}})
	for path, want := range map[string]string{
		"/v1/models": `{"object": "list", "data": [{"id": "a", "object": "model", "owned_by": "gopherwarp", "capabilities": ["completion"]},
			{"id": "org/b", "object": "model", "owned_by": "gopherwarp", "capabilities": ["completion"]},
			{"id": "x", "object": "model", "owned_by": "gopherwarp", "parent": "org/b", "capabilities": ["completion"]}]}`,
		"/v1/models/x":     `{"object": "model", "owned_by": "gopherwarp", "parent": "org/b", "capabilities": ["completion"]}`,
		"/v1/models/org/b": `{"object": "model", "owned_by": "gopherwarp", "capabilities": ["completion"]}`,
	} {
		r, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := errors.Join(json.NewDecoder(r.Body).Decode(&got), r.Body.Close()); err != nil {
			t.Fatal(err)
		}
		list, _ := got["data"].([]any)
		for _, x := range append(list, got) {
			delete(x.(map[string]any), "created")
		}
		if path != "/v1/models" {
			delete(got, "id")
		}
		var wanted map[string]any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil || !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s is %v, want %v", path, got, wanted)
		}
	}
}

func TestKeys(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}, Keys: []string{"one", "two"}})
	for header, want := range map[string]int{"": 401, "Bearer ": 401, "Bearer on": 401, "Bearer one": 200, "Bearer two": 200} {
		r, err := http.NewRequest("GET", s.URL+"/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", header)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != want {
			t.Errorf("with %q, the status is %d, want %d", header, got.StatusCode, want)
		}
	}
	if r, err := http.Get(s.URL + "/health"); err != nil || r.StatusCode != 200 {
		t.Errorf("health: %v, %v", r, err)
	}
}

func TestLimit(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 3), wait: make(chan struct{}), ended: make(chan error, 3)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}, Requests: 1})
	done := make(chan string)
	go func() {
		_, body := post(t, s.URL+"/v1/completions", `{"prompt": "a"}`)
		done <- body
	}()
	<-m.requests
	r, err := http.Post(s.URL+"/v1/completions", "application/json", strings.NewReader(`{"prompt": "b"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("a second request: %d, %v", r.StatusCode, r.Header)
	}
	m.wait <- struct{}{}
	if body := <-done; !strings.Contains(body, `"text":"a"`) {
		t.Errorf("the first request: %s", body)
	}
}

// A client that leaves ends the generation, and the server knows that it has left.
func TestLeave(t *testing.T) {
	m, left := &echo{wait: make(chan struct{}, 1), ended: make(chan error, 1)}, make(chan struct{})
	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"m": m}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(gate.WithLeft(r.Context(), func() { close(left) })))
	}))
	defer s.Close()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/v1/completions", strings.NewReader(`{"prompt": "a b c", "stream": true}`))
	if err != nil {
		t.Fatal(err)
	}
	m.wait <- struct{}{}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if _, err := got.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	leave()
	select {
	case err := <-m.ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the generation ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the generation goes on")
	}
	<-left
}

// A client that does not send its request is refused, and a client that does not read does not keep the server busy.
func TestSlowClients(t *testing.T) {
	m := &echo{ended: make(chan error, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}, ClientTimeout: time.Second})
	body, never := io.Pipe()
	defer never.Close()
	r, err := http.Post(s.URL+"/v1/completions", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusRequestTimeout {
		t.Errorf("without a body: %d", r.StatusCode)
	}
	r, err = http.Post(s.URL+"/v1/completions", "application/json", strings.NewReader(`{"stream": true, "prompt": "endless"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	select {
	case <-m.ended:
	case <-time.After(time.Minute):
		t.Fatal("the generation goes on")
	}
}

// An answer may take longer than a client may take to send its request.
func TestLongAnswer(t *testing.T) {
	m := &echo{wait: make(chan struct{}, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}, ClientTimeout: 50 * time.Millisecond})
	time.AfterFunc(300*time.Millisecond, func() { m.wait <- struct{}{} })
	if status, body := post(t, s.URL+"/v1/completions", `{"prompt": "a"}`); status != http.StatusOK {
		t.Errorf("%d: %s", status, body)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []openai.Options{{}, {Models: map[string]openai.Model{"m": &echo{}}, Requests: -1}, {Models: map[string]openai.Model{"m": &echo{}}, Keys: []string{""}}} {
		if _, err := openai.New(o); !errors.Is(err, openai.ErrOptions) {
			t.Errorf("New(%+v) returns %v", o, err)
		}
	}
}
