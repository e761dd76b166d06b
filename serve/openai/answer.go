package openai

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// answer is the answer to a request.
type answer struct {
	w       http.ResponseWriter
	events  *gate.Events
	request *common
	head    head
	chat    bool
	took    *llm.Usage // complete after the last part
	usage   usage

	logprobs *describer // nil if the request asks for no probabilities
	best     int        // continuations of each prompt of which the most probable ones are the answer; 0 for all
}

// head is what an answer, and each part of a stream, begins with.
type head struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
	Build   string `json:"system_fingerprint"`
}

// body is an answer, or a part of a stream.
type body struct {
	head
	Choices []choice           `json:"choices"`
	Usage   *usage             `json:"usage,omitempty"`
	Timings map[string]float64 `json:"timings,omitempty"`
}

// usage counts tokens.
type usage struct {
	Prompt    int `json:"prompt_tokens"`
	Generated int `json:"completion_tokens"`
	Total     int `json:"total_tokens"`
	Details   struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// set sets what the choices took.
func (u *usage) set(x llm.Usage) {
	u.Prompt, u.Generated, u.Total = x.Prompt, x.Generated, x.Prompt+x.Generated
	u.Details.Cached = x.Known
}

// choice is one of the texts of an answer, or a part of it. Which fields it has depends on the request.
type choice struct {
	Index   int     `json:"index"`
	Message *speech `json:"message,omitempty"`
	Delta   *delta  `json:"delta,omitempty"`
	Text    *string `json:"text,omitempty"`
	Logs    any     `json:"logprobs"`
	Finish  *string `json:"finish_reason"`
}

// speech is a message.
type speech struct {
	Role    string  `json:"role"`
	Content *string `json:"content"` // null if there are only calls
	Calls   []call  `json:"tool_calls,omitempty"`
}

// delta is a part of a message.
type delta struct {
	Role    string          `json:"role,omitempty"`
	Content json.RawMessage `json:"content,omitempty"` // a text; null beside the role
	Calls   []call          `json:"tool_calls,omitempty"`
}

// call is a call of a function, or a part of one.
type call struct {
	Index    *int   `json:"index,omitempty"` // only of a part
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (h *Handler) newAnswer(w http.ResponseWriter, model string, c *common) *answer {
	return &answer{
		w: w, events: h.NewEvents(w), request: c, took: new(llm.Usage),
		head: head{ID: rand.Text(), Created: time.Now().Unix(), Model: model, Build: h.build},
	}
}

// run generates all choices at once, and writes them. Each has a text.
func (a *answer) run(texts []text, parts iter.Seq2[gate.Part, error]) error {
	a.head.ID, a.head.Object = "cmpl-"+a.head.ID, "text_completion"
	if a.chat {
		a.head.ID, a.head.Object = "chatcmpl-"+a.head.ID[len("cmpl-"):], "chat.completion"
		if a.request.Stream {
			a.head.Object += ".chunk"
		}
	}
	for part, err := range parts {
		if err == nil {
			err = a.add(&texts[part.Choice], part)
		}
		if err != nil {
			return a.fail(err)
		}
	}
	a.usage.set(*a.took)
	if a.request.Stream {
		return a.end()
	}
	texts = a.choose(texts)
	list := make([]choice, len(texts))
	for i := range texts {
		list[i] = a.whole(&texts[i])
	}
	return gate.WriteJSON(a.w, body{a.head, list, &a.usage, a.timings()})
}

// timings returns what the texts have taken so far, or nil if the request does not ask for it.
func (a *answer) timings() map[string]float64 {
	if !a.request.Timings {
		return nil
	}
	return gate.Timings(*a.took)
}

// text is a choice that is being generated.
type text struct {
	index  int
	echo   string
	begun  bool // there has been a part
	all    []byte
	calls  []call
	finish string
	tokens []llm.Token // whose probabilities have not been written
	at     position    // of the first of these

	logprob float64 // the sum of the tokens' logarithms
	count   int     // of these tokens
}

// newTexts returns the texts of n choices for each prompt, which they may repeat.
func newTexts(n int, echoes ...string) (list []text) {
	for _, echo := range echoes {
		for range n {
			list = append(list, text{index: len(list), echo: echo, at: position{offset: utf8.RuneCountInString(echo)}})
		}
	}
	return list
}

// add adds a part to a text, and streams it.
func (a *answer) add(t *text, part gate.Part) error {
	if part.Finish != llm.Unfinished {
		t.finish = part.Finish.String()
		if part.Called && t.finish == "stop" {
			t.finish = "tool_calls"
		}
	}
	a.log(t, part.Token)
	if !t.begun {
		part.Text = t.echo + part.Text
	}
	t.all = append(t.all, part.Text...)
	if part.Call > 0 {
		t.call(part)
	}
	if !a.request.Stream {
		t.begun = true
		return nil
	}
	return a.stream(t, part)
}

// log adds the probabilities of a token, unless it ends the text.
func (a *answer) log(t *text, token *llm.Token) {
	if token == nil || token.Logprobs == nil {
		return
	}
	t.logprob, t.count = t.logprob+token.Logprobs.Chosen, t.count+1
	if a.logprobs != nil && token.Finish != llm.Ended {
		t.tokens = append(t.tokens, *token)
	}
}

// call adds a part of a call.
func (t *text) call(part gate.Part) {
	if part.Call > len(t.calls) {
		t.calls = append(t.calls, newCall(part))
		return
	}
	t.calls[part.Call-1].Function.Arguments += part.Arguments
}

// newCall returns a call, or a part of one.
func newCall(part gate.Part) (c call) {
	if part.ID != "" {
		c.ID, c.Type, c.Function.Name = part.ID, "function", part.Name
	}
	c.Function.Arguments = part.Arguments
	return c
}

// whole returns a choice that is not streamed.
func (a *answer) whole(t *text) choice {
	all := string(t.all)
	c := choice{Index: t.index, Finish: &t.finish, Logs: a.logs(t)}
	if !a.chat {
		c.Text = &all
		return c
	}
	c.Message = &speech{Role: "assistant", Content: &all, Calls: t.calls}
	if all == "" && len(t.calls) > 0 {
		c.Message.Content = nil
	}
	return c
}

// choose returns the most probable texts of each prompt, if the answer has fewer than were generated.
func (a *answer) choose(texts []text) (list []text) {
	if a.best == 0 {
		return texts
	}
	mean := func(t *text) float64 { return t.logprob / float64(max(t.count, 1)) }
	for of := range slices.Chunk(texts, a.best) {
		slices.SortStableFunc(of, func(a, b text) int { return cmp.Compare(mean(&b), mean(&a)) })
		for _, t := range of[:a.request.count()] {
			t.index = len(list)
			list = append(list, t)
		}
	}
	return list
}

// stream writes a part of a choice. The role comes before the first one, the reason of the end in a part of its own.
func (a *answer) stream(t *text, part gate.Part) error {
	last := part.Finish != llm.Unfinished
	if a.chat && !t.begun {
		role := []choice{{Index: t.index, Delta: &delta{Role: "assistant", Content: json.RawMessage("null")}}}
		if err := a.events.Send("", body{head: a.head, Choices: role}); err != nil {
			return err
		}
	}
	if (t.begun || a.chat) && part.Text == "" && part.Call == 0 && !last && len(t.tokens) == 0 {
		t.begun = true
		return nil
	}
	t.begun = true
	c := choice{Index: t.index, Text: &part.Text, Logs: a.logs(t)}
	if last {
		c.Finish = &t.finish
	}
	if a.chat {
		c.Text, c.Delta = nil, &delta{}
		switch {
		case part.Call > 0:
			one, index := newCall(part), part.Call-1
			one.Index = &index
			c.Delta.Calls = []call{one}
		case !last:
			text, err := json.Marshal(part.Text)
			if err != nil {
				return err
			}
			c.Delta.Content = text
		}
	}
	return a.part(c)
}

// part writes a part of a stream with some choices.
func (a *answer) part(list ...choice) error {
	if list == nil {
		list = []choice{} // not null
	}
	p := body{head: a.head, Choices: list, Timings: a.timings()}
	if len(list) == 0 {
		p.Usage = &a.usage
	}
	return a.events.Send("", p)
}

// end writes what follows the last part.
func (a *answer) end() error {
	if a.request.Options.IncludeUsage {
		if err := a.part(); err != nil {
			return err
		}
	}
	return a.events.SendText("", []byte("[DONE]"))
}

// fail returns an error that is the answer, or writes it as an event if a part of the stream has been written.
func (a *answer) fail(err error) error {
	if !gate.IsEvent(err, a.events) {
		return err
	}
	return a.events.Send("", problemOf(gate.FailureOf(err)))
}
