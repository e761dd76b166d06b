package llm

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
)

// network is a model on a device and what it needs to generate several texts at once.
type network struct {
	stream  *device.Stream
	model   *llama.Model
	cache   *llama.Cache
	sampler *sampler
	decoder *llama.Decoder
	mailbox *mailbox
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
	if n.stream != nil {
		err = errors.Join(err, n.stream.Close())
	}
	return err
}

// plan says how an engine works.
type plan struct {
	ending
	sequences int  // at once
	chunk     int  // tokens of a prompt that are computed at once, and tokens of a step
	alone     bool // compute the prompts one by one, and chunks that do not depend on other texts
	ahead     bool // compute the next tokens while the host reads some: a stop wastes a token
}

// An engine generates texts. Its goroutine, run, owns all fields but the first ones.
type engine struct {
	inbox   chan *sequence
	closing chan struct{} // closed by close
	done    chan struct{} // closed when run ends
	once    sync.Once
	queued  atomic.Int64 // sequences on their way to inbox
	state   state

	network
	plan
	arrived uint64
	waiting []*sequence // that were dropped, or for which there are too few pages; the oldest comes first
	prompts []*sequence // that have a slot and a prompt that is being computed; the oldest comes first
	rows    []*sequence // of the decoder
	slots   slots
}

// newEngine starts an engine.
func newEngine(n network, p plan) *engine {
	e := &engine{
		inbox: make(chan *sequence), closing: make(chan struct{}), done: make(chan struct{}), network: n, plan: p,
		slots: newSlots(n.cache, p.sequences),
	}
	e.publish()
	go e.run()
	return e
}

// submit hands a sequence to the goroutine. It waits until there is room for it.
func (e *engine) submit(q *sequence) error {
	e.queued.Add(1)
	defer e.queued.Add(-1)
	if err := e.health(); err != nil {
		return err
	}
	select {
	case e.inbox <- q:
		return nil
	case <-q.ctx.Done():
		return q.ctx.Err()
	case <-e.closing:
		return ErrClosed
	case <-e.done:
		return e.health()
	}
}

// close waits for the texts that are being generated.
func (e *engine) close() {
	e.once.Do(func() { close(e.closing) })
	<-e.done
}

// health returns why the engine accepts no sequences, or nil.
func (e *engine) health() error {
	select {
	case <-e.closing:
		return ErrClosed
	default:
		return e.state.failure()
	}
}

// run generates texts until the engine is closed or the device fails.
func (e *engine) run() {
	defer close(e.done)
	for e.admit() {
		if err := e.step(); err != nil {
			e.fail(err)
			return
		}
		e.publish()
	}
}

// fail ends all texts.
func (e *engine) fail(err error) {
	_ = e.stream.Synchronize(context.Background()) // takes the faults that err reports
	err = e.state.fail(err)
	for _, q := range e.all() {
		e.finish(q, err)
	}
	e.publish()
}

// all returns the sequences that the engine has.
func (e *engine) all() []*sequence {
	return slices.Concat(e.waiting, e.active())
}

// active returns the sequences that have a slot.
func (e *engine) active() []*sequence { return e.slots.owners() }

// step computes prompts and a token of each row, and delivers the tokens of the step before.
func (e *engine) step() error {
	if err := errors.Join(e.compact(), e.compute()); err != nil || len(e.rows) == 0 {
		return err
	}
	batch := slices.Clone(e.rows)
	if err := e.mailbox.send(e.decoder.Tokens().Slice(0, len(batch))); err != nil {
		return err
	}
	if e.ahead {
		for _, q := range batch {
			q.leaving = q.leaving || q.last(e.ending)
		}
		if err := e.advance(); err != nil {
			return err
		}
	}
	tokens, err := e.mailbox.receive(context.Background())
	if err != nil {
		return err
	}
	for i, q := range batch {
		e.deliver(q, tokens[i])
	}
	if e.ahead {
		return nil
	}
	return e.advance()
}

// end ends the texts whose readers have left.
func (e *engine) end() {
	for _, q := range e.all() {
		if err := q.ctx.Err(); err != nil {
			e.finish(q, err)
		}
	}
}

// deliver hands a token to its reader. A text whose reader does not keep up ends, unless no other text can want its place.
func (e *engine) deliver(q *sequence, id int32) {
	if q.ended {
		return
	}
	if id < 0 {
		e.finish(q, ErrLogits)
		return
	}
	v := q.accept(id, e.ending)
	e.state.count(1)
	select {
	case q.events <- v:
	default:
		if e.sequences > 1 {
			e.finish(q, ErrSlow)
			return
		}
		select {
		case q.events <- v:
		case <-q.ctx.Done():
		}
	}
	if v.token.Finish != Unfinished {
		e.state.finished(v.token.Finish)
		e.finish(q, nil)
	}
}

// finish ends a text and frees its slot.
func (e *engine) finish(q *sequence, err error) {
	e.remove(q)
	q.err, q.ended = err, true
	e.publish()
	close(q.events)
}

// remove takes a sequence out of all lists but rows, which compact does.
func (e *engine) remove(q *sequence) {
	is := func(x *sequence) bool { return x == q }
	e.waiting, e.prompts = slices.DeleteFunc(e.waiting, is), slices.DeleteFunc(e.prompts, is)
	q.leaving = true
	if q.slot >= 0 {
		e.slots.release(q)
	}
}

// compact removes the rows of sequences that get no further step. The last rows take their places.
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

// advance appends the token of each row to its sequence and chooses the next ones.
func (e *engine) advance() error {
	for e.missing() {
		e.drop(e.youngest())
	}
	if err := e.compact(); err != nil || len(e.rows) == 0 {
		return err
	}
	list := make([]int, len(e.rows))
	for i, q := range e.rows {
		list[i] = q.slot
	}
	return e.decoder.Step(list...)
}
