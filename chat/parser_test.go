package chat_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
)

// parsed is an answer that was read.
type parsed struct {
	text  string
	calls []string // name and arguments
}

// parse reads an answer in pieces of n bytes.
func parse(t *testing.T, answer string, n int) (r parsed) {
	t.Helper()
	p := chat.NewParser([]string{"add", "get"})
	add := func(parts []chat.Part) {
		for _, part := range parts {
			switch {
			case part.Call == 0:
				r.text += part.Text
			case part.Name != "" && part.Call != len(r.calls)+1:
				t.Fatalf("%q: call %d after %d", answer, part.Call, len(r.calls))
			case part.Name != "":
				r.calls = append(r.calls, part.Name+" "+part.Arguments)
			default:
				r.calls[part.Call-1] += part.Arguments
			}
		}
	}
	for ; len(answer) > n; answer = answer[n:] {
		add(p.Write(answer[:n]))
	}
	add(p.Write(answer))
	add(p.Close())
	return r
}

func TestParser(t *testing.T) {
	for _, c := range []struct {
		answer, text string
		calls        []string
	}{
		{"Hello.", "Hello.", nil},
		{"", "", nil},
		{" \n", " \n", nil},
		{"a < b, [TOOL and <tool", "a < b, [TOOL and <tool", nil},
		// Hermes and Qwen.
		{"<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": [1, {\"b\": \"}\\\"\"}]}}\n</tool_call>", "", []string{`add {"a": [1, {"b": "}\""}]}`}},
		{"Wait.\n\n<tool_call>\n{\"name\": \"new\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"arguments\": {\"x\": 2}, \"name\": \"get\"}\n</tool_call>", "Wait.", []string{"new {}", `get {"x": 2}`}},
		{"<think>\nhm {\n</think>\n\n<tool_call>{\"name\": \"get\"}</tool_call>", "<think>\nhm {\n</think>", []string{"get {}"}},
		{"<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1", "", []string{`add {"a": 1`}},
		{"<tool_call>{\"name\": \"add\", \"arg", "<tool_call>{\"name\": \"add\", \"arg", nil},
		{"<tool_call>call add</tool_call>", "<tool_call>call add</tool_call>", nil},
		{"A \n<tool_call> b", "A \n<tool_call> b", nil},
		{"<tool_call>{\"name\": 5}</tool_call> x", "<tool_call>{\"name\": 5}</tool_call> x", nil},
		{"<tool_call>{\"name\": \"get\", \"arguments\": 5}</tool_call>", "<tool_call>{\"name\": \"get\", \"arguments\": 5}</tool_call>", nil},
		{"<tool_call>{\"name\": \"get\", \"arguments\": \"{\\\"a\\\": 1}\"}</tool_call> Done.", "Done.", []string{`get {"a": 1}`}},
		// Mistral.
		{"[TOOL_CALLS][{\"name\": \"add\", \"arguments\": {\"a\": 1}}, {\"name\": \"get\", \"arguments\": {}, \"id\": \"123456789\"}]", "", []string{`add {"a": 1}`, "get {}"}},
		{"[TOOL_CALLS] [ {\"name\": \"add\", \"arguments\": {\"a\": 1}} ]", "", []string{`add {"a": 1}`}},
		{"Yes.[TOOL_CALLS]add[ARGS]{\"a\": {\"b\": 1}}[TOOL_CALLS]other[CALL_ID]123456789[ARGS]{}", "Yes.", []string{`add {"a": {"b": 1}}`, "other {}"}},
		{"[TOOL_CALLS]add{\"a\": 1}", "", []string{`add {"a": 1}`}},
		{"[TOOL_CALLS]is a marker {}", "[TOOL_CALLS]is a marker {}", nil},
		{"[TOOL_CALLS]" + strings.Repeat("x", 200), "[TOOL_CALLS]" + strings.Repeat("x", 200), nil},
		{"[TOOL_CALLS]add", "[TOOL_CALLS]add", nil},
		{"[TOOL_CALLS][5]", "[TOOL_CALLS][5]", nil},
		// Llama.
		{"<|python_tag|>{\"name\": \"new\", \"parameters\": {\"a\": 1}}", "", []string{`new {"a": 1}`}},
		{"{\"name\": \"add\", \"parameters\": {\"a\": 1}}; {\"name\": \"get\", \"parameters\": {}}", "", []string{`add {"a": 1}`, "get {}"}},
		{"{\"type\": \"function\", \"name\": \"add\", \"parameters\": {\"a\": 1}}", "", []string{`add {"a": 1}`}},
		{"<|python_tag|>print(5)", "<|python_tag|>print(5)", nil},
		// Other models.
		{"\n{\"name\": \"get\", \"arguments\": {\"x\": \"é\"}}\nThat is it.", "That is it.", []string{`get {"x": "é"}`}},
		{"{\"name\": \"new\", \"arguments\": {}}", "{\"name\": \"new\", \"arguments\": {}}", nil},
		{"{\"a\": 1}", "{\"a\": 1}", nil},
		{"[{\"name\": \"get\"}, {\"name\": \"add\", \"arguments\": {}}]", "", []string{"get {}", "add {}"}},
		{"[1, 2]", "[1, 2]", nil},
		{"```json\n{\"name\": \"get\", \"arguments\": {}}\n```", "", []string{"get {}"}},
		{"<tool_call>{\"name\": \"get\"}</tool_call> \n", "", []string{"get {}"}},
		{"{\"name\": \"get\"}, and so on", ", and so on", []string{"get {}"}},
		{"```\nx\n```", "```\nx\n```", nil},
		{"```python\nx\n```", "```python\nx\n```", nil},
		{"I call {\"name\": \"get\", \"arguments\": {}}", "I call {\"name\": \"get\", \"arguments\": {}}", nil},
		{"{\"function\": {\"name\": \"get\", \"arguments\": {\"a\": 1}}}", "", []string{`get {"a": 1}`}},
	} {
		for _, n := range []int{1, 2, 3, 7, 1000} {
			if got := parse(t, c.answer, n); got.text != c.text || !reflect.DeepEqual(got.calls, c.calls) {
				t.Errorf("%q in pieces of %d:\n got %q, %q\nwant %q, %q", c.answer, n, got.text, got.calls, c.text, c.calls)
			}
		}
	}
}

// Arguments arrive before the call ends.
func TestParserStreams(t *testing.T) {
	p := chat.NewParser(nil)
	p.Write(`<tool_call>{"name": "add", "arguments": {"a`)
	got := p.Write(`": 1`)
	if want := []chat.Part{{Call: 1, Arguments: `": 1`}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := chat.NewParser(nil).Write("Hello "); !reflect.DeepEqual(got, []chat.Part{{Text: "Hello"}}) {
		t.Errorf("text: %+v", got)
	}
}

// Each byte of an answer is either of a call, or not. The answers have a bar where this changes.
func TestParserCalling(t *testing.T) {
	for _, answer := range []string{
		"Hi. [", "Wait.\n<tool_call>|\n{\"name\": \"new\", \"arguments\": {\"a\": 1}}\n</tool_call>\n A|nd", "<tool_call>|  n|o",
		"[TOOL_CALLS]|add[ARGS]{\"a\": 1}; x|", "{\"name\": \"add\", \"parameters\": {|\"a\": 1}} {\"name\": \"add\"}; x|yz", "{\"name\": \"new\", \"parameters\": {}}",
	} {
		p, want := chat.NewParser([]string{"add"}), false
		for _, b := range []byte(answer) {
			if b == '|' {
				if want = !want; p.Calling() != want {
					t.Errorf("%q: calling is %v at the bar", answer, !want)
				}
				continue
			}
			if p.Calling() != want {
				t.Errorf("%q: calling is %v before %q", answer, !want, b)
				break
			}
			p.Write(string(b))
		}
	}
}

// FuzzParser checks that the size of the pieces does not matter, and that an answer without a bracket is text.
func FuzzParser(f *testing.F) {
	for _, s := range []string{
		"Hi.", "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 1}}</tool_call>", "[TOOL_CALLS]add[ARGS]{}", "[TOOL_CALLS][{\"name\":\"a\"}]",
		"```json\n[{\"name\": \"get\"}]```", "<|python_tag|>{}", "</think>{\"name\": \"get\"}; {", "{\"name\": \"get\", \"arguments\": {]}", " \n[ {",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		want := parse(t, answer, max(1, len(answer)))
		for _, n := range []int{1, 3} {
			if got := parse(t, answer, n); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q in pieces of %d: %+v, want %+v", answer, n, got, want)
			}
		}
		if !strings.Contains(answer, "{") && (want.text != answer || want.calls != nil) {
			t.Errorf("%q: %+v", answer, want)
		}
	})
}

func ExampleParser() {
	p := chat.NewParser([]string{"add"})
	for _, piece := range []string{"<tool_call>\n{\"name\": \"add\", ", "\"arguments\": {\"a\"", ": 1}}\n</tool_call>"} {
		for _, part := range p.Write(piece) {
			fmt.Printf("call %d: %q %q\n", part.Call, part.Name, part.Arguments)
		}
	}
	fmt.Println(len(p.Close()))
	// Output:
	// call 1: "add" ""
	// call 1: "" "{\"a\""
	// call 1: "" ": 1}"
	// 0
}
