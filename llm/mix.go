package llm

import (
	"context"
	"errors"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
)

const (
	mixed    = 1024 // the largest number of tokens of a step with rows and prompts: rows wait for the prompts beside them
	crowd    = 128  // rows from which on the device's arithmetic limits a step, so that many tokens take less time together
	patience = 4    // steps for which prompts wait for others
)

// mixes reports whether the next step computes prompts and a token of each row together.
func (e *engine) mixes() bool {
	return e.ahead && !e.alone && len(e.rows) > 0 && len(e.prompts) > 0 && !e.constrained()
}

// gathers reports whether the prompts wait for others, so that a step beside many rows has as many tokens as it may.
func (e *engine) gathers() bool {
	tokens := len(e.rows)
	for _, q := range e.prompts {
		e.reuse(q)
		tokens += len(q.tokens) - e.cache.Len(q.slot)
	}
	if len(e.rows) < e.crowd || tokens >= min(mixed, e.chunk) || e.waited == patience {
		e.waited = 0
		return false
	}
	e.waited++
	return true
}

// mix enqueues the computation of prompts and a token of each row together, and delivers the tokens of the step before while the device
// computes. Together, they read the weights once.
func (e *engine) mix() error {
	batch := slices.Clone(e.rows)
	if err := e.mailbox.send(e.decoder.Tokens().Slice(0, len(batch)), e.likely(len(batch))); err != nil {
		return err
	}
	e.leave(batch)
	for e.missing() {
		e.drop(e.youngest())
	}
	parts, ends, _ := e.pieces(max(1, min(mixed, e.chunk)-len(e.rows)), e.steps())
	if err := e.compact(); err != nil {
		return err
	}
	for i, p := range ends {
		if err := e.sampler.begin(len(e.rows)+i, p.sequence); err != nil {
			return err
		}
	}
	if len(e.rows)+len(ends) == 0 { // the texts of all rows end
		e.pace.interrupt()
		return errors.Join(e.extend(parts, nil), e.receive(batch))
	}
	e.state.step(len(e.rows))
	err := e.decoder.Advance(context.Background(), llama.Batch{Rows: e.slotsOfRows(), Ends: spansOf(ends), Parts: spansOf(parts)})
	if err := errors.Join(err, e.pace.enqueued()); err != nil {
		return err
	}
	e.keep(parts)
	e.begun(ends)
	return e.receive(batch)
}

// steps returns the token that each row needs room for.
func (e *engine) steps() (list []piece) {
	for _, q := range e.rows {
		if !q.leaving {
			list = append(list, piece{q, llama.Span{Sequence: q.slot, Tokens: q.tokens[:1]}})
		}
	}
	return list
}

// slotsOfRows returns the slot of each row's text.
func (e *engine) slotsOfRows() []int {
	list := make([]int, len(e.rows))
	for i, q := range e.rows {
		list[i] = q.slot
	}
	return list
}

// leave takes the texts that end with their next token out of the steps after it.
func (e *engine) leave(batch []*sequence) {
	for _, q := range batch {
		q.leaving = q.leaving || q.final(e.ending)
	}
}

// receive waits for the tokens that were sent and delivers them.
func (e *engine) receive(batch []*sequence) error {
	tokens, likely, err := e.received()
	if err != nil {
		return err
	}
	for i, q := range batch {
		e.deliver(q, tokens[i], likely[i*sampling.LikelyRow:])
	}
	return nil
}
