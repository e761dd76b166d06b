package openai

import (
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// chatRequest is the body of a request for the answer to a conversation.
type chatRequest struct {
	common
	MaxCompletionTokens *int              `json:"max_completion_tokens"`
	Messages            []message         `json:"messages"`
	Tools               []json.RawMessage `json:"tools"`
	Logprobs            bool              `json:"logprobs"`
	Format              struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Template map[string]any `json:"chat_template_kwargs"` // variables of the template, an extension of vLLM
}

// message is a message of a conversation.
type message struct {
	Role       string  `json:"role"`
	Content    content `json:"content"`
	Name       string  `json:"name"`
	ToolCallID string  `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// content is a text, which may be given in parts.
type content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if *c = ""; text != nil {
			*c = content(*text)
		}
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &parts) != nil {
		return gate.Invalid("messages", "the content of a message is neither a text nor a list of parts")
	}
	var all strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return gate.Invalid("messages", "a part of a message has the type %q; only text is supported", p.Type)
		}
		all.WriteString(p.Text)
	}
	*c = content(all.String())
	return nil
}

// chat answers a conversation.
func (h *Handler) chat(w http.ResponseWriter, r *http.Request) error {
	var body chatRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	name, m, err := h.Find(body.Model)
	if err != nil {
		return err
	}
	if body.MaxCompletionTokens != nil {
		body.MaxTokens = body.MaxCompletionTokens
	}
	messages, err := body.messages()
	if err != nil {
		return err
	}
	request, err := body.request()
	if err != nil {
		return err
	}
	request.Template.Variables = body.Template
	a := h.newAnswer(w, r, name, &body.common)
	a.chat = true
	return a.run(request, func(q llm.Request) iter.Seq2[llm.Token, error] { return m.Chat(r.Context(), messages, q) })
}

// messages returns the conversation, and the error of fields that only chats have.
func (b *chatRequest) messages() ([]chat.Message, error) {
	switch {
	case len(b.Messages) == 0:
		return nil, gate.Invalid("messages", "there are none")
	case len(b.Tools) > 0:
		return nil, gate.Unsupported("tools")
	case b.Logprobs:
		return nil, gate.Unsupported("logprobs")
	case b.Format.Type != "" && b.Format.Type != "text":
		return nil, gate.Unsupported("response_format")
	}
	list := make([]chat.Message, len(b.Messages))
	for i, m := range b.Messages {
		if m.Role == "" {
			return nil, gate.Invalid("messages", "message %d has no role", i)
		}
		list[i] = chat.Message{Role: m.Role, Content: string(m.Content), ToolCallID: m.ToolCallID, Name: m.Name}
		for _, call := range m.ToolCalls {
			list[i].ToolCalls = append(list[i].ToolCalls, chat.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
		}
	}
	return list, nil
}

// completionRequest is the body of a request for the continuation of a text.
type completionRequest struct {
	common
	Prompt   gate.Texts `json:"prompt"`
	Logprobs *int       `json:"logprobs"`
	Echo     bool       `json:"echo"`
	Suffix   string
}

// complete continues a text.
func (h *Handler) complete(w http.ResponseWriter, r *http.Request) error {
	var body completionRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	name, m, err := h.Find(body.Model)
	if err != nil {
		return err
	}
	switch {
	case len(body.Prompt) != 1:
		return gate.Invalid("prompt", "%d texts, want one", len(body.Prompt))
	case body.Logprobs != nil && *body.Logprobs > 0:
		return gate.Unsupported("logprobs")
	case body.Suffix != "":
		return gate.Unsupported("suffix")
	}
	if body.MaxTokens == nil {
		usual := 16 // as the protocol says
		body.MaxTokens = &usual
	}
	request, err := body.request()
	if err != nil {
		return err
	}
	a := h.newAnswer(w, r, name, &body.common)
	if body.Echo {
		a.echo = body.Prompt[0]
	}
	return a.run(request, func(q llm.Request) iter.Seq2[llm.Token, error] { return m.Generate(r.Context(), body.Prompt[0], q) })
}
