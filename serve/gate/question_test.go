package gate_test

import (
	"context"
	"iter"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// writer is a model that answers with a text, a byte at a time, until a reason ends it. It ends at a text of Request.Stop as llm.Model does.
type writer struct {
	text   string
	finish llm.Finish
}

func (m writer) Chat(ctx context.Context, _ []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return m.Generate(ctx, "", r)
}

func (m writer) Generate(_ context.Context, _ string, r llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		exempt := func(string) bool { return false }
		if r.Exempt != nil {
			exempt = r.Exempt()
		}
		for i, b := range []byte(m.text) {
			spared := i > 0 && exempt(m.text[i-1:i])
			for _, stop := range r.Stop { // of one byte
				if stop == string(b) && !spared {
					yield(llm.Token{Finish: llm.Stopped, Stop: stop}, nil)
					return
				}
			}
			if !yield(llm.Token{Text: string(b)}, nil) {
				return
			}
		}
		yield(llm.Token{Finish: m.finish}, nil)
	}
}

// Texts that end an answer do not end a call: they apply to its text. An answer within a call is no complete call.
func TestEndsOfCalls(t *testing.T) {
	const call = `{"name": "now", "arguments": {"tz": "utc"}}`
	for name, x := range map[string]struct {
		model           writer
		forced, single  bool
		text, arguments string
		finish          llm.Finish
		called          bool
	}{
		"forced":                       {model: writer{call, llm.Ended}, forced: true, arguments: `{"tz": "utc"}`, finish: llm.Ended, called: true},
		"forced, without name":         {model: writer{`{"name": "n`, llm.Limited}, forced: true, finish: llm.Limited},
		"forced, without end":          {model: writer{call[:len(call)-4], llm.Limited}, forced: true, arguments: `{"tz": "ut`, finish: llm.Limited},
		"not forced":                   {model: writer{call, llm.Ended}, arguments: `{"tz": "utc"}`, finish: llm.Ended, called: true},
		"marker without a call":        {model: writer{"a <tool_call>z, xyz", llm.Ended}, text: "a <tool_call>z, xy", finish: llm.Stopped},
		"call after a marker":          {model: writer{`a <tool_call>{"arguments": {"tz": 1}, "name": "now"}</tool_call>`, llm.Ended}, text: "a", arguments: `{"tz": 1}`, finish: llm.Ended, called: true},
		"text before a call":           {model: writer{"az " + call, llm.Ended}, text: "a", finish: llm.Stopped},
		"text after a call":            {model: writer{call + " az", llm.Ended}, text: "a", arguments: `{"tz": "utc"}`, finish: llm.Stopped, called: true},
		"perhaps a call":               {model: writer{`{"z": 1}`, llm.Ended}, text: `{"`, finish: llm.Stopped},
		"not forced, without end":      {model: writer{`{"name": "now", "arguments": {"n": 1`, llm.Ended}, arguments: `{"n": 1`, finish: llm.Ended},
		"not forced, text":             {model: writer{"hi", llm.Ended}, text: "hi", finish: llm.Ended},
		"only one, without second end": {model: writer{`{"name": "now", "arguments": {"n": 1}}, {"name": "now", "arguments": {"n"`, llm.Limited}, single: true, arguments: `{"n": 1}`, finish: llm.Limited, called: true},
	} {
		q := gate.Question{Model: x.model, Functions: []gate.Function{{Name: "now"}}, Forced: x.forced, Single: x.single}
		var text, arguments string
		for part, err := range q.Answer(t.Context(), llm.Request{Stop: []string{"z"}}) {
			if err != nil {
				t.Fatal(err)
			}
			text, arguments = text+part.Text, arguments+part.Arguments
			if part.Finish != llm.Unfinished && (part.Finish != x.finish || part.Called != x.called) {
				t.Errorf("%s: ends as %v, called %v, want %v, %v", name, part.Finish, part.Called, x.finish, x.called)
			}
		}
		if text != x.text || arguments != x.arguments {
			t.Errorf("%s: text %q and arguments %q, want %q and %q", name, text, arguments, x.text, x.arguments)
		}
	}
}
