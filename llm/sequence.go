package llm

import (
	"context"
	"time"

	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
)

// event is a token for the reader of a request, and what its texts took so far.
type event struct {
	token Token
	usage Usage
}

// call is a request, whose texts are generated. The engine's goroutine owns it, except for ctx and events, and for err after events
// are closed.
type call struct {
	ctx    context.Context
	events *outbox
	err    error // why there are no more events
	texts  []*sequence
	left   int // texts that have not ended
	usage  Usage
}

// sequence is a text that is generated. The engine's goroutine owns it.
type sequence struct {
	*call
	request Request   // with the seed of this text
	choice  int       // the number of the text in its request
	after   *sequence // whose prompt, which is the same, is computed first; nil for the first text of a request
	origin  llama.Origin

	number    uint64  // in the order of arrival
	tokens    []int32 // of the prompt and of the text
	prompt    int     // tokens of the prompt
	known     int     // of those, tokens that the cache had
	generated int     // tokens of the text
	slot      int     // of the cache; -1 for none
	begun     bool    // the prompt has been computed
	leaving   bool    // gets no further step in its row
	ended     bool
	suspect   bool // the step before failed, and perhaps because of this text
	failures  int  // steps that failed
	misses    int  // steps in a row whose guesses were all wrong
	rest      int  // steps before the next guesses
	text      *text
	biases    []sampling.Bias
	matcher   *grammar.Matcher // or nil
	mask      []uint32         // of the tokens that the matcher allows next

	arrived, placed, first, last time.Time // when it arrived, got a place first, and had its first and its last token
}

// newCall returns the texts of a task.
func (m *Model) newCall(ctx context.Context, t task) []*sequence {
	n := max(t.request.N, 1)
	now := time.Now()
	c := &call{ctx: ctx, events: newOutbox(n), left: n, usage: Usage{Prompt: len(t.prompt), Arrived: now}}
	list, biases := make([]*sequence, n), m.biases(t.request)
	for i := range list {
		r := t.request
		r.Seed += uint64(i)
		list[i] = &sequence{
			call: c, request: r, choice: i, tokens: t.prompt[:len(t.prompt):len(t.prompt)], prompt: len(t.prompt), slot: -1, arrived: now,
			text: newText(m.decoder(r), r), biases: biases,
		}
		if i > 0 {
			list[i].after = list[0]
		}
	}
	c.texts = list
	return list
}

// follows reports whether another text must be computed first.
func (q *sequence) follows() bool { return q.after != nil && !q.after.begun && !q.after.ended }

// receive waits for an event, and reports whether there is one.
func (c *call) receive() (e event, ok bool, err error) {
	for {
		if err := c.ctx.Err(); err != nil {
			return e, false, err
		}
		e, ok, closed := c.events.take(time.Now())
		if ok {
			return e, true, nil
		}
		if closed {
			return e, false, c.err
		}
		select {
		case <-c.ctx.Done():
		case <-c.events.more:
		}
	}
}

// accept appends a chosen token and returns what the reader receives.
func (q *sequence) accept(id int32, end ending) event {
	q.tokens, q.last = append(q.tokens, id), time.Now()
	q.generated++
	if q.generated == 1 {
		q.first = q.last
	}
	u := &q.usage
	if u.Generated++; u.Generated == 1 {
		u.Queue, u.First = q.placed.Sub(q.arrived), q.last.Sub(q.arrived)
	} else {
		u.Rest = q.last.Sub(q.arrived) - u.First
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
	t := Token{ID: id, Choice: q.choice}
	if end.ends[id] {
		t.Text, t.Finish = q.text.rest(), Ended
		return t
	}
	piece, stop := q.text.add(id)
	t.Text, t.Stop = piece, stop
	switch {
	case stop != "":
		t.Finish = Stopped
	case q.generated == q.request.MaxTokens:
		t.Finish, t.Text = Limited, t.Text+q.text.rest()
	case len(q.tokens) >= end.context:
		t.Finish, t.Text = Full, t.Text+q.text.rest()
	}
	return t
}

// final reports whether the next token is the last one, whichever it is.
func (q *sequence) final(end ending) bool {
	return q.generated+1 == q.request.MaxTokens || len(q.tokens)+1 >= end.context
}
