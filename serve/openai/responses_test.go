package openai_test

import (
	"context"
	"encoding/json"
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
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// generatedID matches what differs in each response.
var generatedID = regexp.MustCompile(`"(id|item_id|call_id)":"((resp|msg|fc)_[A-Z2-7]{26}|[A-Z2-7]{9})"|"(created_at|completed_at)":[0-9]+`)

// sameID replaces what differs in each response.
func sameID(text string) string { return generatedID.ReplaceAllString(text, `"$1$4":"x"`) }

const getTool = `, "tools": [{"type": "function", "name": "get", "parameters": {"type": "object"}}]`

func TestResponses(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	const message = `{"type":"message","id":"x","status":"%s","role":"assistant","content":[{"type":"output_text","text":"%s","annotations":[],"logprobs":[]}]}`
	for _, c := range []struct{ body, output, status string }{
		{`{"input": "a b"}`, fmt.Sprintf(message, "completed", "a b"), `"completed"`},
		{`{"input": [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], "instructions": "S", "store": true, "reasoning": {}}`, fmt.Sprintf(message, "completed", "a"), `"completed"`},
		{`{"input": "A <tool_call>{\"name\": \"get\", \"arguments\": {}}</tool_call>"` + getTool + `}`,
			fmt.Sprintf(message, "completed", "A") + `,{"type":"function_call","id":"x","status":"completed","call_id":"x","name":"get","arguments":"{}"}`, `"completed"`},
	} {
		status, body := post(t, s.URL+"/v1/responses", c.body)
		if body = sameID(body); status != http.StatusOK || !strings.Contains(body, `"output":[`+c.output+`]`) || !strings.Contains(body, `"status":`+c.status+`,"model":"m"`) {
			t.Errorf("%s: %d\n got %s\nwant %s", c.body, status, body, c.output)
		}
	}
	_, body := post(t, s.URL+"/v1/responses", `{"input": "a b", "temperature": 0.5, "max_output_tokens": 7, "metadata": {"k": "v"}, "parallel_tool_calls": false}`)
	for _, want := range []string{
		`"object":"response"`, `"error":null`, `"incomplete_details":null`, `"temperature":0.5`, `"top_p":1`, `"max_output_tokens":7`, `"metadata":{"k":"v"}`,
		`"parallel_tool_calls":false`, `"tools":[]`, `"tool_choice":"auto"`, `"text":{"format":{"type":"text"}}`, `"store":false`, `"previous_response_id":null`,
		`"usage":{"input_tokens":2,"input_tokens_details":{"cached_tokens":1,"cache_write_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":4}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in %s", want, body)
		}
	}
}

func TestStreamOfResponses(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	_, body := post(t, s.URL+"/v1/responses", `{"stream": true, "input": "A b <tool_call>{\"name\": \"get\", \"arguments\": {\"x\": 1}}</tool_call>"`+getTool+`}`)
	part := func(text string) string {
		return `{"type":"output_text","text":"` + text + `","annotations":[],"logprobs":[]}`
	}
	message := func(status, content string) string {
		return `{"type":"message","id":"x","status":"` + status + `","role":"assistant","content":[` + content + `]}`
	}
	call := func(status, arguments string) string {
		return `{"type":"function_call","id":"x","status":"` + status + `","call_id":"x","name":"get","arguments":"` + arguments + `"}`
	}
	const at, in0, in1 = `"output_index":%d,"item":%s`, `"output_index":0,"item_id":"x","content_index":0,`, `"output_index":1,"item_id":"x",`
	want := []string{
		"response.created ", "response.in_progress ",
		`response.output_item.added ` + fmt.Sprintf(at, 0, message("in_progress", "")),
		`response.content_part.added ` + in0 + `"part":` + part(""),
		`response.output_text.delta ` + in0 + `"delta":"A","logprobs":[]`,
		`response.output_text.delta ` + in0 + `"delta":" b","logprobs":[]`,
		`response.output_text.done ` + in0 + `"text":"A b","logprobs":[]`,
		`response.content_part.done ` + in0 + `"part":` + part("A b"),
		`response.output_item.done ` + fmt.Sprintf(at, 0, message("completed", part("A b"))),
		`response.output_item.added ` + fmt.Sprintf(at, 1, call("in_progress", "")),
		`response.function_call_arguments.delta ` + in1 + `"delta":"{\"x\": "`,
		`response.function_call_arguments.delta ` + in1 + `"delta":"1}"`,
		`response.function_call_arguments.done ` + in1 + `"name":"get","arguments":"{\"x\": 1}"`,
		`response.output_item.done ` + fmt.Sprintf(at, 1, call("completed", `{\"x\": 1}`)),
		"response.completed ",
	}
	got := strings.Split(strings.TrimSuffix(sameID(body), "\n\n"), "\n\n")
	if len(got) != len(want)+1 || got[len(want)] != "data: [DONE]" {
		t.Fatalf("%d events, want %d: %s", len(got), len(want)+1, body)
	}
	for i, w := range want {
		kind, rest, _ := strings.Cut(w, " ")
		if rest == "" {
			rest = `"response":{"id":"x","object":"response",`
		}
		if prefix := fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s", kind, kind, i, rest); !strings.HasPrefix(got[i], prefix) {
			t.Errorf("event %d:\n got %s\nwant %s", i, got[i], prefix)
		}
	}
	_, body = post(t, s.URL+"/v1/responses", `{"stream": true, "input": "a fail"}`)
	if !strings.Contains(body, "event: response.failed\n") || !strings.Contains(body, `"error":{"code":"server_error","message":"the device is lost"}`) {
		t.Errorf("an error in the stream: %s", body)
	}
}

// listener is a model that keeps what it is asked.
type listener struct {
	echo
	messages chan []chat.Message
}

func (l *listener) Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	l.messages <- messages
	return l.echo.Chat(ctx, messages, r)
}

// The input may have calls and their results.
func TestItems(t *testing.T) {
	m := &listener{messages: make(chan []chat.Message, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	post(t, s.URL+"/v1/responses", `{"instructions": "S", "input": [{"role": "developer", "content": "D"}, {"type": "message", "role": "user", "content": "a"}, {"type": "reasoning", "summary": []},
		{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
		{"type": "function_call", "call_id": "1", "name": "get", "arguments": "{\"x\":1}"}, {"type": "function_call", "call_id": "2", "name": "put", "arguments": ""},
		{"type": "function_call_output", "call_id": "1", "output": "r"}, {"type": "function_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "s"}]},
		{"type": "function_call", "call_id": "3", "name": "get", "arguments": "{}"}, {"type": "function_call_output", "call_id": "3", "output": "t"}]}`)
	call := func(id, name, arguments string) chat.ToolCall {
		return chat.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
	}
	want := []chat.Message{
		{Role: "system", Content: "S"}, {Role: "system", Content: "D"}, {Role: "user", Content: "a"},
		{Role: "assistant", Content: "b", ToolCalls: []chat.ToolCall{call("1", "get", `{"x":1}`), call("2", "put", "{}")}},
		{Role: "tool", ToolCallID: "1", Content: "r"}, {Role: "tool", ToolCallID: "2", Content: "s"},
		{Role: "assistant", ToolCalls: []chat.ToolCall{call("3", "get", "{}")}}, {Role: "tool", ToolCallID: "3", Content: "t"},
	}
	if got := <-m.messages; !reflect.DeepEqual(got, want) {
		t.Errorf("the messages are %+v, want %+v", got, want)
	}
}

func TestMistakesInResponses(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	for body, want := range map[string]string{
		`{}`:                            "there is no message",
		`{"input": 5}`:                  "neither a text nor a list",
		`{"input": [{"content": "a"}]}`: "item 0 has no role",
		`{"input": [{"type": "item_reference"}]}`:                                      "not supported",
		`{"input": [{"type": "function_call_output", "call_id": "1", "output": "a"}]}`: `the output of the call \"1\"`,
		`{"input": [{"role": "user", "content": 5}]}`:                                  `"param":"input"`,
		`{"input": "a", "max_output_tokens": 0}`:                                       `"param":"max_output_tokens"`,
		`{"input": "a", "temperature": 3}`:                                             `"param":"temperature"`,
		`{"input": "a", "top_p": 2}`:                                                   `"param":"top_p"`,
		`{"input": "a", "previous_response_id": "x"}`:                                  "unsupported_parameter",
		`{"input": "a", "background": true}`:                                           "unsupported_parameter",
		`{"input": "a", "truncation": "auto"}`:                                         "unsupported_parameter",
		`{"input": "a", "top_logprobs": 1}`:                                            "unsupported_parameter",
		`{"input": "a", "conversation": "x"}`:                                          "unsupported_parameter",
		`{"input": "a", "text": {"format": {"type": "yaml"}}}`:                         `"param":"text.format"`,
		`{"input": "a", "text": {"format": 5}}`:                                        `"param":"text.format"`,
		`{"input": "a", "tools": [{"type": "web_search"}]}`:                            "only functions are supported",
		`{"input": "a", "tools": [{"type": "function"}]}`:                              "function 0 has the name",
		`{"input": "a", "tool_choice": "required"}`:                                    "there are no functions to call",
		`{"input": "a", "model": "x"}`:                                                 "model_not_found",
	} {
		if status, got := post(t, s.URL+"/v1/responses", body); status/100 != 4 || !strings.Contains(got, want) || !strings.HasPrefix(got, `{"error":{`) {
			t.Errorf("%s: %d %s, want %s", body, status, got, want)
		}
	}
}

// TestTokens converts between texts and tokens.
func TestTokens(t *testing.T) {
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
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"tokenize", `{"prompt": "Hi"}`, 200, fmt.Sprintf(`{"count":2,"max_model_len":%d,"tokens":[72,105],"token_strs":null}`, llamatest.Context)},
		{"tokenize", `{"prompt": "Hi", "add_special_tokens": false, "return_token_strs": true}`, 200, `"tokens":[72,105],"token_strs":["H","i"]}`},
		{"tokenize", `{"prompt": ""}`, 200, `"tokens":[]`},
		{"tokenize", `{"messages": [{"role": "user", "content": "Hi"}]}`, 200, `"tokens":[256,117,115,101,114,58,32,72,105,257,256]`},
		{"tokenize", `{"content": "Hi"}`, 200, `{"tokens":[72,105]}`},
		{"tokenize", `{"content": "é", "with_pieces": true, "add_special": true}`, 200, `{"tokens":[{"id":195,"piece":[195]},{"id":169,"piece":[169]}]}`},
		{"tokenize", `{"content": "H", "with_pieces": true}`, 200, `{"tokens":[{"id":72,"piece":"H"}]}`},
		{"tokenize", `{"content": "<|im_end|>"}`, 200, `{"tokens":[257]}`},
		{"tokenize", `{"content": "<|im_end|>", "parse_special": true}`, 200, `{"tokens":[257]}`},
		{"tokenize", `{"content": "<|im_end|>", "parse_special": false}`, 200, `{"tokens":[60,124,105,109,95,101,110,100,124,62]}`},
		{"v1/chat/completions/input_tokens", `{"messages": [{"role": "user", "content": "Hi"}]}`, 200, `{"input_tokens":11}`},
		{"tokenize", `{}`, 400, `"param":"messages"`},
		{"tokenize", `{"model": "x", "prompt": "Hi"}`, 404, "model_not_found"},
		{"detokenize", `{"tokens": [72, 105, 257]}`, 200, `{"content":"Hi\u003c|im_end|\u003e","prompt":"Hi\u003c|im_end|\u003e"}`},
		{"detokenize", `{"tokens": []}`, 200, `{"content":"","prompt":""}`},
		{"detokenize", `{"tokens": [72, -1]}`, 400, "element 1, -1, is not a token"},
		{"detokenize", `{"tokens": [99999999999]}`, 400, `"param":"tokens`},
	} {
		if status, got := post(t, s.URL+"/"+c.path, c.body); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %d %s, want %d and %s", c.path, c.body, status, got, c.status, c.want)
		}
	}
	other := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	if status, got := post(t, other.URL+"/detokenize", `{"tokens": []}`); status != http.StatusNotImplemented {
		t.Errorf("a model without a tokenizer: %d %s", status, got)
	}
}

// FuzzResponses checks that bodies never make the server fail.
func FuzzResponses(f *testing.F) {
	for _, body := range []string{`{"input": "a"` + getTool + `, "stream": true}`, `{"input": [{"type": "function_call", "arguments": "{"}]}`, `{"input": [{"role": "user", "content": [{}]}]}`} {
		f.Add(body)
	}
	h, err := openai.New(openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/v1/responses", "/tokenize", "/detokenize"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
			if w.Code >= 500 && w.Code != http.StatusNotImplemented && !strings.Contains(body, "fail") {
				t.Errorf("%.100q: %d %s", body, w.Code, w.Body)
			}
		}
	})
}

// TestFormatOfResponses checks that the grammar of text.format reaches the model, and that the answer repeats the format.
func TestFormatOfResponses(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	format := `{"type":"json_schema","name":"x","schema":{"type":"integer","minimum":10}}`
	status, body := post(t, s.URL+"/v1/responses", `{"input": "a", "text": {"format": `+format+`}}`)
	if r := <-m.requests; status != 200 || r.Grammar == nil || !r.Grammar.Match("10") || r.Grammar.Match("9") || !strings.Contains(body, `"text":{"format":`+format+`}`) {
		t.Errorf("%d %s, %+v", status, body, r)
	}
}
