package chat_test

import (
	"encoding/json"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
)

// Variables may be nested lists and objects, of Go or in JSON, which keeps the order of keys.
func TestVariables(t *testing.T) {
	tmpl, err := chat.New("{% for d in documents %}{{ d.title }}{{ d.n + 1 }}{{ d.list | tojson }}{% for k in d %} {{ k }}{% endfor %};{% endfor %}", nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, documents := range map[string]any{
		`x2[null, 0.5, "a"] list n title;`: []any{map[string]any{"title": "x", "n": 1, "list": []any{nil, 0.5, "a"}}},
		`y4[[], {}] title n list;`:         json.RawMessage(`[{"title": "y", "n": 3, "list": [[], {}]}]`),
		``:                                 []any{},
	} {
		got, err := tmpl.Render([]chat.Message{{Role: "user"}}, chat.Options{Variables: map[string]any{"documents": documents}})
		if err != nil || got != want {
			t.Errorf("%v: %v, %q, want %q", documents, err, got, want)
		}
	}
}
