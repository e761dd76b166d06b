package llamacpp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/llamacpp"
)

// next answers with the path of a request.
func next(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }

// serve serves a model with random weights.
func serve(t *testing.T, keys ...string) (url string) {
	t.Helper()
	return serveWith(t, nil, keys...)
}

// serveWith is serve for a model with adapters, which are in folders.
func serveWith(t *testing.T, adapters map[string]string, keys ...string) (url string) {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 2, Adapters: adapters})
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for name := range adapters {
		of[name] = "m"
	}
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"m": m}, Adapters: of, Keys: keys, AnyName: true})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(llamacpp.Handle(g, http.HandlerFunc(next), llamacpp.Options{Paths: map[string]string{"m": "m.gguf"}, Slots: 2}))
	t.Cleanup(func() {
		s.Close()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.URL
}

// send sends a request, with GET if there is no body, and returns the status and the answer.
func send(t *testing.T, url, body string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	if body != "" {
		r, err = http.Post(url, "application/json", strings.NewReader(body))
	}
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

// completion is an answer, or a part of one.
type completion struct {
	Index     int
	Content   string
	Tokens    []int32
	Stop      bool
	StopType  string `json:"stop_type"`
	Word      string `json:"stopping_word"`
	Prompt    string
	Predicted int `json:"tokens_predicted"`
	Evaluated int `json:"tokens_evaluated"`
	Timings   map[string]float64
	Settings  map[string]any `json:"generation_settings"`
	Logs      []struct {
		ID      int32
		Token   string
		Logprob float64
		Top     []struct{ ID int32 } `json:"top_logprobs"`
	} `json:"completion_probabilities"`
}

// decode decodes an answer with status 200.
func decode[T any](t *testing.T, status int, text string) (x T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &x); err != nil || status != http.StatusOK {
		t.Fatalf("%v: %d %s", err, status, text)
	}
	return x
}

func TestCompletion(t *testing.T) {
	url := serve(t) + "/completion"
	status, text := send(t, url, `{"prompt": "Hi", "n_predict": 5.0, "temperature": 0, "n_probs": 3, "return_tokens": true, "ignore_eos": true, "model": "other"}`)
	x := decode[completion](t, status, text)
	if !x.Stop || x.StopType != "limit" || x.Predicted != 5 || len(x.Tokens) != 5 || x.Evaluated < 2 || x.Prompt != "Hi" || len(x.Logs) != 5 || x.Settings["n_predict"] != 5.0 {
		t.Errorf("%s", text)
	}
	for i, l := range x.Logs {
		if l.ID != x.Tokens[i] || len(l.Top) != 3 || l.Top[0].ID != l.ID || !(l.Logprob < 0) {
			t.Errorf("token %d: %+v", i, l)
		}
	}
	if n := x.Timings["predicted_n"]; n != 5 || x.Timings["prompt_n"]+x.Timings["cache_n"] != float64(x.Evaluated) || !(x.Timings["predicted_per_second"] > 0) {
		t.Errorf("timings: %v", x.Timings)
	}
	status, text = send(t, url, `{"prompt": "Hi", "n_predict": 1, "response_fields": ["content", "generation_settings/n_predict", "none"]}`)
	if fields := decode[map[string]any](t, status, text); len(fields) != 2 || fields["generation_settings/n_predict"] != 1.0 {
		t.Errorf("fields: %s", text)
	}
	status, text = send(t, url, `{"prompt": "Hi", "logit_bias": {"A": 1000}, "stop": ["AAA"]}`)
	if x := decode[completion](t, status, text); x.StopType != "word" || x.Word != "AAA" || x.Content != "" {
		t.Errorf("until AAA: %s", text)
	}
}

// With n_predict 0, the prompt is computed and found in the cache by later requests, and the text is empty.
func TestEvaluate(t *testing.T) {
	url := serve(t) + "/completion"
	prompt := strings.Repeat("The moon ", 4)
	ask := func(fields string) completion {
		status, text := send(t, url, `{"prompt": "`+prompt+`", "temperature": 0, "n_probs": 1, "return_tokens": true, `+fields+`}`)
		return decode[completion](t, status, text)
	}
	x := ask(`"n_predict": 0`)
	if x.Content != "" || len(x.Tokens)+len(x.Logs)+x.Predicted != 0 || !x.Stop || x.StopType != "limit" || x.Settings["n_predict"] != 0.0 || x.Evaluated != len(prompt) {
		t.Errorf("%+v", x)
	}
	if x.Timings["predicted_n"] != 0 || x.Timings["prompt_n"] != float64(len(prompt)) {
		t.Errorf("timings: %v", x.Timings)
	}
	if x := ask(`"n_predict": 1`); x.Timings["cache_n"] < float64(len(prompt)-16) || x.Predicted != 1 {
		t.Errorf("timings of the next request: %v", x.Timings)
	}
	status, text := send(t, url, `{"prompt": ["a", "b"], "n_predict": 0, "stream": true}`)
	if status != http.StatusOK || strings.Count(text, "data: ") != 2 || strings.Count(text, `"stop_type":"limit"`) != 2 {
		t.Errorf("a stream: %d %s", status, text)
	}
}

// A client can send back the seed of an answer, also one of 64 bits, and gets the same text.
func TestSeeds(t *testing.T) {
	url := serve(t) + "/completion"
	ask := func(fields string) (seed, content string) {
		status, text := send(t, url, `{"prompt": "Hi", "n_predict": 8, "temperature": 2, "top_k": 0, "top_p": 1, "min_p": 0, "ignore_eos": true`+fields+`}`)
		x := decode[struct {
			Content  string
			Settings struct{ Seed json.Number } `json:"generation_settings"`
		}](t, status, text)
		return string(x.Settings.Seed), x.Content
	}
	for _, fields := range []string{"", `, "seed": -1`, `, "seed": 16513655310154552090`} {
		seed, content := ask(fields)
		if n, err := strconv.ParseUint(seed, 10, 64); err != nil || !strings.HasSuffix(fields, seed) && n >= 1<<32 {
			t.Errorf("%s: the seed is %s", fields, seed)
		}
		if again, same := ask(`, "seed": ` + seed); again != seed || same != content {
			t.Errorf("%s: seed %s gives %q, and then seed %s gives %q", fields, seed, content, again, same)
		}
	}
}

// A top_p of 0 permits only the most probable token. The settings in the answer are those of the request.
func TestTopP(t *testing.T) {
	url := serve(t) + "/completion"
	ask := func(fields string) completion {
		status, text := send(t, url, `{"prompt": "Hi", "n_predict": 8, "top_k": 0, "min_p": 0, "ignore_eos": true, `+fields+`}`)
		return decode[completion](t, status, text)
	}
	want := ask(`"temperature": 0`)
	for seed := range 3 {
		got := ask(fmt.Sprintf(`"temperature": 2, "top_p": 0, "seed": %d`, seed))
		if got.Content != want.Content || got.Settings["temperature"] != 2.0 || got.Settings["top_p"] != 0.0 {
			t.Errorf("seed %d: %q, want %q; %v", seed, got.Content, want.Content, got.Settings)
		}
	}
}

func TestCompletionStream(t *testing.T) {
	url := serve(t) + "/completions"
	const body = `{"prompt": "Hi", "n_predict": 6, "temperature": 0, "n_probs": 1, "ignore_eos": true`
	status, text := send(t, url, body+"}")
	want := decode[completion](t, status, text)
	_, text = send(t, url, body+`, "stream": true}`)
	var all string
	var parts []completion
	for line := range strings.Lines(text) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			parts = append(parts, decode[completion](t, 200, data))
			all += parts[len(parts)-1].Content
		}
	}
	if all != want.Content || len(parts) != 7 || !parts[6].Stop || parts[6].Predicted != 6 {
		t.Fatalf("got %q, want %q; %s", all, want.Content, text)
	}
	for i, p := range parts[:6] {
		if p.Stop || len(p.Tokens) != 1 || len(p.Logs) != 1 || p.Logs[0].ID != p.Tokens[0] {
			t.Errorf("part %d: %+v", i, p)
		}
	}
}

// Prompts may be texts, tokens, both, and objects.
func TestPrompts(t *testing.T) {
	url := serve(t) + "/completion"
	const rest = `, "n_predict": 3, "temperature": 0}`
	status, text := send(t, url, `{"prompt": ["Hi", {"prompt_string": "Hi"}, [72, "i"]]`+rest)
	list := decode[[]completion](t, status, text)
	if len(list) != 3 || list[0].Content != list[1].Content || list[2].Index != 2 {
		t.Errorf("%s", text)
	}
	for _, prompt := range []string{`{"prompt_string": "Hi"}`, `[72, 105]`, `[72, "i"]`} {
		status, text := send(t, url, `{"prompt": `+prompt+rest)
		if x := decode[completion](t, status, text); x.Predicted == 0 {
			t.Errorf("%s: %s", prompt, text)
		}
	}
}

// Each result for one of several prompts has its own timings.
func TestPromptTimings(t *testing.T) {
	url := serve(t) + "/completion"
	for _, prompt := range []string{`["Hi", "Something else that is longer"]`, `"Hi"`} {
		for predict := range 4 {
			status, text := send(t, url, fmt.Sprintf(`{"prompt": %s, "n_predict": %d, "ignore_eos": true, "temperature": 0}`, prompt, predict))
			if prompt[0] != '[' {
				text = "[" + text + "]"
			}
			for _, x := range decode[[]completion](t, status, text) {
				if got := x.Timings; got["predicted_n"] != float64(predict) || got["prompt_n"]+got["cache_n"] != float64(x.Evaluated) || got["prompt_n"] < 1 || got["prompt_ms"] <= 0 {
					t.Errorf("%q: %v, want %d predicted and %d prompt tokens", x.Prompt, got, predict, x.Evaluated)
				}
			}
		}
	}
}

func TestBias(t *testing.T) {
	url := serve(t) + "/completion"
	const rest = `, "prompt": "Hi", "n_predict": 4, "temperature": 0, "return_tokens": true}`
	status, text := send(t, url, `{"n_predict": 4`+rest)
	free := decode[completion](t, status, text).Tokens[0]
	for _, bias := range []string{fmt.Sprintf(`[[%d, false]]`, free), fmt.Sprintf(`{"%d": -1000}`, free)} {
		status, text := send(t, url, `{"logit_bias": `+bias+rest)
		for _, id := range decode[completion](t, status, text).Tokens {
			if id == free {
				t.Errorf("%s: the token is chosen", bias)
			}
		}
	}
	status, text = send(t, url, `{"logit_bias": [["A", 1000]]`+rest)
	if x := decode[completion](t, status, text); x.Content != "AAAA" {
		t.Errorf("with a bias for A: %q", x.Content)
	}
}

func TestProps(t *testing.T) {
	url := serve(t)
	for _, c := range []struct{ path, body, want string }{
		{"/props", "", `"model_path":"m.gguf"`}, {"/props", "", `"total_slots":2`}, {"/slots", "", `{"id":1,"n_ctx":200,"is_processing":false}`},
		{"/lora-adapters", "", `[]`}, {"/lora-adapters", "[]", `{"success":true}`}, {"/apply-template", `{"messages": [{"role": "user", "content": "Hi"}]}`, `Hi`},
		{"/apply-template", `{"messages": [{"role": "user", "content": "Hi"}], "chat_template_kwargs": {"messages": [{"role": "a", "content": ["b"]}]}}`, `a: ['b']`},
		{"/models", "", "/v1/models"}, {"/chat/completions", "{}", "/v1/chat/completions"}, {"/v1/models", "", "/v1/models"},
	} {
		if status, text := send(t, url+c.path, c.body); status != http.StatusOK || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %s, want %s", c.path, c.body, status, text, c.want)
		}
	}
}

func TestMistakes(t *testing.T) {
	url := serve(t)
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/completion", `{}`, 400, "prompt"},
		{"/completion", `{"prompt": {"a": 1}}`, 400, "prompt"},
		{"/completion", `{"prompt": "x", "grammar": "root"}`, 400, "grammar is not supported"},
		{"/completion", `{"prompt": "x", "post_sampling_probs": true}`, 400, "not supported"},
		{"/completion", `{"prompt": "x", "n_probs": 21}`, 400, "n_probs: 21 is not from 0 to 20"},
		{"/completion", `{"prompt": "x", "n_predict": 1073741825}`, 400, "n_predict: 1073741825 is not from 0 to 1073741824"},
		{"/completion", `{"prompt": "x", "json_schema": {"type": "y"}}`, 400, "json_schema"},
		{"/completion", `{"prompt": "x", "logit_bias": 5}`, 400, "logit_bias"},
		{"/completion", `{"prompt": "x", "logit_bias": [[1, "x"]]}`, 400, "pair 0 has no bias"},
		{"/completion", `{"prompt": [1000000]}`, 400, "is not a token"},
		{"/lora-adapters", `[{"id": 1, "scale": 0.5}]`, 400, "there is no adapter 1"},
		{"/apply-template", `{"messages": 5}`, 400, "messages"},
		{"/apply-template", `{"messages": [{"role": "assistant"}, {"role": "user"}]}`, 400, "messages[1].content: there is none"},
		{"/completion", `{"prompt": "x", "n_predict": 1.5}`, 400, "n_predict: a JSON number 1.5, want integer"},
		{"/completion", "{\"prompt\": \"\xff\"}", 400, "not valid UTF-8"},
	} {
		if status, text := send(t, url+c.path, c.body); status != c.status || !strings.Contains(text, c.want) || !strings.HasPrefix(text, `{"error":{"code":`) {
			t.Errorf("%s: %d %s, want %d and %s", c.body, status, text, c.status, c.want)
		}
	}
	if status, text := send(t, serve(t, "key")+"/completion", `{"prompt": "x"}`); status != http.StatusUnauthorized || !strings.Contains(text, "authentication_error") {
		t.Errorf("without a key: %d %s", status, text)
	}
}

// TestLongPrompt expects llama-server's error, which has the numbers of tokens, from its own paths and from those of OpenAI's API without /v1.
func TestLongPrompt(t *testing.T) {
	url := serve(t)
	want := fmt.Sprintf(`"type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%[1]d}}`, llamatest.Context)
	long := strings.Repeat("x", llamatest.Context)
	if status, text := send(t, url+"/completion", `{"prompt": "`+long+`"}`); status != http.StatusBadRequest || !strings.HasSuffix(text, want+"\n") {
		t.Errorf("/completion: %d %s, want %s", status, text, want)
	}
	g, err := gate.New(gate.Options{Others: []string{"m"}})
	if err != nil {
		t.Fatal(err)
	}
	chat := g.Guard(func(http.ResponseWriter, *http.Request) error {
		return &llm.ContextError{Tokens: llamatest.Context, Context: llamatest.Context}
	}, func(w http.ResponseWriter, f gate.Failure) { http.Error(w, f.Message, f.Status) })
	h := llamacpp.Handle(g, chat, llamacpp.Options{})
	for path, end := range map[string]string{"/chat/completions": want, "/v1/chat/completions": "200 tokens leave no room for an answer"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader("{}")))
		if text := w.Body.String(); w.Code != http.StatusBadRequest || !strings.HasSuffix(text, end+"\n") {
			t.Errorf("%s: %d %s, want %s", path, w.Code, text, end)
		}
	}
}

// TestAdapters chooses adapters by their numbers and by their names.
func TestAdapters(t *testing.T) {
	url := serveWith(t, map[string]string{"a": llamatest.WriteAdapter(t, 1), "b": llamatest.WriteAdapter(t, 2)})
	ask := func(fields string) string {
		var answer struct{ Content, Model string }
		status, text := send(t, url+"/completion", `{"prompt": "Hello", "n_predict": 20, "temperature": 0, `+fields+`}`)
		if err := json.Unmarshal([]byte(text), &answer); status != 200 || err != nil {
			t.Fatalf("%s: %d, %v: %s", fields, status, err, text)
		}
		return answer.Model + ": " + answer.Content
	}
	none, a, b := ask(`"model": "m"`), ask(`"model": "a"`), ask(`"model": "b"`)
	if none[1:] == a[1:] || a[1:] == b[1:] || b[1:] == none[1:] {
		t.Errorf("the texts are %q, %q and %q", none, a, b)
	}
	for fields, want := range map[string]string{
		`"lora": []`: none, `"model": "b", "lora": []`: b, `"lora": [{"id": 0, "scale": 1}, {"id": 1, "scale": 0}]`: a, `"model": "a", "lora": [{"id": 1, "scale": 1}]`: b,
		`"model": "a", "lora": [{"id": 0, "scale": 0}]`: none,
	} {
		if got := ask(fields); got != want {
			t.Errorf("%s: %q, want %q", fields, got, want)
		}
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/lora-adapters", "", 200, `[{"id":0,"scale":0,"path":"a"},{"id":1,"scale":0,"path":"b"}]`},
		{"/lora-adapters", `[{"id": 1, "scale": 0}]`, 200, `{"success":true}`},
		{"/lora-adapters", `[{"id": 1, "scale": 1}]`, 400, "scale is not supported"},
		{"/completion", `{"prompt": "x", "lora": [{"id": 2, "scale": 1}]}`, 400, "there is no adapter 2"},
		{"/completion", `{"prompt": "x", "lora": [{"id": 1, "scale": 0.5}]}`, 400, "a scale other than 0 and 1"},
		{"/completion", `{"prompt": "x", "lora": [{"id": 0, "scale": 1}, {"id": 1, "scale": 1}]}`, 400, "more than one adapter"},
	} {
		if status, text := send(t, url+c.path, c.body); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.path, c.body, status, text, c.status, c.want)
		}
	}
}
