package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/model/llama"
)

// ErrDevice is the error of a text that the device failed to compute, and of Model.Health while every computation fails. The error also wraps the
// device's error.
var ErrDevice = errors.New("llm: the device failed")

const (
	mostFailures = 3                      // steps of a text that may fail before it ends
	probing      = 100 * time.Millisecond // between attempts to use a device that has failed
)

// fail ends a step that returned an error. What the cache has may be wrong, so it is forgotten. The step's texts are computed again,
// one after another, to find the one that makes steps fail. The step of such a suspect ends it if it fails too, and if the device does not
// even compute a token of a text of our own then, all texts end.
func (e *engine) fail(err error) {
	_ = e.stream.Synchronize(context.Background()) // takes the faults that err reports
	e.pace.reset()
	err = fmt.Errorf("%w: %w", ErrDevice, err)
	list := e.active()
	e.slots.reset()
	e.rows, e.prompts = nil, nil
	if e.drafter != nil {
		e.drafter.reset()
	}
	blamed := slices.ContainsFunc(list, func(q *sequence) bool { return q.suspect })
	var ended []*sequence
	for _, q := range list {
		q.failures++
		if q.suspect || q.failures > mostFailures {
			ended = append(ended, q)
			continue
		}
		q.suspect, q.leaving = !blamed, true
		e.waiting = insert(e.waiting, q)
	}
	if blamed {
		e.examine()
	}
	for _, q := range ended { // whose readers may look at Health at once
		e.finish(q, err)
	}
	e.publish()
}

// examine ends all texts if the device computes nothing.
func (e *engine) examine() {
	err := e.probe()
	e.state.set(err)
	if err == nil {
		return
	}
	for _, q := range slices.Clone(e.waiting) {
		e.finish(q, err)
	}
}

// probe computes two tokens of a text of our own, when no text has a slot.
func (e *engine) probe() (err error) {
	defer func() {
		if e.cache.Reset(); err != nil {
			err = fmt.Errorf("%w: %w", ErrDevice, err)
		}
	}()
	span := llama.Span{Tokens: []int32{0}}
	if err := e.sampler.begin(0, &sequence{tokens: span.Tokens}); err != nil {
		return err
	}
	return errors.Join(e.decoder.Begin(context.Background(), 0, span), e.decoder.Step(0), e.stream.Synchronize(context.Background()))
}

// await waits until the device computes again. It reports false when the engine is closed.
func (e *engine) await() bool {
	for e.state.failure() != nil {
		list, closed := e.queue.take()
		for _, q := range list { // that came when the device failed
			e.finish(q, e.state.failure())
		}
		if closed {
			return false
		}
		select {
		case <-e.queue.signal:
		case <-time.After(probing):
			e.examine()
		}
	}
	return true
}
