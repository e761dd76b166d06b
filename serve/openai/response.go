package openai

import (
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/gopherwarp/gopherwarp/llm"
)

// response is the answer to a request in the protocol of responses.
type response struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	Created      int64             `json:"created_at"`
	Completed    *int64            `json:"completed_at"`
	Status       string            `json:"status"`
	Model        string            `json:"model"`
	Output       []*item           `json:"output"`
	Error        *responseError    `json:"error"`
	Incomplete   *incomplete       `json:"incomplete_details"`
	Usage        *responseUsage    `json:"usage"`
	Instructions *string           `json:"instructions"`
	MaxTokens    *int              `json:"max_output_tokens"`
	Temperature  float64           `json:"temperature"`
	TopP         float64           `json:"top_p"`
	Tools        []responseTool    `json:"tools"`
	Choice       json.RawMessage   `json:"tool_choice"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Metadata     map[string]string `json:"metadata"`
	Text         json.RawMessage   `json:"text"`
	constants
}

// constants are fields that are the same in all responses.
type constants struct {
	Reasoning   *struct{} `json:"reasoning"`
	Previous    *string   `json:"previous_response_id"`
	MaxCalls    *int      `json:"max_tool_calls"`
	User        *string   `json:"safety_identifier"`
	Cache       *string   `json:"prompt_cache_key"`
	Store       bool      `json:"store"`
	Background  bool      `json:"background"`
	Truncation  string    `json:"truncation"`
	Tier        string    `json:"service_tier"`
	TopLogprobs int       `json:"top_logprobs"`
	Frequency   float64   `json:"frequency_penalty"`
	Presence    float64   `json:"presence_penalty"`
}

// item is a part of the output: a message or a call. Which fields it has depends on the type.
type item struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Status    string         `json:"status"`
	Role      string         `json:"role,omitempty"`
	Content   *[]contentPart `json:"content,omitempty"`
	CallID    string         `json:"call_id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Arguments *string        `json:"arguments,omitempty"`
}

// contentPart is a text in a message.
type contentPart struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
	Logprobs    []any  `json:"logprobs"`
}

func newPart(text string) contentPart {
	return contentPart{Type: "output_text", Text: text, Annotations: []any{}, Logprobs: []any{}}
}

// responseError is the error of a response that failed.
type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// incomplete says why a response ends early.
type incomplete struct {
	Reason string `json:"reason"`
}

// responseUsage counts tokens.
type responseUsage struct {
	Input   int `json:"input_tokens"`
	Details struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"` // 0: storing tokens in the cache is not charged
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

// newResponse returns the response to a request, without output.
func newResponse(model string, b *responsesRequest, g llm.Request) response {
	r := response{
		ID: "resp_" + rand.Text(), Object: "response", Created: time.Now().Unix(), Status: "in_progress", Model: model, Output: []*item{},
		Instructions: b.Instructions, MaxTokens: b.MaxTokens, Temperature: g.Temperature, TopP: g.TopP, Tools: b.Tools, Choice: b.Choice,
		Parallel: !b.single(), Metadata: b.Metadata, Text: b.text(),
		constants: constants{Truncation: "disabled", Tier: "default"},
	}
	if r.Tools == nil {
		r.Tools = []responseTool{}
	}
	if len(r.Choice) == 0 || string(r.Choice) == "null" {
		r.Choice = json.RawMessage(`"auto"`)
	}
	if r.Metadata == nil {
		r.Metadata = map[string]string{}
	}
	return r
}

// finish sets how the response ended.
func (r *response) finish(why llm.Finish, took llm.Usage) {
	now := time.Now().Unix()
	r.Status = "completed"
	if why.String() == "length" {
		r.Status, r.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	} else {
		r.Completed = &now
	}
	r.Usage = newUsage(took)
}

// newUsage returns the counts of a response.
func newUsage(took llm.Usage) *responseUsage {
	u := &responseUsage{Input: took.Prompt, Output: took.Generated, Total: took.Prompt + took.Generated}
	u.Details.Cached = took.Known
	return u
}

// text returns the answer's field text.
func (b *responsesRequest) text() json.RawMessage {
	if f := b.Text.Format; len(f) > 0 && string(f) != "null" {
		return json.RawMessage(`{"format":` + string(f) + "}")
	}
	return json.RawMessage(`{"format":{"type":"text"}}`)
}
