package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// chatRequest is the body of a request for the answer to a conversation.
type chatRequest struct {
	common
	calling
	MaxCompletionTokens *int           `json:"max_completion_tokens"`
	Messages            []message      `json:"messages"`
	Logprobs            bool           `json:"logprobs"`
	TopLogprobs         *int           `json:"top_logprobs"`
	Template            gate.Variables `json:"chat_template_kwargs"` // variables of the template, an extension of vLLM
	restricted
}

// message is a message of a conversation.
type message struct {
	Role       string   `json:"role"`
	Content    *content `json:"content"` // may be nil only in messages of the assistant
	Name       string   `json:"name"`
	ToolCallID string   `json:"tool_call_id"`
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

// text returns the text, or "" for nil.
func (c *content) text() string {
	if c == nil {
		return ""
	}
	return string(*c)
}

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
		switch p.Type {
		case "text", "input_text", "output_text": // the last two in the protocol of responses
		default:
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
	name, m, err := h.FindScaled(r.Context(), body.Model, body.Adapters)
	if err != nil {
		return err
	}
	if body.MaxCompletionTokens != nil {
		body.MaxTokens = body.MaxCompletionTokens
	}
	q, err := body.question(m)
	if err != nil {
		return err
	}
	request, err := body.request(m)
	if err != nil {
		return err
	}
	request.Template.Variables = body.Template.Values()
	if request.Grammar, err = h.grammarOf(&body.restricted); err == nil && q.Forced {
		err = h.Force(&request, "tool_choice", q.Functions)
	}
	if err != nil {
		return err
	}
	a := h.newAnswer(w, name, &body.common)
	a.chat = true
	if a.logprobs, err = body.logprobs(&request, m); err != nil {
		return err
	}
	request.N, request.Usage = body.count(), a.took
	return a.run(newTexts(request.N, ""), q.Answer(r.Context(), request))
}

// question returns the conversation, and the error of fields that only chats have.
func (b *chatRequest) question(m Model) (gate.Question, error) {
	if len(b.Messages) == 0 {
		return gate.Question{}, gate.Invalid("messages", "there are none")
	}
	q := gate.Question{Model: m}
	if err := b.apply(&q); err != nil {
		return q, err
	}
	if len(q.Functions) > 0 && b.restricts() {
		return q, gate.Invalid("response_format", "an answer in a format cannot call functions")
	}
	for i, message := range b.Messages {
		c, err := message.chat()
		if err != nil {
			return q, gate.Invalid("messages", "message %d has %v", i, err)
		}
		if message.Content == nil && c.Role != "assistant" {
			return q, gate.NoContent("messages", i)
		}
		q.Messages = append(q.Messages, c)
	}
	return q, nil
}

// logprobs asks for the probabilities that the answer contains, if the request has them, and returns what describes them.
func (b *chatRequest) logprobs(r *llm.Request, m Model) (*describer, error) {
	switch {
	case !b.Logprobs && b.TopLogprobs != nil && *b.TopLogprobs > 0:
		return nil, gate.Invalid("top_logprobs", "needs logprobs")
	case !b.Logprobs:
		return nil, nil
	}
	return newDescriber(r, m, field[int]{"top_logprobs", b.TopLogprobs})
}

// chat returns a message as templates see it, or the error of its role.
func (m message) chat() (chat.Message, error) {
	role, err := roleOf(m.Role)
	c := chat.Message{Role: role, Content: m.Content.text(), ToolCallID: m.ToolCallID, Name: m.Name}
	for _, call := range m.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, chat.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: gate.Arguments(call.Function.Arguments)})
	}
	return c, err
}

// roleOf returns the role that templates know. The error is about roles that OpenAI's API does not define: templates may leave out their
// messages, or render the names as they are.
func roleOf(role string) (string, error) {
	switch role {
	case "developer": // OpenAI's name for it since 2024
		return "system", nil
	case "system", "user", "assistant", "tool", "function":
		return role, nil
	case "":
		return "", errors.New("no role")
	}
	return "", fmt.Errorf("the role %q, want system, developer, user, assistant, tool or function", role)
}
