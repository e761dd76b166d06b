package chat_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
)

// lines is a template that does not know calls.
const lines = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"

func TestPromptWithoutTools(t *testing.T) {
	plain, err := chat.New(lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := chat.ToolCall{ID: "1", Name: "get", Arguments: []byte(`{"x":1}`)}
	messages := []chat.Message{
		{Role: "user", Content: "Hi"}, {Role: "assistant", ToolCalls: []chat.ToolCall{call, call}}, {Role: "tool", ToolCallID: "1", Content: "a"},
		{Role: "tool", Name: "other", Content: "b"}, {Role: "user", Content: "So?"},
	}
	const answer = "user: Hi\nassistant: {\"name\": \"get\", \"arguments\": {\"x\":1}}\n{\"name\": \"get\", \"arguments\": {\"x\":1}}\n" +
		"user: The result of get: a\nThe result of other: b\nuser: So?\nassistant:"
	if got, err := plain.Prompt(messages, chat.Options{}); err != nil || got != answer {
		t.Errorf("%v\n got %q\nwant %q", err, got, answer)
	}
	o := chat.Options{Tools: []json.RawMessage{[]byte(`{"a": 1}`), []byte(`{"b": 1}`)}}
	const tools = "You may call the following functions. To call one, answer only with a JSON object of this form, without any other text:\n" +
		`{"name": "the name of the function", "arguments": {"the name of an argument": "its value"}}` + "\nThe functions:\n" +
		"{\"a\": 1}\n{\"b\": 1}\nIf no function helps, answer with text.\n"
	for _, c := range []struct {
		messages []chat.Message
		want     string
	}{
		{messages, "system: " + tools + answer},
		{[]chat.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Hi"}}, "system: Be brief.\n\n" + tools + "user: Hi\nassistant:"},
	} {
		if got, err := plain.Prompt(c.messages, o); err != nil || got != c.want {
			t.Errorf("%v\n got %q\nwant %q", err, got, c.want)
		}
	}
	if messages[1].Content != "" || messages[0].Role != "user" {
		t.Errorf("the messages have changed: %+v", messages)
	}
	for _, c := range []struct {
		messages []chat.Message
		tool     string
	}{{messages[:1], "{"}, {nil, "{}"}, {[]chat.Message{{Role: "assistant", ToolCalls: []chat.ToolCall{{Arguments: []byte("{")}}}}, "{}"}} {
		if text, err := plain.Prompt(c.messages, chat.Options{Tools: []json.RawMessage{[]byte(c.tool)}}); !errors.Is(err, chat.ErrMessage) {
			t.Errorf("%+v and %s: %q, %v", c.messages, c.tool, text, err)
		}
	}
}

// A template that knows tools gets them.
func TestPromptWithTools(t *testing.T) {
	knows, err := chat.New("{{ tools | tojson }}"+lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := knows.Prompt([]chat.Message{{Role: "user", Content: "Hi"}}, chat.Options{Tools: []json.RawMessage{[]byte(`{"a": 1}`)}})
	if want := "[{\"a\": 1}]user: Hi\nassistant:"; err != nil || got != want {
		t.Errorf("%v\n got %q\nwant %q", err, got, want)
	}
}
