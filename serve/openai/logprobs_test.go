package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// tiny serves a model with random weights.
func tiny(t *testing.T) (url string) {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{Sequences: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return serve(t, openai.Options{Models: map[string]openai.Model{"m": m}}).URL
}

// alternative is a token in the probabilities of an answer.
type alternative struct {
	Token   string
	Logprob float64
	Bytes   []byte
}

// withLogs is an answer with probabilities, or a part of one.
type withLogs struct {
	Choices []struct {
		Index          int
		Text           string
		Message, Delta struct{ Content string }
		Logprobs       struct {
			Content []struct {
				alternative
				Top []alternative `json:"top_logprobs"`
			}
			Tokens  []string
			Logs    []float64            `json:"token_logprobs"`
			Top     []map[string]float64 `json:"top_logprobs"`
			Offsets []int                `json:"text_offset"`
		}
	}
	Usage struct {
		Generated int `json:"completion_tokens"`
	}
}

// UnmarshalJSON implements json.Unmarshaler. The bytes are numbers in JSON.
func (a *alternative) UnmarshalJSON(data []byte) error {
	var x struct {
		Token   string
		Logprob float64
		Bytes   []int
	}
	err := json.Unmarshal(data, &x)
	a.Token, a.Logprob, a.Bytes = x.Token, x.Logprob, nil
	for _, b := range x.Bytes {
		a.Bytes = append(a.Bytes, byte(b))
	}
	return err
}

// decode returns an answer.
func decode(t *testing.T, text string) (x withLogs) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return x
}

func TestChatLogprobs(t *testing.T) {
	url := tiny(t) + "/v1/chat/completions"
	const body = `{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 6, "temperature": 0, "logprobs": true, "top_logprobs": 3`
	status, text := post(t, url, body+"}")
	if status != http.StatusOK {
		t.Fatal(text)
	}
	c := decode(t, text).Choices[0]
	var all []byte
	for _, x := range c.Logprobs.Content {
		all = append(all, x.Bytes...)
		if len(x.Top) != 3 || x.Top[0].Token != x.Token || x.Top[0].Logprob != x.Logprob || !(x.Logprob < 0) || strings.ToValidUTF8(string(x.Bytes), "\ufffd") != x.Token {
			t.Errorf("a token: %+v", x)
		}
	}
	if want := string([]rune(string(all))); want != c.Message.Content || len(c.Logprobs.Content) != 6 {
		t.Errorf("the tokens are %q, the text %q", want, c.Message.Content)
	}
	var streamed []alternative
	for _, e := range events(t, url, body+`, "stream": true}`) {
		if e == "[DONE]" {
			break
		}
		for _, x := range decode(t, e).Choices[0].Logprobs.Content {
			streamed = append(streamed, x.alternative)
		}
	}
	if last := c.Logprobs.Content[5]; len(streamed) != 6 || streamed[5].Token != last.Token || math.Abs(streamed[5].Logprob-last.Logprob) > 1e-3 {
		t.Errorf("streamed: %v", streamed)
	}
}

func TestCompletionLogprobs(t *testing.T) {
	url := tiny(t) + "/v1/completions"
	_, text := post(t, url, `{"prompt": "Hi", "max_tokens": 5, "temperature": 0, "logprobs": 2}`)
	l := decode(t, text).Choices[0].Logprobs
	if len(l.Tokens) != 5 || len(l.Logs) != 5 || len(l.Top) != 5 || len(l.Offsets) != 5 {
		t.Fatal(text)
	}
	for i, token := range l.Tokens {
		if l.Top[i][token] != l.Logs[i] || len(l.Top[i]) < 1 || len(l.Top[i]) > 2 {
			t.Errorf("token %d: %v in %v", i, l.Logs[i], l.Top[i])
		}
	}
	if _, text := post(t, url, `{"prompt": "Hi", "max_tokens": 5, "logprobs": null}`); !strings.Contains(text, `"logprobs":null`) {
		t.Error(text)
	}
}

// The alternatives of a token include the token itself, also if it is not among the most probable ones.
func TestChosenLogprob(t *testing.T) {
	url := tiny(t) + "/v1/completions"
	for most := range 2 {
		_, text := post(t, url, fmt.Sprintf(`{"prompt": "Hi", "max_tokens": 20, "temperature": 2, "seed": 1, "ignore_eos": true, "logprobs": %d}`, most))
		l, longest := decode(t, text).Choices[0].Logprobs, 0
		for i, token := range l.Tokens {
			if p, ok := l.Top[i][token]; !ok || p != l.Logs[i] || len(l.Top[i]) > most+1 {
				t.Errorf("token %d, %q, %v: %v", i, token, l.Logs[i], l.Top[i])
			}
			longest = max(longest, len(l.Top[i]))
		}
		if len(l.Top) != 20 || longest != most+1 {
			t.Errorf("%d tokens with up to %d alternatives, want %d", len(l.Top), longest, most+1)
		}
	}
}

// scripted is a model whose continuations consist of given tokens.
type scripted struct {
	gate.Tokenized
	tokens []int32
}

func (s scripted) Generate(_ context.Context, _ string, r llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		d := s.Tokenizer().NewDecoder(tokenizer.DecodeOptions{SkipSpecial: true})
		for i, id := range s.tokens {
			t := llm.Token{ID: id, Text: d.Write(id), Logprobs: &llm.Logprobs{Chosen: -1, Top: []llm.Likely{{ID: id, Logprob: -1}}}}
			if i == len(s.tokens)-1 {
				t.Finish, t.Text = llm.Limited, t.Text+d.Flush()
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Tokens that are parts of characters are bytes, and their offsets are those of the characters. A special token has no text.
func TestOffsets(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	m, err := llm.Open(dev, llamatest.Write(t, llamatest.Options{}), llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	url := serve(t, openai.Options{Models: map[string]openai.Model{"m": scripted{m, []int32{'a', 0xc3, 0xa9, 0xf0, 0x9f, 0x98, 0x81, 257, 'b', 0xff, '\\', 0xf0}}}}).URL + "/v1/completions"
	names := []string{"a", `bytes:\xc3`, `bytes:\xa9`, `bytes:\xf0`, `bytes:\x9f`, `bytes:\x98`, `bytes:\x81`, "<|im_end|>", "b", `bytes:\xff`, `\`, `bytes:\xf0`}
	offsets := []int{0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 6}
	_, text := post(t, url, `{"prompt": "Hi", "logprobs": 1}`)
	c := decode(t, text).Choices[0]
	if c.Text != "aé😁b\ufffd\\\ufffd" || !slices.Equal(c.Logprobs.Tokens, names) || !slices.Equal(c.Logprobs.Offsets, offsets) || c.Logprobs.Top[3][`bytes:\xf0`] != -1 {
		t.Errorf("%q, %+v", c.Text, c.Logprobs)
	}
	var streamed []int
	for _, e := range events(t, url, `{"prompt": "Hi", "logprobs": 1, "stream": true}`) {
		if e != "[DONE]" {
			streamed = append(streamed, decode(t, e).Choices[0].Logprobs.Offsets...)
		}
	}
	if !slices.Equal(streamed, offsets) {
		t.Errorf("streamed: %v", streamed)
	}
}

// The best of several continuations are those whose tokens are the most probable ones.
func TestBestOf(t *testing.T) {
	url := tiny(t) + "/v1/completions"
	const body = `{"prompt": ["Hi", "Ho"], "max_tokens": 4, "seed": 3, "logprobs": 0, "temperature": 2, `
	mean := func(logs []float64) (sum float64) {
		for _, x := range logs {
			sum += x / float64(len(logs))
		}
		return sum
	}
	_, text := post(t, url, body+`"n": 5}`)
	all := decode(t, text)
	_, text = post(t, url, body+`"best_of": 5}`)
	best := decode(t, text)
	if len(all.Choices) != 10 || len(best.Choices) != 2 || best.Usage.Generated != all.Usage.Generated {
		t.Fatal(text)
	}
	for prompt, c := range best.Choices {
		want := math.Inf(-1)
		for _, x := range all.Choices[5*prompt : 5*prompt+5] {
			want = max(want, mean(x.Logprobs.Logs))
		}
		if got := mean(c.Logprobs.Logs); math.Abs(got-want) > 1e-5 || c.Index != prompt {
			t.Errorf("choice %d of prompt %d has the mean %v, want %v", c.Index, prompt, got, want)
		}
	}
}

func TestPrompts(t *testing.T) {
	url := tiny(t)
	_, text := post(t, url+"/tokenize", `{"prompt": "Hi"}`)
	var ids struct{ Tokens []int32 }
	if err := json.Unmarshal([]byte(text), &ids); err != nil {
		t.Fatal(err)
	}
	list, _ := json.Marshal(ids.Tokens)
	_, text = post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt": ["Hi", %s, "Ho"], "max_tokens": 5, "temperature": 0, "n": 2, "echo": true}`, list))
	x := decode(t, text)
	if len(x.Choices) != 6 || x.Usage.Generated != 30 {
		t.Fatal(text)
	}
	for i, c := range x.Choices {
		if c.Index != i || !strings.HasPrefix(c.Text, []string{"Hi", "Hi", "Ho"}[i/2]) || i < 4 && c.Text != x.Choices[0].Text {
			t.Errorf("choice %d is %+v", i, c)
		}
	}
	_, text = post(t, url+"/v1/completions", `{"prompt": "Hi", "max_tokens": 8, "temperature": 0, "ignore_eos": true, "logit_bias": {"72": 100}, "frequency_penalty": 0.5, "presence_penalty": 0.5, "repetition_penalty": 1.1}`)
	if got := decode(t, text).Choices[0].Text; strings.Count(got, got[:1]) != 8 {
		t.Errorf("with a bias for one token: %q", got)
	}
	for path, body := range map[string]string{"/v1/completions": `{"prompt": "Hi", `, "/v1/chat/completions": `{"messages": [{"role": "user", "content": "Hi"}], `} {
		if status, text := post(t, url+path, body+`"max_tokens": 1, "logit_bias": {"257": 1, "258": 100}}`); status != http.StatusBadRequest || !strings.Contains(text, "logit_bias: 258 is not a token") || !strings.Contains(text, `"param":"logit_bias"`) {
			t.Errorf("a bias of another token: %d %s", status, text)
		}
		if status, text := post(t, url+path, body+`"max_tokens": 1, "logit_bias": {"257": 1}}`); status != http.StatusOK {
			t.Errorf("a bias of a token: %d %s", status, text)
		}
	}
	if status, text := post(t, url+"/v1/completions", `{"prompt": [[1000000]]}`); status != http.StatusBadRequest || !strings.Contains(text, "is not a token of the model") {
		t.Errorf("%d %s", status, text)
	}
}
