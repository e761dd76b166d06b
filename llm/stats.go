package llm

import (
	"fmt"
	"sync"
)

// Stats is what a Model does, and has done since it was opened.
type Stats struct {
	Running   int // texts that are being generated
	Waiting   int // texts that wait for a place, or for memory
	Pages     int // of the cache
	UsedPages int // by texts that are being generated

	Prompt    int64            // tokens of prompts
	Known     int64            // of those, tokens that the cache had
	Generated int64            // tokens of texts
	Dropped   int64            // texts that lost their memory to older ones, and were computed again
	Finished  map[Finish]int64 // texts by the reason of their end
}

// state is what other goroutines may know of an engine.
type state struct {
	mu    sync.Mutex
	stats Stats
	err   error
}

// failure returns the error that ended the engine.
func (s *state) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail stores the error that ends the engine, and returns it.
func (s *state) fail(err error) error {
	err = fmt.Errorf("llm: the device failed: %w", err)
	s.change(func(*Stats) { s.err = err })
	return err
}

// change changes the Stats.
func (s *state) change(f func(x *Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

func (s *state) count(tokens int) { s.change(func(x *Stats) { x.Generated += int64(tokens) }) }

func (s *state) drop() { s.change(func(x *Stats) { x.Dropped++ }) }

func (s *state) prompt(tokens, known int) {
	s.change(func(x *Stats) { x.Prompt, x.Known = x.Prompt+int64(tokens), x.Known+int64(known) })
}

func (s *state) finished(why Finish) {
	s.change(func(x *Stats) {
		next := map[Finish]int64{why: x.Finished[why] + 1} // a new map: Stats that were returned have the old one
		for f, n := range x.Finished {
			if f != why {
				next[f] = n
			}
		}
		x.Finished = next
	})
}

// publish updates the numbers of sequences and pages.
func (e *engine) publish() {
	all, _ := e.cache.Pages()
	used := 0
	list := e.active()
	for _, q := range list {
		used += pagesOf(e.cache.Len(q.slot))
	}
	e.state.change(func(x *Stats) { x.Running, x.Waiting, x.Pages, x.UsedPages = len(list), len(e.waiting), all, used })
}

// Stats returns what the model does. It may be called at any time.
func (m *Model) Stats() Stats {
	s := &m.engine.state
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.stats
	x.Waiting += int(m.engine.queued.Load())
	return x
}

// Health returns nil if the model can generate texts, ErrClosed if it is closed, or the error with which the device failed. After that,
// only another Open helps.
func (m *Model) Health() error { return m.engine.health() }
