package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/anthropic"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// echo is a model that repeats the last message, a word at a time. Some words have a meaning.
type echo struct {
	messages []chat.Message
	request  llm.Request
}

func (e *echo) Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	e.messages, e.request = messages, r
	return e.Generate(ctx, messages[len(messages)-1].Content, r)
}

func (e *echo) Generate(_ context.Context, prompt string, r llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		words := strings.SplitAfter(prompt, " ")
		*r.Usage = llm.Usage{Prompt: 10, Known: 4}
		for i, word := range words {
			r.Usage.Generated++
			t := llm.Token{Text: word}
			switch {
			case word == "fail":
				yield(llm.Token{}, errors.New("the device is lost"))
				return
			case word == "STOP":
				t = llm.Token{Finish: llm.Stopped, Stop: "STOP"}
			case word == "END":
				t = llm.Token{Finish: llm.Limited}
			case i == len(words)-1:
				t.Finish = llm.Ended
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// post sends a request to a handler and returns the status and the body.
func post(h http.Handler, path, body string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
	return w.Code, w.Body.String()
}

func open(t testing.TB, m gate.Model) http.Handler {
	t.Helper()
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"m": m}})
	if err != nil {
		t.Fatal(err)
	}
	return anthropic.Handle(g)
}

// ask returns a request with a message, which lacks its end.
func ask(text string) string {
	message, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": %s}]`, message)
}

const tools = `, "tools": [{"name": "get", "description": "d", "input_schema": {"type": "object"}}]`

// ids matches the IDs of messages and calls, which differ each time.
var ids = regexp.MustCompile(`"id":"(msg_[A-Z2-7]{26}|[A-Z2-7]{9})"`)

func TestMessages(t *testing.T) {
	for _, c := range []struct{ text, fields, content, reason, stop string }{
		{"Hi there", "", `[{"type": "text", "text": "Hi there"}]`, "end_turn", "null"},
		{"Hi STOP", `, "stop_sequences": ["x", "STOP"]`, `[{"type": "text", "text": "Hi "}]`, "stop_sequence", `"STOP"`},
		{"Hi END", "", `[{"type": "text", "text": "Hi "}]`, "max_tokens", "null"},
		{`A <tool_call>{"name": "get", "arguments": {"x": 1}}</tool_call>`, tools, `[{"type": "text", "text": "A"}, {"type": "tool_use", "id": "x", "name": "get", "input": {"x": 1}}]`, "tool_use", "null"},
		{`<tool_call>{"name": "get", "arguments": {"x": END`, tools, `[{"type": "tool_use", "id": "x", "name": "get", "input": {"INVALID_JSON": "{\"x\": "}}]`, "max_tokens", "null"},
		{`{"name": "get"}; {"name": "get"}`, tools + `, "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}`, `[{"type": "tool_use", "id": "x", "name": "get", "input": {}}]`, "tool_use", "null"},
		{`{"name": "get"}`, tools + `, "tool_choice": {"type": "none"}`, `[{"type": "text", "text": "{\"name\": \"get\"}"}]`, "end_turn", "null"},
	} {
		status, body := post(open(t, &echo{}), "/v1/messages", ask(c.text)+c.fields+"}")
		want := fmt.Sprintf(`{"id": "x", "type": "message", "role": "assistant", "model": "m", "content": %s, "stop_reason": %q, "stop_sequence": %s,
			"usage": {"input_tokens": 6, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4, "output_tokens": %d}}`, c.content, c.reason, c.stop, len(strings.Fields(c.text)))
		equal(t, ids.ReplaceAllString(body, `"id":"x"`), want)
		if status != http.StatusOK {
			t.Errorf("%s: status %d", c.text, status)
		}
	}
}

// A top_p of 0 permits only the most probable token.
func TestTopP(t *testing.T) {
	for fields, want := range map[string]float64{`, "top_p": 0`: 0, `, "top_p": 0, "top_k": 5.0`: 0, `, "top_p": 0.5`: 1, "": 1} {
		m := &echo{}
		if status, body := post(open(t, m), "/v1/messages", ask("Hi")+fields+"}"); status != http.StatusOK || m.request.Temperature != want {
			t.Errorf("%q: %d %s, with the temperature %v, want %v", fields, status, body, m.request.Temperature, want)
		}
	}
}

// equal compares values in JSON.
func equal(t *testing.T, got, want string) {
	t.Helper()
	var g, w any
	if err := errors.Join(json.Unmarshal([]byte(got), &g), json.Unmarshal([]byte(want), &w)); err != nil || !reflect.DeepEqual(g, w) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// The model gets the whole conversation.
func TestConversation(t *testing.T) {
	m := &echo{}
	status, body := post(open(t, m), "/v1/messages", `{"model": "m", "max_tokens": 9, "temperature": 0.5, "top_k": 3, "top_p": 0.9, "system": [{"type": "text", "text": "S", "cache_control": {}}],
		"metadata": {"user_id": "1"}, "messages": [{"role": "user", "content": "a"},
		{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "b"}, {"type": "tool_use", "id": "1", "name": "get", "input": {"z": 1, "a": 2}}]},
		{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "r"}]}, {"type": "text", "text": "c"}]}]`+tools+`}`)
	if status != http.StatusOK {
		t.Fatal(body)
	}
	want := []chat.Message{
		{Role: "system", Content: "S"}, {Role: "user", Content: "a"},
		{Role: "assistant", Content: "b", ToolCalls: []chat.ToolCall{{ID: "1", Name: "get", Arguments: []byte(`{"z": 1, "a": 2}`)}}},
		{Role: "tool", ToolCallID: "1", Content: "r"}, {Role: "user", Content: "c"},
	}
	if !reflect.DeepEqual(m.messages, want) {
		t.Errorf("the messages are %+v, want %+v", m.messages, want)
	}
	r := m.request
	if r.MaxTokens != 9 || r.Temperature != 0.5 || r.TopK != 3 || r.TopP != 0.9 || len(r.Template.Tools) != 1 ||
		string(r.Template.Tools[0]) != `{"type":"function","function":{"name":"get","description":"d","parameters":{"type":"object"}}}` {
		t.Errorf("the request is %+v", r)
	}
}

func TestStream(t *testing.T) {
	_, body := post(open(t, &echo{}), "/v1/messages", ask(`A b <tool_call>{"name": "get", "arguments": {"x": 1}}</tool_call>`)+tools+`, "stream": true}`)
	want := []string{
		`message_start {"type":"message_start","message":{"id":"x","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,` +
			`"usage":{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":1}}}`,
		`ping {"type":"ping"}`,
		`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"text":"A","type":"text_delta"}}`,
		`content_block_delta {"type":"content_block_delta","index":0,"delta":{"text":" b","type":"text_delta"}}`,
		`content_block_stop {"type":"content_block_stop","index":0}`,
		`content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x","name":"get","input":{}}}`,
		`content_block_delta {"type":"content_block_delta","index":1,"delta":{"partial_json":"{\"x\": ","type":"input_json_delta"}}`,
		`content_block_delta {"type":"content_block_delta","index":1,"delta":{"partial_json":"1}","type":"input_json_delta"}}`,
		`content_block_stop {"type":"content_block_stop","index":1}`,
		`message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":7}}`,
		`message_stop {"type":"message_stop"}`,
	}
	body = strings.ReplaceAll(ids.ReplaceAllString(body, `"id":"x"`), "\ndata: ", " ")
	got := strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n")
	for i := range min(len(got), len(want)) {
		if got[i] != "event: "+want[i] {
			t.Errorf("event %d:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d events, want %d", len(got), len(want))
	}
}

func TestErrorInStream(t *testing.T) {
	_, body := post(open(t, &echo{}), "/v1/messages", ask("a fail")+`, "stream": true}`)
	if !strings.HasSuffix(body, `event: error`+"\n"+`data: {"type":"error","error":{"type":"api_error","message":"the device is lost"}}`+"\n\n") {
		t.Errorf("the events are %s", body)
	}
}

func TestMistakes(t *testing.T) {
	user := `"messages": [{"role": "user", "content": "hi"}]`
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{`, 400, "not a request in JSON"},
		{`{"model": "x", "max_tokens": 1, ` + user + `}`, 404, `"not_found_error"`},
		{`{` + user + `}`, 400, "max_tokens: the field is required"},
		{`{"max_tokens": 0, ` + user + `}`, 400, "max_tokens: 0 is not from"},
		{`{"max_tokens": "x", ` + user + `}`, 400, "max_tokens: a JSON string, want integer"},
		{`{"max_tokens": 1, "temperature": 1.5, ` + user + `}`, 400, "temperature: 1.5 is not from 0 to 1"},
		{`{"max_tokens": 1, "top_p": -1, ` + user + `}`, 400, "top_p"},
		{`{"max_tokens": 1, "top_k": -1, ` + user + `}`, 400, "top_k"},
		{`{"max_tokens": 1, "stop_sequences": ["","","","","","","","","","","","","","","","",""], ` + user + `}`, 400, "at most 16"},
		{`{"max_tokens": 1, "thinking": {"type": "enabled"}, ` + user + `}`, 400, "thinking is not supported"},
		{`{"max_tokens": 1, "output_format": {}, ` + user + `}`, 400, "output_format is not supported"},
		{`{"max_tokens": 1, "tool_choice": {"type": "any"}, ` + user + `}`, 400, "there are no functions to call"},
		{`{"max_tokens": 1, "tool_choice": {"type": "tool", "name": "x"}, ` + user + `}`, 400, "there is no function"},
		{`{"max_tokens": 1, "tool_choice": {"type": "often"}, ` + user + `}`, 400, "none of auto, any, tool"},
		{`{"max_tokens": 1, "tools": [{"type": "bash_20250124", "name": "bash"}], ` + user + `}`, 400, "only functions of the client"},
		{`{"max_tokens": 1, "tools": [{}], ` + user + `}`, 400, "function 0 has the name"},
		{`{"max_tokens": 1}`, 400, "the last message must be one of the user"},
		{`{"max_tokens": 1, "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}`, 400, "the last message must be one of the user"},
		{`{"max_tokens": 1, "messages": [{"role": "x", "content": "a"}, {"role": "user", "content": "b"}]}`, 400, "want user or assistant"},
		{`{"max_tokens": 1, "messages": [{"role": "user", "content": []}]}`, 400, "messages[0].content: there is none"},
		{`{"max_tokens": 1, "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": null}]}`, 400, "messages[1].content: there is none"},
		{`{"max_tokens": 1.5, ` + user + `}`, 400, "max_tokens: a JSON number 1.5, want integer"},
		{"{\"max_tokens\": 1, \"messages\": [{\"role\": \"user\", \"content\": \"\xff\"}]}", 400, "not valid UTF-8"},
		{`{"max_tokens": 1, "messages": [{"role": "user", "content": 5}]}`, 400, "neither a text nor a list"},
		{`{"max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "image"}]}]}`, 400, `type \"image\"`},
		{`{"max_tokens": 1, "messages": [{"role": "user", "content": [{"type": "tool_result", "content": [{"type": "image"}]}]}]}`, 400, `type \"image\"`},
		{`{"max_tokens": 1, "system": [{"type": "image"}], ` + user + `}`, 400, "system: a block"},
		{ask("fail") + `}`, 500, `"api_error"`},
	} {
		if status, body := post(open(t, &echo{}), "/v1/messages", c.body); status != c.status || !strings.Contains(body, c.want) || !strings.HasPrefix(body, `{"type":"error","error":{`) {
			t.Errorf("%s: %d %s, want %d and %s", c.body, status, body, c.status, c.want)
		}
	}
	if status, body := post(open(t, &echo{}), "/v1/other", "{}"); status != http.StatusNotFound {
		t.Errorf("another path: %d %s", status, body)
	}
	w := httptest.NewRecorder()
	if open(t, &echo{}).ServeHTTP(w, httptest.NewRequest("GET", "/v1/messages", nil)); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" || !strings.Contains(w.Body.String(), `"invalid_request_error"`) {
		t.Errorf("a wrong method: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if status, body := post(open(t, &echo{}), "/v1/messages/count_tokens", ask("a")+"}"); status != http.StatusNotImplemented {
		t.Errorf("a model without a tokenizer: %d %s", status, body)
	}
}

// TestCount counts the tokens of a conversation in the format of a model's template.
func TestCount(t *testing.T) {
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
	h := open(t, m)
	status, body := post(h, "/v1/messages/count_tokens", ask("Hi")+"}")
	var count struct {
		Tokens int `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(body), &count); err != nil || status != http.StatusOK || count.Tokens == 0 {
		t.Fatalf("%d %s, %v", status, body, err)
	}
	status, body = post(h, "/v1/messages", ask("Hi")+"}")
	if want := fmt.Sprintf(`"usage":{"input_tokens":%d,`, count.Tokens); status != http.StatusOK || !strings.Contains(body, want) {
		t.Errorf("%d %s, want %s", status, body, want)
	}
}
