package gate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

func TestForce(t *testing.T) {
	g := open(t, gate.Options{})
	list := []gate.Function{
		{Name: "get"},
		{Name: "null", Parameters: json.RawMessage("null")},
		{Name: "add", Parameters: json.RawMessage(`{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"z": {"$ref": "#/$defs/n"}, "a": {"enum": ["$ref"]}},
			"required": ["z"], "additionalProperties": false, "$defs": {"n": {"type": "integer"}}}`)},
	}
	var r llm.Request
	if err := g.Force(&r, "tool_choice", list); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]bool{
		`{"name": "get", "arguments": {"x": 1}}`: true, `{"name": "null", "arguments": {"x": 1}}`: true, `{"name": "add", "arguments": {"z": 5, "a": "$ref"}}`: true, `{"name": "add", "arguments": {"z": 5}}`: true,
		`{"name": "add", "arguments": {"z": "5"}}`: false, `{"name": "add", "arguments": {}}`: false, `{"name": "put", "arguments": {}}`: false,
		`{"name": "get"}`: false, `{"name": "get", "arguments": 5}`: false, `text`: false,
	} {
		if r.Grammar.Match(call) != want {
			t.Errorf("%s: %v, want %v", call, !want, want)
		}
	}
	only, err := gate.Only("tool_choice", list, "get")
	if err != nil || len(only) != 1 || only[0].Name != "get" {
		t.Errorf("only get: %v, %v", only, err)
	}
	if _, err := gate.Only("tool_choice", list, "put"); err == nil {
		t.Error("there is a function put")
	}
	for _, parameters := range []string{`{"type": "string"}`, `{"properties": {"a": {"$ref": "#/none"}}}`, `{"properties": {"a": {"type": "x"}}}`} {
		err := g.Force(&r, "tool_choice", []gate.Function{{Name: "f", Parameters: json.RawMessage(parameters)}})
		if err == nil || !strings.HasPrefix(err.Error(), "tool_choice: the parameters of the functions cannot be enforced") {
			t.Errorf("%s: %v", parameters, err)
		}
	}
	if err := g.Force(&r, "tool_choice", nil); err == nil {
		t.Error("no function can be called")
	}
}
