package llm

import (
	"context"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// admit gives slots to texts. It waits if there is nothing to do, and reports false when the engine is closed and all texts have ended.
func (e *engine) admit() bool {
	for {
		closed := e.collect()
		e.end()
		for e.place() {
		}
		if len(e.active()) > 0 {
			return true
		}
		if closed {
			return false
		}
		e.publish()
		e.pace.interrupt()
		<-e.queue.signal
	}
}

// collect takes what has arrived in the queue. If the queue is closed, texts that have had no place end.
func (e *engine) collect() (closed bool) {
	list, closed := e.queue.take()
	for _, q := range list {
		e.arrived++
		q.number = e.arrived
		e.waiting = insert(e.waiting, q)
	}
	if closed {
		for _, q := range slices.Clone(e.waiting) {
			if q.placed.IsZero() {
				e.finish(q, ErrClosed)
			}
		}
	}
	return closed
}

// place gives the next text a slot, if one is free and there are pages for all tokens that it has and for one more, and for those of the
// prompts that are being computed. A suspect waits for the suspect before it.
func (e *engine) place() bool {
	q := e.candidate()
	if q == nil {
		return false
	}
	need := e.cache.Cost(q.origin, q.tokens) + pagesOf(e.promised(q)) - pagesOf(len(q.tokens))
	for _, x := range e.active() {
		need += e.slots.further(x, e.promised(x))
	}
	if need > e.slots.free() || !e.slots.take(q) {
		return false
	}
	e.waiting = slices.DeleteFunc(e.waiting, func(x *sequence) bool { return x == q })
	e.turns.took(q, e.waiting)
	if e.publish(); q.placed.IsZero() {
		q.placed = time.Now()
		e.queue.leave(q)
	}
	q.leaving, q.known = false, 0
	e.prompts = insert(e.prompts, q)
	return true
}

// promised returns the number of tokens for which a text with a slot has room.
func (e *engine) promised(q *sequence) int {
	switch n := q.prompt + q.request.MaxTokens; {
	case !e.deterministic:
		return len(q.tokens) + 1
	case q.request.MaxTokens > 0 && n < e.context:
		return n
	}
	return e.context
}

// candidate returns the text that gets the next slot, or nil.
func (e *engine) candidate() *sequence {
	suspect := func(q *sequence) bool { return q.suspect }
	if slices.ContainsFunc(e.active(), suspect) {
		return nil
	}
	if i := slices.IndexFunc(e.waiting, suspect); i >= 0 {
		return e.waiting[i]
	}
	return e.turns.next(e.waiting)
}

// missing reports whether there are too few pages for a token of each row.
func (e *engine) missing() bool {
	need := 0
	for _, q := range e.rows {
		if !q.leaving {
			need += e.slots.further(q, e.cache.Len(q.slot)+1)
		}
	}
	return need > e.slots.free()
}

// youngest returns the text with a slot that is the last in order.
func (e *engine) youngest() *sequence { return slices.MaxFunc(e.active(), order) }

// drop takes a text's slot. It is computed again later, without the pages that still have its tokens then.
func (e *engine) drop(q *sequence) {
	e.remove(q)
	e.state.drop()
	e.waiting = insert(e.waiting, q)
}

// piece is tokens of a sequence that are computed at once.
type piece struct {
	*sequence
	llama.Span
}

// compute computes prompts: as many tokens as a step may have beside those of the rows.
func (e *engine) compute() error {
	for budget := e.chunk - len(e.rows); budget > 0 && len(e.prompts) > 0; {
		parts, ends, left := e.pieces(budget, nil)
		if err := e.extend(parts, ends); err != nil || left == budget {
			return err
		}
		budget = left
	}
	return nil
}

// pieces returns the next tokens of prompts, and what is left of a budget of tokens: those of prompts that do not end, and those of prompts
// that do. Beside them there is room for the given rows.
func (e *engine) pieces(budget int, rows []piece) (parts, ends []piece, left int) {
	for _, q := range slices.Clone(e.prompts) {
		if q.slot < 0 {
			continue // dropped for an older one
		}
		e.reuse(q)
		before := slices.Concat(parts, ends)
		if e.computing(before, q) {
			continue
		}
		at, n := e.cache.Len(q.slot), e.length(q, budget)
		p := piece{q, llama.Span{Sequence: q.slot, Tokens: q.tokens[at : at+n]}}
		if !e.room(slices.Concat(rows, before, []piece{p})) {
			break
		}
		if budget -= n; at+n == len(q.tokens) {
			ends = append(ends, p)
		} else {
			parts = append(parts, p)
		}
		if e.alone || budget <= 0 {
			break
		}
	}
	return parts, ends, budget
}

// reuse gives a text what the cache has of its next tokens. At least one token remains to be computed.
func (e *engine) reuse(q *sequence) {
	before := e.cache.Len(q.slot)
	after := e.cache.Reuse(q.slot, q.origin, q.tokens[:len(q.tokens)-1])
	if q.generated == 0 {
		q.known += after - before
	}
}

// computing reports whether one of the pieces has the next page of a prompt, which the prompt can have as soon as it is computed.
func (e *engine) computing(list []piece, q *sequence) bool {
	page := e.cache.Len(q.slot)/llama.PageTokens*llama.PageTokens + llama.PageTokens
	if len(q.tokens) <= page {
		return false
	}
	return slices.ContainsFunc(list, func(p piece) bool {
		return p.origin == q.origin && len(p.tokens) >= page && slices.Equal(p.tokens[:page], q.tokens[:page])
	})
}

// length returns the number of tokens of a prompt to compute at once. A prompt that does not end leaves half of the budget to those that
// follow it, so that a long one does not keep short ones waiting. If prompts are computed alone, chunks end at multiples of their size,
// whatever the budget is.
func (e *engine) length(q *sequence, budget int) int {
	at := e.cache.Len(q.slot)
	left := len(q.tokens) - at
	switch {
	case e.alone:
		return min(left, e.chunk-at%e.chunk)
	case left > budget && q != e.prompts[len(e.prompts)-1]:
		return (budget + 1) / 2
	}
	return min(left, budget)
}

// room frees pages for pieces: those of texts that follow the last piece's in order. It reports whether there are enough. Pieces of texts
// without a slot, which have been dropped, need none.
func (e *engine) room(list []piece) bool {
	q := list[len(list)-1].sequence
	for e.needed(list) > e.slots.free() {
		young := e.youngest()
		e.drop(young)
		if young == q {
			return false
		}
	}
	return true
}

// needed returns the number of further pages that pieces need.
func (e *engine) needed(list []piece) (n int) {
	for _, p := range list {
		if p.slot >= 0 {
			n += e.slots.further(p.sequence, e.cache.Len(p.slot)+len(p.Tokens))
		}
	}
	return n
}

// extend computes pieces, and gives rows to the sequences of those that end their prompts.
func (e *engine) extend(parts, ends []piece) error {
	if len(parts) > 0 {
		if err := tensor.RunOn(context.Background(), e.stream, func(s *tensor.Scope) error {
			_, err := e.model.Forward(s, e.cache, spansOf(parts)...)
			return err
		}); err != nil {
			return err
		}
	}
	e.keep(parts)
	if len(ends) == 0 {
		return nil
	}
	if err := e.compact(); err != nil { // rows that were dropped for the pieces
		return err
	}
	first := len(e.rows)
	for i, p := range ends {
		if err := e.sampler.begin(first+i, p.sequence); err != nil {
			return err
		}
	}
	if err := e.decoder.Begin(context.Background(), first, spansOf(ends)...); err != nil {
		return err
	}
	e.begun(ends)
	return nil
}

// begun gives rows to the texts whose prompts have been computed.
func (e *engine) begun(ends []piece) {
	e.keep(ends)
	for _, p := range ends {
		if !p.begun {
			e.state.prompt(p.sequence)
		}
		p.begun = true
		e.rows = append(e.rows, p.sequence)
		e.prompts = slices.DeleteFunc(e.prompts, func(x *sequence) bool { return x == p.sequence })
	}
}

// keep lets other texts use the pages of pieces that have been computed.
func (e *engine) keep(list []piece) {
	for _, p := range list {
		e.state.step(len(p.Tokens))
		e.slots.keep(p.sequence)
	}
}

// spansOf returns the spans of pieces.
func spansOf(list []piece) []llama.Span {
	spans := make([]llama.Span, len(list))
	for i, p := range list {
		spans[i] = p.Span
	}
	return spans
}
