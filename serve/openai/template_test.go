package openai_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

// The variables of a template may be any JSON values, and reach the model with the order of their keys.
func TestTemplateVariables(t *testing.T) {
	m := &echo{requests: make(chan llm.Request, 1)}
	s := serve(t, openai.Options{Models: map[string]openai.Model{"m": m}})
	const messages = `{"messages": [{"role": "user", "content": "hi"}], "chat_template_kwargs": `
	status, text := post(t, s.URL+"/v1/chat/completions", messages+`{"documents":[{"title":"x","id":1234567890123456789}],"thinking":false,"n":null}}`)
	if status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	want := map[string]any{
		"documents": json.RawMessage(`[{"title":"x","id":1234567890123456789}]`), "thinking": json.RawMessage("false"), "n": json.RawMessage("null"),
	}
	if got := (<-m.requests).Template.Variables; !reflect.DeepEqual(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	for _, wrong := range []string{"5", "[1]", `"x"`} {
		if status, text := post(t, s.URL+"/v1/chat/completions", messages+wrong+"}"); status != 400 || !strings.Contains(text, `"param":"chat_template_kwargs"`) {
			t.Errorf("%s: %d %s", wrong, status, text)
		}
	}
}
