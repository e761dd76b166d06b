package anthropic_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/serve/anthropic"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/gate/gatetest"
)

// FuzzBody checks that no body of a request makes the server fail: statuses of 500 and more are its own mistakes, except that an answer
// may take too long.
func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{"max_tokens": 1, "messages": [{"role": "user", "content": "a"}], "stop_sequences": ["b"], "temperature": 0.5, "top_k": 3, "top_p": 0.9}`,
		`{"max_tokens": 1, "system": [{"type": "text", "text": "s"}], "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}], "stream": true}`,
		`{"max_tokens": 1, "tools": [{"name": "f", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}, "messages": [{"role": "user", "content": "a"}]}`,
		`{"max_tokens": 1, "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]}]}`,
		ask("a") + tools + "}", ask("a") + `, "stream": true}`, `{"messages": [{"role": "user", "content": [{"type": "tool_result", "content": [{}]}]}]}`, `[]`, `null`,
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
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{"m": m}, AnyName: true, Time: time.Second})
	if err != nil {
		f.Fatal(err)
	}
	h := anthropic.Handle(g)
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
			if w.Code >= 500 && w.Code != 504 {
				t.Errorf("%s %.100q: %d %s", path, body, w.Code, w.Body)
			}
		}
	})
}
