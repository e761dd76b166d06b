package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// request is the body of a request.
type request struct {
	Model       string    `json:"model"`
	System      blocks    `json:"system"`
	Messages    []message `json:"messages"`
	MaxTokens   *int      `json:"max_tokens"`
	Stop        []string  `json:"stop_sequences"`
	Stream      bool      `json:"stream"`
	Temperature *float64  `json:"temperature"`
	TopK        *int      `json:"top_k"`
	TopP        *float64  `json:"top_p"`
	Tools       []tool    `json:"tools"`
	Choice      struct {
		Type   string `json:"type"`
		Name   string `json:"name"`
		Single bool   `json:"disable_parallel_tool_use"`
	} `json:"tool_choice"`
	Thinking struct {
		Type string `json:"type"`
	} `json:"thinking"`
	Format json.RawMessage `json:"output_format"`
}

// message is a message of a conversation.
type message struct {
	Role    string `json:"role"`
	Content blocks `json:"content"`
}

// tool is a function that the model may call.
type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

// block is a part of a message.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`          // of a call
	Name    string          `json:"name"`        // of the function that is called
	Input   json.RawMessage `json:"input"`       // of a call
	Call    string          `json:"tool_use_id"` // of the call with this result
	Content blocks          `json:"content"`     // of a result
}

// blocks are the parts of a message, which may be given as a text.
type blocks []block

// UnmarshalJSON implements json.Unmarshaler.
func (b *blocks) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if *b = nil; text != nil {
			*b = blocks{{Type: "text", Text: *text}}
		}
		return nil
	}
	var list []block
	if err := json.Unmarshal(data, &list); err != nil {
		if f, ok := errors.AsType[gate.Failure](err); ok {
			return f
		}
		return gate.Invalid("messages", "a content is neither a text nor a list of blocks")
	}
	*b = list
	return nil
}

// text returns the text of blocks. Other blocks are an error.
func (b blocks) text(param string) (all string, err error) {
	for _, x := range b {
		if x.Type != "text" {
			return "", gate.Invalid(param, "a block has the type %q; only text is supported here", x.Type)
		}
		all += x.Text
	}
	return all, nil
}

// most is the largest number of tokens or candidates that a request may ask for.
const most = 1 << 30

// generation returns how to generate the answer.
func (r *request) generation() (llm.Request, error) {
	g := llm.Request{Temperature: 1, Stop: r.Stop, Seed: gate.NewSeed()}
	if r.MaxTokens == nil {
		return g, gate.Invalid("max_tokens", "the field is required")
	}
	switch {
	case len(r.Stop) > 16:
		return g, gate.Invalid("stop_sequences", "%d texts, at most 16 are allowed", len(r.Stop))
	case r.Thinking.Type != "" && r.Thinking.Type != "disabled":
		return g, gate.Unsupported("thinking")
	case len(r.Format) > 0 && string(r.Format) != "null":
		return g, gate.Unsupported("output_format")
	}
	err := errors.Join(
		gate.Set(&g.MaxTokens, "max_tokens", r.MaxTokens, gate.Between(1, most)),
		gate.Set(&g.Temperature, "temperature", r.Temperature, gate.Between(0.0, 1)),
		gate.Set(&g.TopP, "top_p", r.TopP, gate.Between(0.0, 1)),
		gate.Set(&g.TopK, "top_k", r.TopK, gate.Between(0, most)),
	)
	gate.Narrow(&g, r.TopP)
	return g, err
}

// question returns the conversation.
func (r *request) question(m gate.Model) (gate.Question, error) {
	q := gate.Question{Model: m, Single: r.Choice.Single}
	system, err := r.System.text("system")
	if err != nil {
		return q, err
	}
	if system != "" {
		q.Messages = []chat.Message{{Role: "system", Content: system}}
	}
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != "user" {
		return q, gate.Invalid("messages", "the last message must be one of the user")
	}
	for i, m := range r.Messages {
		list, err := m.chat()
		if err != nil {
			return q, err
		}
		if len(list) == 0 {
			return q, gate.Invalid(fmt.Sprintf("messages[%d].content", i), "there is none")
		}
		q.Messages = append(q.Messages, list...)
	}
	return q, r.choose(&q)
}

// chat returns a message as templates see it: one for each result, and one for the rest.
func (m message) chat() (list []chat.Message, err error) {
	if m.Role != "user" && m.Role != "assistant" {
		return nil, gate.Invalid("messages", "a message has the role %q, want user or assistant", m.Role)
	}
	rest := chat.Message{Role: m.Role}
	used := false
	for _, b := range m.Content {
		switch {
		case b.Type == "text":
			rest.Content, used = rest.Content+b.Text, true
		case b.Type == "tool_use" && m.Role == "assistant":
			rest.ToolCalls, used = append(rest.ToolCalls, chat.ToolCall{ID: b.ID, Name: b.Name, Arguments: gate.Arguments(string(b.Input))}), true
		case b.Type == "tool_result" && m.Role == "user":
			text, err := b.Content.text("messages")
			if err != nil {
				return nil, err
			}
			list = append(list, chat.Message{Role: "tool", ToolCallID: b.Call, Content: text})
		case b.Type == "thinking" || b.Type == "redacted_thinking": // of another model
			used = true
		default:
			return nil, gate.Invalid("messages", "a block of the %s has the type %q, which is not supported", m.Role, b.Type)
		}
	}
	if used {
		list = append(list, rest)
	}
	return list, nil
}

// choose sets the functions of a question to those that tool_choice allows.
func (r *request) choose(q *gate.Question) error {
	list := make([]gate.Function, len(r.Tools))
	for i, t := range r.Tools {
		if t.Type != "" && t.Type != "custom" {
			return gate.Invalid("tools", "tool %d has the type %q; only functions of the client are supported", i, t.Type)
		}
		list[i] = gate.Function{Name: t.Name, Description: t.Description, Parameters: t.Schema}
	}
	err := gate.CheckFunctions("tools", list)
	switch {
	case err != nil || r.Choice.Type == "none":
		return err
	case r.Choice.Type == "" || r.Choice.Type == "auto":
		q.Functions = list
	case r.Choice.Type == "any":
		q.Functions, q.Forced = list, true
	case r.Choice.Type == "tool":
		q.Forced = true
		q.Functions, err = gate.Only("tool_choice", list, r.Choice.Name)
	default:
		return gate.Invalid("tool_choice", "the type %q is none of auto, any, tool and none", r.Choice.Type)
	}
	return err
}
