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

// add adds what a choice took. The choices have the same prompt.
func (u *usage) add(x llm.Usage) {
	if u.Generated == 0 {
		u.Details.Cached = x.Known
	}
	u.Prompt = x.Prompt
	u.Generated += x.Generated
	u.Total = u.Prompt + u.Generated
}

// choice is one of the texts of an answer, or a part of it. Which fields it has depends on the request.
type choice struct {
	Index   int       `json:"index"`
	Message *speech   `json:"message,omitempty"`
	Delta   *speech   `json:"delta,omitempty"`
	Text    *string   `json:"text,omitempty"`
	Logs    *struct{} `json:"logprobs"`
	Finish  *string   `json:"finish_reason"`
}

// speech is a message, or a part of it.
type speech struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
}

func (h *Handler) newAnswer(w http.ResponseWriter, r *http.Request, model string, c *common) *answer {
	return &answer{w: w, events: h.NewEvents(w), request: c, head: head{ID: rand.Text(), Created: time.Now().Unix(), Model: model}}
}

// run generates all choices, one after another, and writes them.
func (a *answer) run(r llm.Request, generate func(llm.Request) iter.Seq2[llm.Token, error]) error {
	a.head.ID, a.head.Object = "cmpl-"+a.head.ID, "text_completion"
	if a.chat {
		a.head.ID, a.head.Object = "chatcmpl-"+a.head.ID[len("cmpl-"):], "chat.completion"
		if a.request.Stream {
			a.head.Object += ".chunk"
		}
	}
	var list []choice
	for i := range a.request.count() {
		var took llm.Usage
		q := r
		q.Seed, q.Usage = r.Seed+uint64(i), &took
		text, finish, err := a.choose(i, generate(q))
		if err != nil {
			return a.fail(err)
		}
		a.usage.add(took)
		list = append(list, a.whole(i, text, finish))
	}
	if a.request.Stream {
		return a.end()
	}
	return gate.WriteJSON(a.w, struct {
		head
		Choices []choice `json:"choices"`
		Usage   usage    `json:"usage"`
	}{a.head, list, a.usage})
}

// choose returns the text of a choice, or streams it.
func (a *answer) choose(i int, tokens iter.Seq2[llm.Token, error]) (string, llm.Finish, error) {
	var all strings.Builder
	all.WriteString(a.echo)
	first, finish := true, llm.Unfinished
	for token, err := range tokens {
		if err != nil {
			return "", finish, err
		}
		finish = token.Finish
		if !a.request.Stream {
			all.WriteString(token.Text)
			continue
		}
		if err := a.stream(i, token, first); err != nil {
			return "", finish, err
		}
		first = false
	}
	return all.String(), finish, nil
}

// whole returns a choice that is not streamed.
func (a *answer) whole(i int, text string, finish llm.Finish) choice {
	reason := finish.String()
	if a.chat {
		return choice{Index: i, Message: &speech{Role: "assistant", Content: &text}, Finish: &reason}
	}
	return choice{Index: i, Text: &text, Finish: &reason}
}

// stream writes the part of a choice that a token adds. The role comes with the first one, the reason of the end in a part of its own.
func (a *answer) stream(i int, token llm.Token, first bool) error {
	text := token.Text
	if first && a.echo != "" {
		text = a.echo + text
	}
	if first || text != "" {
		c := choice{Index: i, Text: &text}
		if a.chat {
			c = choice{Index: i, Delta: &speech{Content: &text}}
			if first {
				c.Delta.Role = "assistant"
			}
		}
		if err := a.part(c); err != nil {
			return err
		}
	}
	if token.Finish == llm.Unfinished {
		return nil
	}
	reason, empty := token.Finish.String(), ""
	c := choice{Index: i, Text: &empty, Finish: &reason}
	if a.chat {
		c = choice{Index: i, Delta: &speech{}, Finish: &reason}
	}
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
