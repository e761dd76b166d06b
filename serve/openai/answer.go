package openai

import (
	"crypto/rand"
	"iter"
	"net/http"
	"strings"
	"time"

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
	echo    string // before a continuation
	usage   usage
}

// head is what an answer, and each part of a stream, begins with.
type head struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Model   string `json:"model"`
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
	Index   int       `json:"index"`
	Message *speech   `json:"message,omitempty"`
	Delta   *delta    `json:"delta,omitempty"`
	Text    *string   `json:"text,omitempty"`
	Logs    *struct{} `json:"logprobs"`
	Finish  *string   `json:"finish_reason"`
}

// speech is a message.
type speech struct {
	Role    string  `json:"role"`
	Content *string `json:"content"` // null if there are only calls
	Calls   []call  `json:"tool_calls,omitempty"`
}

// delta is a part of a message.
type delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	Calls   []call  `json:"tool_calls,omitempty"`
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
	return &answer{w: w, events: h.NewEvents(w), request: c, head: head{ID: rand.Text(), Created: time.Now().Unix(), Model: model}}
}

// run generates all choices at once, and writes them.
func (a *answer) run(r llm.Request, generate func(llm.Request) iter.Seq2[gate.Part, error]) error {
	a.head.ID, a.head.Object = "cmpl-"+a.head.ID, "text_completion"
	if a.chat {
		a.head.ID, a.head.Object = "chatcmpl-"+a.head.ID[len("cmpl-"):], "chat.completion"
		if a.request.Stream {
			a.head.Object += ".chunk"
		}
	}
	var took llm.Usage
	r.N, r.Usage = a.request.count(), &took
	texts := make([]text, r.N)
	for i := range texts {
		texts[i].index, texts[i].echo = i, a.echo
	}
	for part, err := range generate(r) {
		if err == nil {
			err = a.add(&texts[part.Choice], part)
		}
		if err != nil {
			return a.fail(err)
		}
	}
	a.usage.set(took)
	if a.request.Stream {
		return a.end()
	}
	list := make([]choice, len(texts))
	for i := range texts {
		list[i] = texts[i].whole(a.chat)
	}
	return gate.WriteJSON(a.w, struct {
		head
		Choices []choice `json:"choices"`
		Usage   usage    `json:"usage"`
	}{a.head, list, a.usage})
}

// text is a choice that is being generated.
type text struct {
	index  int
	echo   string
	begun  bool // there has been a part
	all    strings.Builder
	calls  []call
	finish string
}

// add adds a part to a text, and streams it.
func (a *answer) add(t *text, part gate.Part) error {
	if part.Finish != llm.Unfinished {
		t.finish = part.Finish.String()
		if part.Called && t.finish == "stop" {
			t.finish = "tool_calls"
		}
	}
	if !t.begun {
		part.Text = t.echo + part.Text
	}
	t.all.WriteString(part.Text)
	if part.Call > 0 {
		t.call(part)
	}
	if !a.request.Stream {
		t.begun = true
		return nil
	}
	return a.stream(t, part)
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
func (t *text) whole(chat bool) choice {
	all := t.all.String()
	c := choice{Index: t.index, Finish: &t.finish}
	if !chat {
		c.Text = &all
		return c
	}
	c.Message = &speech{Role: "assistant", Content: &all, Calls: t.calls}
	if all == "" && len(t.calls) > 0 {
		c.Message.Content = nil
	}
	return c
}

// stream writes a part of a choice. The role comes with the first one, the reason of the end in a part of its own.
func (a *answer) stream(t *text, part gate.Part) error {
	c := choice{Index: t.index, Text: &part.Text}
	last := part.Finish != llm.Unfinished
	if last {
		c.Finish = &t.finish
	}
	if a.chat {
		c.Text, c.Delta = nil, &delta{}
		if !t.begun {
			c.Delta.Role = "assistant"
		}
		switch {
		case part.Call > 0:
			one, index := newCall(part), part.Call-1
			one.Index = &index
			c.Delta.Calls = []call{one}
		case !last:
			c.Delta.Content = &part.Text
		}
	}
	if t.begun && part.Text == "" && part.Call == 0 && !last {
		return nil
	}
	t.begun = true
	return a.part(c)
}

// part writes a part of a stream with some choices.
func (a *answer) part(list ...choice) error {
	if list == nil {
		list = []choice{} // not null
	}
	p := struct {
		head
		Choices []choice `json:"choices"`
		Usage   *usage   `json:"usage,omitempty"`
	}{head: a.head, Choices: list}
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
	if !a.events.Begun() {
		return err
	}
	return a.events.Send("", problemOf(gate.FailureOf(err)))
}
