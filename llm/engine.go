package llm

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
)

// network is a model on a device and what it needs to generate several texts at once.
type network struct {
	stream   *device.Stream
	model    *llama.Model
	adapter  *lora.Adapter // of all texts, or nil
	set      *lora.Set     // of Options.Adapters, or nil
	adapters []string      // the names of those of the set
	cache    *llama.Cache
	sampler  *sampler
	decoder  *llama.Decoder
	mailbox  *mailbox
}

// close frees the memory.
func (n *network) close() error {
	var err error
	if n.stream != nil {
		err = n.stream.Synchronize(context.Background())
	}
	if n.mailbox != nil {
		err = errors.Join(err, n.mailbox.Close())
	}
	if n.decoder != nil {
		err = errors.Join(err, n.decoder.Close())
	}
	if n.sampler != nil {
		err = errors.Join(err, n.sampler.Close())
	}
	if n.cache != nil {
		err = errors.Join(err, n.cache.Close())
	}
	if n.model != nil {
		err = errors.Join(err, n.model.Close())
	}
	if n.adapter != nil {
		err = errors.Join(err, n.adapter.Close())
	}
	if n.set != nil {
		err = errors.Join(err, n.set.Close())
	}
	if n.stream != nil {
		err = errors.Join(err, n.stream.Close())
	}
	return err
}

// plan says how an engine works.
type plan struct {
	ending
	limits
	speculation
	sequences int  // at once
	chunk     int  // tokens of a prompt that are computed at once, and tokens of a step
	alone     bool // compute the prompts one by one, and chunks that do not depend on other texts
	crowd     int  // rows beside which prompts wait for others
	ahead     bool // compute the next tokens while the host reads some: a stop wastes a token

	deterministic bool // see Options
}

// An engine generates texts. Its goroutine, run, owns all fields but the first ones.
type engine struct {
	queue *queue
	done  chan struct{} // closed when run ends
	state state

	network
	plan
	arrived uint64
	turns   turns
	waiting []*sequence // without a slot, in order
	prompts []*sequence // that have a slot and a prompt that is being computed, in order
	rows    []*sequence // of the decoder
	slots   slots
	times   Times // of the step
	pace    pace
	waited  int // steps for which prompts have waited for others
}

// newEngine starts an engine.
func newEngine(n network, p plan) *engine {
	e := &engine{queue: newQueue(p.limits), done: make(chan struct{}), network: n, plan: p, slots: newSlots(n.cache, p), pace: pace{stream: n.stream}}
	e.decoder.Started = e.pace.begin
	e.state.stats.init(p.context)
	e.publish()
	go e.run()
	return e
}

// refuses returns the error that submit would return for n texts with any prompts.
func (e *engine) refuses(n int) error {
	if err := e.health(); err != nil {
		return err
	}
	return e.queue.refuses(n)
}

// submit hands the texts of a request to the goroutine. The error matches ErrBusy if there is no room for them.
func (e *engine) submit(list []*sequence) error {
	if err := e.health(); err != nil {
		return err
	}
	return e.queue.add(list)
}

// close waits for the texts that are being generated.
func (e *engine) close() {
	e.queue.close()
	<-e.done
}

// health returns why the engine accepts no texts, or nil.
func (e *engine) health() error {
	if e.queue.isClosed() {
		return ErrClosed
	}
	return e.state.failure()
}

// run generates texts until the engine is closed.
func (e *engine) run() {
	defer close(e.done)
	for e.await() && e.admit() {
		began := time.Now()
		if err := e.step(); err != nil {
			e.fail(err)
		}
		e.state.stepped(began, e.times)
		e.times = Times{}
		e.publish()
	}
	e.pace.reset()
}

// step computes prompts and a token of each row, and delivers the tokens of the step before.
func (e *engine) step() error {
	err := e.compact()
	switch {
	case err != nil:
		return err
	case !e.mixes() && len(e.prompts) > 0:
		e.pace.interrupt()
		err = clocked(&e.times.Prompts, e.compute)
	case !e.mixes():
	case !e.gathers():
		return e.mix()
	}
	if err != nil || len(e.rows) == 0 {
		return err
	}
	batch := slices.Clone(e.rows)
	if err := e.mailbox.send(e.decoder.Tokens().Slice(0, len(batch)), e.likely(len(batch))); err != nil {
		return err
	}
	known := !e.ahead || e.constrained() || e.speculates()
	order := []func() error{func() error { return e.receive(batch) }, func() error { return e.advance(known) }}
	if !known {
		e.leave(batch)
		slices.Reverse(order)
	}
	for _, f := range order {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// clocked adds the time that f takes to a sum.
func clocked(sum *time.Duration, f func() error) error {
	began := time.Now()
	err := f()
	*sum += time.Since(began)
	return err
}

// active returns the texts that have slots.
func (e *engine) active() []*sequence { return e.slots.active() }

// end ends the texts whose readers have left.
func (e *engine) end() {
	for _, q := range slices.Concat(e.waiting, e.active()) {
		if err := q.ctx.Err(); err != nil {
			e.finish(q, err)
		}
	}
}

// deliver hands a token and its probabilities to its reader. A text whose reader does not keep up ends, unless no other text can want its place.
func (e *engine) deliver(q *sequence, id int32, likely []sampling.Likely) {
	if q.ended {
		return
	}
	if id < 0 {
		e.finish(q, ErrLogits)
		return
	}
	if err := q.follow(id); err != nil {
		e.finish(q, err)
		return
	}
	before := q.last
	v := q.accept(id, e.ending)
	v.token.add(q.request, likely)
	q.suspect = false
	e.state.token(q, before)
	if q.slot >= 0 {
		e.slots.keep(q)
	}
	if !q.events.put(v, q.last) && e.sequences > 1 {
		e.finish(q, ErrSlow)
		return
	}
	if e.sequences == 1 {
		q.events.wait(q.ctx)
	}
	if v.token.Finish != Unfinished {
		e.state.finished(q, v.token.Finish)
		e.finish(q, nil)
	}
}

// finish ends a text and frees its slot. An error ends all texts of its request.
func (e *engine) finish(q *sequence, err error) {
	if q.ended {
		return
	}
	e.remove(q)
	q.ended = true
	if q.placed.IsZero() {
		e.queue.leave(q)
	}
	if err != nil {
		if q.ctx.Err() != nil || errors.Is(err, ErrSlow) {
			e.state.aborted()
		}
		q.err = err
		for _, x := range q.texts {
			e.finish(x, err)
		}
	}
	if q.left--; q.left == 0 {
		e.publish()
		q.events.close()
	}
}

// remove takes a text out of all lists but rows, which compact does.
func (e *engine) remove(q *sequence) {
	is := func(x *sequence) bool { return x == q }
	e.waiting, e.prompts = slices.DeleteFunc(e.waiting, is), slices.DeleteFunc(e.prompts, is)
	q.leaving = true
	if q.slot >= 0 {
		e.slots.release(q)
	}
}

// compact removes the rows of texts that get no further step. The last rows take their places.
func (e *engine) compact() error {
	for i := 0; i < len(e.rows); {
		last := len(e.rows) - 1
		if !e.rows[i].leaving {
			i++
			continue
		}
		if i < last && !e.rows[last].leaving {
			if err := errors.Join(e.decoder.Move(i, last), e.sampler.move(i, last, e.rows[last].request)); err != nil {
				return err
			}
			e.rows[i] = e.rows[last]
		}
		e.rows = e.rows[:last]
	}
	return nil
}

// advance appends the token of each row to its text and, if the host knows it, guesses of further ones, and chooses the next ones.
func (e *engine) advance(known bool) error {
	for e.missing() {
		e.drop(e.youngest())
	}
	if err := e.compact(); err != nil || len(e.rows) == 0 {
		return err
	}
	drafts, err := e.drafts(known)
	if err != nil {
		return err
	}
	e.state.step(len(e.rows) + tokensOf(drafts))
	if err := e.constrain(); err != nil {
		return err
	}
	if len(drafts) > 0 {
		return e.verify(drafts)
	}
	if err := e.decoder.Step(e.slotsOfRows()...); err != nil {
		return err
	}
	return e.pace.enqueued()
}
