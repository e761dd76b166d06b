package llm

import (
	"context"
	"time"
)

// unread is the number of tokens of a text that may wait for their reader.
const unread = 128

// event is a token for the reader of a text, and what the text took so far.
type event struct {
	token Token
	usage Usage
}

// sequence is a text that is generated. The engine's goroutine owns it, except for ctx and events, and for err after events is closed.
type sequence struct {
	ctx     context.Context
	request Request
	events  chan event
	err     error // why there are no more events

	number  uint64  // in the order of arrival
	tokens  []int32 // of the prompt and of the text
	prompt  int     // tokens of the prompt
	slot    int     // of the cache; -1 for none
	leaving bool    // gets no further step in its row
	ended   bool    // events is closed
	text    *text
	usage   Usage
	began   time.Time
}

// newSequence returns the sequence of a task.
func (m *Model) newSequence(ctx context.Context, t task) *sequence {
	return &sequence{
		ctx: ctx, request: t.request, events: make(chan event, unread), tokens: t.prompt, prompt: len(t.prompt), slot: -1, began: time.Now(),
		text: newText(m.decoder(t.request), t.request.Stop), usage: Usage{Prompt: len(t.prompt)},
	}
}

// receive waits for an event and reports whether more follow.
func (q *sequence) receive() (e event, more bool, err error) {
	if err := q.ctx.Err(); err != nil {
		return e, false, err
	}
	select {
	case <-q.ctx.Done():
		return e, false, q.ctx.Err()
	case e, ok := <-q.events:
		if !ok {
			return e, false, q.err
		}
		return e, e.token.Finish == Unfinished, nil
	}
}

// accept appends a chosen token and returns what the reader receives.
func (q *sequence) accept(id int32, end ending) event {
	q.tokens = append(q.tokens, id)
	u := &q.usage
	if u.Generated++; u.Generated == 1 {
		u.First = time.Since(q.began)
	} else {
		u.Rest = time.Since(q.began) - u.First
	}
	return event{q.token(id, end), *u}
}

// ending says which tokens end a text, and how many tokens a sequence may have.
type ending struct {
	ends    map[int32]bool
	context int
}

// token returns the part of the text that the last token adds.
func (q *sequence) token(id int32, end ending) Token {
	if end.ends[id] {
		return Token{ID: id, Text: q.text.rest(), Finish: Ended}
	}
	piece, stop := q.text.add(id)
	t := Token{ID: id, Text: piece, Stop: stop}
	switch {
	case stop != "":
		t.Finish = Stopped
	case q.usage.Generated == q.request.MaxTokens:
		t.Finish, t.Text = Limited, t.Text+q.text.rest()
	case len(q.tokens) >= end.context:
		t.Finish, t.Text = Full, t.Text+q.text.rest()
	}
	return t
}

// last reports whether the next token is the last one, whichever it is.
func (q *sequence) last(end ending) bool {
	return q.usage.Generated+1 == q.request.MaxTokens || len(q.tokens)+1 >= end.context
}
