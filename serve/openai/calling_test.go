package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// weather is a request for the answer to a message, with a function. It lacks its end.
func weather(t *testing.T, message string) string {
	t.Helper()
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return `{"messages": [{"role": "user", "content": ` + string(text) + `}],
		"tools": [{"type": "function", "function": {"name": "get", "description": "Weather <now>", "parameters": {"type": "object", "b": 1, "a": 2}}}]`
}

// ids matches the IDs of calls, which differ each time.
var ids = regexp.MustCompile(`"id":"([A-Z2-7]{9})"`)

const twoCalls = `Wait. <tool_call>{"name": "get", "arguments": {"city": "Oslo"}}</tool_call> <tool_call>{"name": "get", "arguments": {}}</tool_call>`

func TestCalls(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	for _, c := range []struct{ message, fields, want, finish string }{
		{twoCalls, "", `{"role": "assistant", "content": "Wait.", "tool_calls": [
			{"id": "x", "type": "function", "function": {"name": "get", "arguments": "{\"city\": \"Oslo\"}"}},
			{"id": "x", "type": "function", "function": {"name": "get", "arguments": "{}"}}]}`, "tool_calls"},
		{twoCalls, `, "parallel_tool_calls": false, "tool_choice": "auto"`, `{"role": "assistant", "content": "Wait.", "tool_calls": [
			{"id": "x", "type": "function", "function": {"name": "get", "arguments": "{\"city\": \"Oslo\"}"}}]}`, "tool_calls"},
		{`{"name": "get", "parameters": {"a": 1}}`, "", `{"role": "assistant", "content": null, "tool_calls": [
			{"id": "x", "type": "function", "function": {"name": "get", "arguments": "{\"a\": 1}"}}]}`, "tool_calls"},
		{"It rains.", "", `{"role": "assistant", "content": "It rains."}`, "stop"},
	} {
		_, body := post(t, s.URL+"/v1/chat/completions", weather(t, c.message)+c.fields+"}")
		r := <-m.requests
		if want := `{"type":"function","function":{"name":"get","description":"Weather <now>","parameters":{"type":"object","b":1,"a":2}}}`; len(r.Template.Tools) != 1 ||
			string(r.Template.Tools[0]) != want {
			t.Errorf("the template gets the tools %s", r.Template.Tools)
		}
		check(t, ids.ReplaceAllString(body, `"id":"x"`), fmt.Sprintf(`{"object": "chat.completion", "model": "m",
			"choices": [{"index": 0, "message": %s, "logprobs": null, "finish_reason": %q}],
			"usage": {"prompt_tokens": %d, "completion_tokens": %[3]d, "total_tokens": %d, "prompt_tokens_details": {"cached_tokens": 1}}}`,
			c.want, c.finish, len(strings.Fields(c.message)), 2*len(strings.Fields(c.message))))
	}
}

// Without functions, or if the model must not call them, calls are text.
func TestNoCalls(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	for _, body := range []string{weather(t, twoCalls) + `, "tool_choice": "none"}`, strings.Replace(weather(t, twoCalls), `"tools"`, `"unknown"`, 1) + `}`} {
		_, got := post(t, s.URL+"/v1/chat/completions", body)
		if r := <-m.requests; r.Template.Tools != nil || !strings.Contains(got, `\u003ctool_call\u003e`) || strings.Contains(got, `"tool_calls"`) {
			t.Errorf("%s with the tools %s", got, r.Template.Tools)
		}
	}
}

func TestStreamOfCalls(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	got := events(t, s.URL+"/v1/chat/completions", weather(t, twoCalls)+`, "stream": true}`)
	var list []string
	for _, e := range got[:len(got)-1] {
		var part struct {
			Choices []struct {
				Delta  json.RawMessage
				Finish string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(e), &part); err != nil {
			t.Fatal(err)
		}
		list = append(list, ids.ReplaceAllString(string(part.Choices[0].Delta), `"id":"x"`)+part.Choices[0].Finish)
	}
	const first = `{"tool_calls":[{"index":%d,"id":"x","type":"function","function":{"name":"get","arguments":""}}]}`
	want := []string{
		`{"role":"assistant","content":null}`, `{"content":"Wait."}`,
		fmt.Sprintf(first, 0), `{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\": "}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}}]}`,
		fmt.Sprintf(first, 1), `{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`,
		"{}tool_calls",
	}
	if strings.Join(list, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(want, "\n"))
	}
}

// The history of a conversation may have calls and their results.
func TestHistory(t *testing.T) {
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": &echo{}}})
	status, body := post(t, s.URL+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "a"},
		{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "get", "arguments": ""}}]},
		{"role": "tool", "tool_call_id": "1", "content": "sunny"}]}`)
	if status != http.StatusOK || !strings.Contains(body, `"content":"sunny"`) {
		t.Errorf("%d: %s", status, body)
	}
}

// short is a model that does not read the descriptions of functions, which are longer than its context.
type short struct{ *llm.Model }

func (s short) Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	r.Template.Tools = nil
	return s.Model.Chat(ctx, messages, r)
}

// TestForcedCalls forces a model with random weights to call a function.
func TestForcedCalls(t *testing.T) {
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
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": short{m}}})
	const parameters = `{"type": "object", "properties": {"n": {"enum": [1, 2, 3]}}, "required": ["n"], "additionalProperties": false}`
	arguments := regexp.MustCompile(`^\s*\{\s*"n"\s*:\s*[123]\s*\}\s*$`)
	for path, body := range map[string]string{
		"chat/completions": `{"messages": [{"role": "user", "content": "Hi"}], "tool_choice": "required", "tools": [{"type": "function", "function": {"name": "f", "parameters": ` + parameters + `}}]}`,
		"responses":        `{"input": "Hi", "tool_choice": {"type": "function", "name": "f"}, "tools": [{"type": "function", "name": "f", "parameters": ` + parameters + `}]}`,
	} {
		status, text := post(t, s.URL+"/v1/"+path, body)
		var got struct {
			Choices []struct {
				Message struct {
					Calls []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
			Output []struct{ Name, Arguments string }
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s, %v", path, status, text, err)
		}
		for _, c := range got.Choices {
			for _, call := range c.Message.Calls {
				got.Output = append(got.Output, call.Function)
			}
		}
		if len(got.Output) != 1 || got.Output[0].Name != "f" || !arguments.MatchString(got.Output[0].Arguments) {
			t.Errorf("%s: %s", path, text)
		}
	}
}
