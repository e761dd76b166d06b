package openai

import (
	"encoding/json"
	"errors"

	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// format is the format of an answer. The names and descriptions of schemas, and strict, have no effect: each schema is enforced.
type format struct {
	Type string `json:"type"`
	Chat struct {
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"` // in the protocol of chats
	Schema json.RawMessage `json:"schema"` // in that of responses
}

// restricts reports whether an answer may not be any text.
func (f *format) restricts() bool { return f.Type != "" && f.Type != "text" }

// restricted are the fields of a request that restrict the form of the answer.
type restricted struct {
	Format format `json:"response_format"`

	Schema json.RawMessage `json:"json_schema"` // an extension of llama-server
	GBNF   string          `json:"grammar"`     // another one, which is not supported
}

// given reports whether there is a schema outside of the format.
func (r *restricted) given() bool { return len(r.Schema) > 0 && string(r.Schema) != "null" }

// restricts reports whether an answer may not be any text.
func (r *restricted) restricts() bool { return r.Format.restricts() || r.given() }

// grammarOf returns the grammar of an answer, or nil if it may be any text. The format takes precedence over the schema outside of it.
func (h *Handler) grammarOf(r *restricted) (*grammar.Grammar, error) {
	switch {
	case r.GBNF != "":
		return nil, gate.Unsupported("grammar")
	case !r.Format.restricts() && r.given():
		return h.grammar("json_schema", &format{Type: "json_schema", Schema: r.Schema})
	}
	return h.grammar("response_format", &r.Format)
}

// grammar returns the grammar of an answer, or nil if it may be any text. The field param has the format.
func (h *Handler) grammar(param string, f *format) (*grammar.Grammar, error) {
	schema := f.Schema
	if len(schema) == 0 {
		schema = f.Chat.Schema
	}
	switch {
	case !f.restricts():
		return nil, nil
	case f.Type == "json_object" && len(schema) == 0:
		schema = []byte(`{"type": "object"}`)
	case f.Type != "json_schema" && f.Type != "json_object": // which may have a schema in llama-server
		return nil, gate.Invalid(param, "the type %q is none of text, json_object and json_schema", f.Type)
	case len(schema) == 0:
		return nil, gate.Invalid(param, "json_schema has no schema")
	}
	g, err := h.grammars.Schema(schema)
	if err == nil {
		return g, nil
	}
	failure := gate.Invalid(param, "%v", err)
	if errors.Is(err, grammar.ErrUnsupported) {
		failure.Code = "unsupported_schema"
	}
	return nil, failure
}
