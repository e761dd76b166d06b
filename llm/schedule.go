package llm

import (
	"context"
	"slices"

	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// admit gives slots to sequences, in the order of their arrival. It waits if there is nothing to do, and reports false when the engine
// is closed and all texts have ended.
func (e *engine) admit() bool {
	e.end()
	for {
		if len(e.waiting) == 0 && !e.arrive() {
			return false
		}
		if len(e.waiting) == 0 || !e.place(e.waiting[0]) {
			return true
		}
		e.waiting = e.waiting[1:]
	}
}

// arrive takes a sequence from the inbox if a slot is free and there is one. If there is nothing else to do, it waits for one; it
// reports false when the engine is closed.
func (e *engine) arrive() bool {
	busy := len(e.active()) > 0
	if !e.slots.free() {
		return true
	}
	var q *sequence
	if busy {
		select {
		case q = <-e.inbox:
		default:
			return true
		}
	} else {
		e.publish()
		select {
		case q = <-e.inbox:
		case <-e.closing:
			return false
		}
	}
	e.arrived++
	q.number = e.arrived
	e.waiting = append(e.waiting, q)
	return true
}

// place gives a sequence a slot, if one is free and there are pages for all tokens that the sequence has and for one more.
func (e *engine) place(q *sequence) bool {
	all, _ := e.cache.Pages()
	need := pagesOf(len(q.tokens) + 1)
	for _, x := range e.active() {
		need += pagesOf(max(e.cache.Len(x.slot), len(x.tokens)+1))
	}
	if need > all || !e.slots.free() {
		return false
	}
	known := e.slots.take(q)
	if q.usage.Generated == 0 {
		q.usage.Known = known
		e.state.prompt(q.prompt, known)
	}
	q.leaving = false
	at, _ := slices.BinarySearchFunc(e.prompts, q.number, func(x *sequence, n uint64) int { return int(int64(x.number) - int64(n)) })
	e.prompts = slices.Insert(e.prompts, at, q)
	return true
}

// pagesOf returns the number of pages for n tokens.
func pagesOf(n int) int { return (n + llama.PageTokens - 1) / llama.PageTokens }

// further returns the number of further pages that n more tokens of a sequence need.
func (e *engine) further(q *sequence, n int) int {
	length := e.cache.Len(q.slot)
	return pagesOf(length+n) - pagesOf(length)
}

// missing reports whether there are too few pages for a token of each row, even without those that have no owner.
func (e *engine) missing() bool {
	need := 0
	for _, q := range e.rows {
		if !q.leaving {
			need += e.further(q, 1)
		}
	}
	return !e.slots.clear(need)
}

// youngest returns the sequence with a slot that arrived last.
func (e *engine) youngest() *sequence {
	return slices.MaxFunc(e.active(), func(a, b *sequence) int { return int(int64(a.number) - int64(b.number)) })
}

// drop takes a sequence's slot and pages. It is computed again later.
func (e *engine) drop(q *sequence) {
	slot := q.slot
	e.remove(q)
	e.slots.forget(slot)
	e.state.drop()
	at, _ := slices.BinarySearchFunc(e.waiting, q.number, func(x *sequence, n uint64) int { return int(int64(x.number) - int64(n)) })
	e.waiting = slices.Insert(e.waiting, at, q)
}

// piece is tokens of a sequence that are computed at once.
type piece struct {
	*sequence
	llama.Span
}

// compute computes prompts: as many tokens as a step may have beside those of the rows.
func (e *engine) compute() error {
	for budget := e.chunk - len(e.rows); budget > 0 && len(e.prompts) > 0; {
		var parts, ends []piece
		for _, q := range slices.Clone(e.prompts) {
			if q.slot < 0 {
				continue // dropped for an older one
			}
			n := e.length(q, budget)
			if !e.room(append(slices.Concat(parts, ends), piece{q, llama.Span{Tokens: q.tokens[:n]}})) {
				return e.extend(parts, ends)
			}
			at := e.cache.Len(q.slot)
			p := piece{q, llama.Span{Sequence: q.slot, Tokens: q.tokens[at : at+n]}}
			if budget -= n; at+n == len(q.tokens) {
				ends = append(ends, p)
			} else {
				parts = append(parts, p)
			}
			if e.alone || budget <= 0 {
				break
			}
		}
		if err := e.extend(parts, ends); err != nil {
			return err
		}
	}
	return nil
}

// length returns the number of tokens of a prompt to compute at once. If prompts are computed alone, chunks end at multiples of their
// size, whatever the budget is.
func (e *engine) length(q *sequence, budget int) int {
	at := e.cache.Len(q.slot)
	if !e.alone {
		return min(len(q.tokens)-at, budget)
	}
	return min(len(q.tokens)-at, e.chunk-at%e.chunk)
}

// room frees pages for pieces: those without an owner, and then those of sequences that are younger than the last piece's. It reports
// whether there are enough.
func (e *engine) room(list []piece) bool {
	q := list[len(list)-1].sequence
	need := 0
	for _, p := range list {
		need += e.further(p.sequence, len(p.Tokens))
	}
	for !e.slots.clear(need) {
		young := e.youngest()
		e.drop(young)
		if young == q {
			return false
		}
	}
	return true
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
	for _, p := range ends {
		e.rows = append(e.rows, p.sequence)
		e.prompts = slices.DeleteFunc(e.prompts, func(x *sequence) bool { return x == p.sequence })
	}
	return nil
}

// spansOf returns the spans of pieces.
func spansOf(list []piece) []llama.Span {
	spans := make([]llama.Span, len(list))
	for i, p := range list {
		spans[i] = p.Span
	}
	return spans
}
