package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// responsesRequest is the body of a request in the protocol of responses. The server stores nothing.
type responsesRequest struct {
	Model        string            `json:"model"`
	Input        input             `json:"input"`
	Instructions *string           `json:"instructions"`
	MaxTokens    *int              `json:"max_output_tokens"`
	Temperature  *float64          `json:"temperature"`
	TopP         *float64          `json:"top_p"`
	Stream       bool              `json:"stream"`
	Tools        []responseTool    `json:"tools"`
	Metadata     map[string]string `json:"metadata"`
	Text         struct {
		Format json.RawMessage `json:"format"` // which the answer repeats
	} `json:"text"`
	choosing
	absent
}

// absent are the fields whose values ask for what the server does not do.
type absent struct {
	Previous     *string         `json:"previous_response_id"`
	Conversation json.RawMessage `json:"conversation"`
	Prompt       json.RawMessage `json:"prompt"`
	Background   *bool           `json:"background"`
	Truncation   *string         `json:"truncation"`
	TopLogprobs  *int            `json:"top_logprobs"`
	MaxCalls     *int            `json:"max_tool_calls"`
	Frequency    *float64        `json:"frequency_penalty"`
	Presence     *float64        `json:"presence_penalty"`
}

// responseTool is a function that the model may call.
type responseTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

// inputItem is a part of the conversation.
type inputItem struct {
	Type      string   `json:"type"` // a message if it is empty
	Role      string   `json:"role"`
	Content   *content `json:"content"` // as in message
	CallID    string   `json:"call_id"`
	Name      string   `json:"name"`
	Arguments string   `json:"arguments"`
	Output    content  `json:"output"`
	Encrypted string   `json:"encrypted_content"` // of a compaction
}

// input is a conversation, which may be given as the text of the user.
type input []inputItem

// size returns about as many bytes as a conversation has in JSON.
func (in input) size() (n int64) {
	const fields = len(`{"type":"message","role":"user","content":""},`)
	for _, x := range in {
		n += int64(fields + len(x.Content.text()) + len(x.Arguments) + len(x.Output) + len(x.Encrypted))
	}
	return n
}

// UnmarshalJSON implements json.Unmarshaler.
func (in *input) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if *in = nil; text != nil {
			*in = input{{Role: "user", Content: (*content)(text)}}
		}
		return nil
	}
	var list []inputItem
	if err := json.Unmarshal(data, &list); err != nil {
		if f, ok := errors.AsType[gate.Failure](err); ok {
			return gate.Failure{Status: f.Status, Param: "input", Message: f.Message}
		}
		return gate.Invalid("input", "neither a text nor a list of items: %v", err)
	}
	*in = list
	return nil
}

// messages returns the conversation.
func (in input) messages() (list []chat.Message, err error) {
	called := map[string]bool{}
	for i, item := range in {
		switch cmp.Or(item.Type, "message") {
		case "message":
			role, err := roleOf(item.Role)
			if err != nil {
				return nil, gate.Invalid("input", "item %d has %v", i, err)
			}
			if item.Content == nil && role != "assistant" {
				return nil, gate.NoContent("input", i)
			}
			list = append(list, chat.Message{Role: role, Content: item.Content.text()})
		case "function_call":
			if n := len(list); n == 0 || list[n-1].Role != "assistant" {
				list = append(list, chat.Message{Role: "assistant"})
			}
			last := &list[len(list)-1]
			last.ToolCalls = append(last.ToolCalls, chat.ToolCall{ID: item.CallID, Name: item.Name, Arguments: gate.Arguments(item.Arguments)})
			called[item.CallID] = true
		case "function_call_output":
			if !called[item.CallID] {
				return nil, gate.Invalid("input", "item %d is the output of the call %q, which does not precede it", i, item.CallID)
			}
			list = append(list, chat.Message{Role: "tool", ToolCallID: item.CallID, Content: string(item.Output)})
		case "compaction":
			summary, err := compacted(item.Encrypted)
			if err != nil {
				return nil, err
			}
			list = append(list, summary...)
		case "reasoning": // of another model
		default:
			return nil, gate.Invalid("input", "item %d has the type %q, which is not supported", i, item.Type)
		}
	}
	return list, nil
}

// check returns the error of values that ask for what the server does not do.
func (a *absent) check() error {
	given := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	positive := func(n *int) bool { return n != nil && *n != 0 }
	penalty := func(x *float64) bool { return x != nil && *x != 0 }
	for _, f := range []struct {
		name  string
		asked bool
	}{
		{"previous_response_id", a.Previous != nil}, {"conversation", given(a.Conversation)}, {"prompt", given(a.Prompt)},
		{"background", a.Background != nil && *a.Background}, {"truncation", a.Truncation != nil && *a.Truncation != "disabled"},
		{"top_logprobs", positive(a.TopLogprobs)}, {"max_tool_calls", a.MaxCalls != nil},
		{"frequency_penalty", penalty(a.Frequency)}, {"presence_penalty", penalty(a.Presence)},
	} {
		if f.asked {
			return gate.Unsupported(f.name)
		}
	}
	return nil
}

// question returns the conversation.
func (b *responsesRequest) question(m Model) (q gate.Question, err error) {
	q = gate.Question{Model: m}
	if err := b.absent.check(); err != nil {
		return q, err
	}
	if q.Messages, err = b.Input.messages(); err != nil {
		return q, err
	}
	if len(q.Messages) == 0 {
		return q, gate.Invalid("input", "there is no message")
	}
	if b.Instructions != nil && *b.Instructions != "" {
		q.Messages = append([]chat.Message{{Role: "system", Content: *b.Instructions}}, q.Messages...)
	}
	for i, t := range b.Tools {
		if t.Type != "function" {
			return q, gate.Invalid("tools", "tool %d has the type %q; only functions are supported", i, t.Type)
		}
		f := gate.Function{Name: t.Name, Parameters: t.Parameters}
		if t.Description != nil {
			f.Description = *t.Description
		}
		if string(f.Parameters) == "null" {
			f.Parameters = nil
		}
		q.Functions = append(q.Functions, f)
	}
	if err := gate.CheckFunctions("tools", q.Functions); err != nil {
		return q, err
	}
	return q, b.choose(&q, q.Functions)
}

// restrict sets the grammar of the answer.
func (h *Handler) restrict(r *llm.Request, b *responsesRequest, q gate.Question) error {
	var f format
	if len(b.Text.Format) > 0 {
		if err := json.Unmarshal(b.Text.Format, &f); err != nil {
			return gate.Invalid("text.format", "not a format: %v", err)
		}
	}
	if len(q.Functions) > 0 && f.restricts() {
		return gate.Invalid("text.format", "an answer in a format cannot call functions")
	}
	if q.Forced {
		return h.Force(r, "tool_choice", q.Functions)
	}
	var err error
	r.Grammar, err = h.grammar("text.format", &f)
	return err
}

// generation returns how to generate the answer, and sets the defaults in the request, which the answer repeats.
func (b *responsesRequest) generation() (llm.Request, error) {
	r := llm.Request{Temperature: 1, TopP: 1, Seed: gate.NewSeed()}
	err := errors.Join(
		gate.Set(&r.MaxTokens, "max_output_tokens", b.MaxTokens, gate.Between(1, 1<<30)),
		gate.Set(&r.Temperature, "temperature", b.Temperature, gate.Between(0.0, 2)),
		gate.Set(&r.TopP, "top_p", b.TopP, gate.Between(0.0, 1)),
	)
	return r, err
}

// responses answers a conversation in the protocol of responses.
func (h *Handler) responses(w http.ResponseWriter, r *http.Request) error {
	var body responsesRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	a, err := h.newReply(r.Context(), &body)
	if err != nil {
		return err
	}
	if !body.Stream {
		if err := a.run(r.Context()); err != nil {
			return err
		}
		return gate.WriteJSON(w, a.response)
	}
	events := h.NewEvents(w)
	a.events = events
	if err := a.run(r.Context()); err != nil {
		return err
	}
	return events.SendText("", []byte("[DONE]"))
}

// newReply returns the reply to a request, without output.
func (h *Handler) newReply(ctx context.Context, body *responsesRequest) (*reply, error) {
	name, m, err := h.Find(ctx, body.Model)
	if err != nil {
		return nil, err
	}
	q, err := body.question(m)
	if err != nil {
		return nil, err
	}
	g, err := body.generation()
	if err == nil {
		err = h.restrict(&g, body, q)
	}
	if err != nil {
		return nil, err
	}
	a := &reply{response: newResponse(name, body, g), question: q, request: g, took: new(llm.Usage)}
	a.request.Usage = a.took
	gate.Narrow(&a.request, body.TopP) // the response has the temperature of the request
	return a, nil
}
