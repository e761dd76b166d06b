package openai

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// compactRequest is the body of a request to replace a conversation by something shorter.
type compactRequest struct {
	Model        *string `json:"model"`
	Input        input   `json:"input"`
	Instructions *string `json:"instructions"`
	absent
}

// compaction is the answer: a conversation of one item, with which later requests begin.
type compaction struct {
	ID      string           `json:"id"`
	Object  string           `json:"object"`
	Output  []compactionItem `json:"output"`
	Created int64            `json:"created_at"`
	Usage   *responseUsage   `json:"usage"`
}

// compactionItem has a summary, which the protocol calls encrypted because clients only pass it on. Here it is encoded in base64.
type compactionItem struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Content string `json:"encrypted_content"`
}

// summaryTokens limits the length of a summary.
const summaryTokens = 512

// compact has the model write a summary of a conversation.
func (h *Handler) compact(w http.ResponseWriter, r *http.Request) error {
	var body compactRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	if body.Model == nil {
		return gate.Invalid("model", "there is none")
	}
	_, m, err := h.Find(r.Context(), *body.Model)
	if err != nil {
		return err
	}
	q, err := body.question(m)
	if err != nil {
		return err
	}
	var took llm.Usage
	var summary strings.Builder
	for part, err := range q.Answer(r.Context(), llm.Request{MaxTokens: summaryTokens, TopP: 1, Usage: &took}) {
		if err != nil {
			return err
		}
		summary.WriteString(part.Text)
	}
	item := compactionItem{Type: "compaction", ID: "cmp_" + rand.Text(), Content: base64.StdEncoding.EncodeToString([]byte(summary.String()))}
	return gate.WriteJSON(w, compaction{
		ID: "resp_" + rand.Text(), Object: "response.compaction", Output: []compactionItem{item}, Created: time.Now().Unix(), Usage: newUsage(took),
	})
}

// question asks for the summary. The conversation is a text in one message, because templates of chats may refuse one that ends with the
// user's, or with a call.
func (b *compactRequest) question(m Model) (q gate.Question, err error) {
	if err := b.absent.check(); err != nil {
		return q, err
	}
	list, err := b.Input.messages()
	if err != nil {
		return q, err
	}
	if len(list) == 0 {
		return q, gate.Invalid("input", "there is no message")
	}
	var text strings.Builder
	text.WriteString("Write a summary of this conversation, with all facts, decisions and open questions:\n")
	if b.Instructions != nil && *b.Instructions != "" {
		text.WriteString("\nsystem: " + *b.Instructions)
	}
	for _, message := range list {
		text.WriteString("\n" + message.Role + ": " + message.Content)
		for _, call := range message.ToolCalls {
			text.WriteString(" call of " + call.Name + "(" + string(call.Arguments) + ")")
		}
	}
	return gate.Question{Model: m, Messages: []chat.Message{{Role: "user", Content: text.String()}}}, nil
}

// compacted returns the messages that stand for a compaction.
func compacted(encoded string) ([]chat.Message, error) {
	summary, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, gate.Invalid("input", "encrypted_content is not that of an answer of this server: %v", err)
	}
	return []chat.Message{
		{Role: "user", Content: "This is a summary of our conversation:\n" + string(summary)},
		{Role: "assistant", Content: "I continue from there."},
	}, nil
}
