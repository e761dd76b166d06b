package llm

import (
	"maps"
	"sync"
	"time"
)

// Stats has the state of a Model and statistics of its work since it was opened.
type Stats struct {
	Running   int // texts that are being generated
	Waiting   int // texts that wait
	Pages     int // the pages of the cache
	UsedPages int // the pages that running texts use

	DraftTokens     int      // Options.DraftTokens
	Adapters        int      // the number of Options.Adapters
	RunningAdapters []string // sorted names of the adapters of texts that are being generated
	WaitingAdapters []string // sorted names of the adapters of waiting texts

	Prompt    int64            // tokens of prompts
	Known     int64            // tokens of prompts that were found in the cache
	Generated int64            // tokens of texts
	Drafts    int64            // the number of times that a step checked guesses for a text
	Drafted   int64            // guessed tokens
	Accepted  int64            // guessed tokens that were right
	Dropped   int64            // interruptions of texts for lack of memory
	Finished  map[Finish]int64 // the number of texts that have ended, for each reason
	Aborted   int64            // the number of texts whose reader has left, or has read too slowly

	Times
	Histograms
}

// Times says how the time of the steps was spent. Time without texts does not count.
type Times struct {
	Steps   int64
	All     time.Duration // the time of all steps
	Prompts time.Duration // the part of All that was spent computing prompts
	Waited  time.Duration // the part of All that was spent waiting for the device to compute tokens of texts
	Idle    time.Duration // the time that the device waited for the host between steps
}

// state is what other goroutines may know of an engine.
type state struct {
	mu    sync.Mutex
	stats Stats
	err   error
}

// failure returns the error of a device that computes nothing.
func (s *state) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// set stores the error of a device that computes nothing, or nil.
func (s *state) set(err error) { s.change(func(*Stats) { s.err = err }) }

// change changes the Stats.
func (s *state) change(f func(x *Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// init makes Stats for texts of at most the given number of tokens.
func (x *Stats) init(context int) {
	x.Histograms, x.Finished = newHistograms(context), map[Finish]int64{}
}

// token counts a token of a text, whose token before was delivered at a time, unless it is the first.
func (s *state) token(q *sequence, before time.Time) {
	s.change(func(x *Stats) {
		if x.Generated++; q.generated == 1 {
			x.FirstToken.took(q.last.Sub(q.arrived))
		} else {
			x.InterToken.took(q.last.Sub(before))
		}
	})
}

// stepped counts a step that began at a time and has waited for the device.
func (s *state) stepped(began time.Time, t Times) {
	s.change(func(x *Stats) {
		x.Steps, x.All = x.Steps+1, x.All+time.Since(began)
		x.Prompts, x.Waited = x.Prompts+t.Prompts, x.Waited+t.Waited
		x.Idle += t.Idle
	})
}

// drafted counts guessed tokens of a text, and how many of them were right.
func (s *state) drafted(n, right int) {
	s.change(func(x *Stats) {
		x.Drafts, x.Drafted, x.Accepted = x.Drafts+1, x.Drafted+int64(n), x.Accepted+int64(right)
	})
}

func (s *state) drop() { s.change(func(x *Stats) { x.Dropped++ }) }

// step counts tokens that are computed at once.
func (s *state) step(tokens int) { s.change(func(x *Stats) { x.StepTokens.add(float64(tokens)) }) }

// prompt counts a prompt that has been computed. The usage of the call gets the tokens that the cache had.
func (s *state) prompt(q *sequence) {
	if q.choice == 0 {
		q.usage.Known = q.known
	}
	s.change(func(x *Stats) { x.Prompt, x.Known = x.Prompt+int64(q.prompt), x.Known+int64(q.known) })
}

// finished counts a text that has ended.
func (s *state) finished(q *sequence, why Finish) {
	s.change(func(x *Stats) {
		x.Finished[why]++
		x.ended(q)
	})
}

// aborted counts a text whose reader does not wait for its end.
func (s *state) aborted() { s.change(func(x *Stats) { x.Aborted++ }) }

// publish updates the numbers of sequences and pages.
func (e *engine) publish() {
	all, free := e.cache.Pages()
	running, dropped := len(e.active()), 0
	for _, q := range e.waiting {
		if !q.placed.IsZero() {
			dropped++
		}
	}
	used, wanted := e.adaptersOf(e.active()), e.adaptersOf(e.waiting)
	e.state.change(func(x *Stats) {
		x.Running, x.Waiting, x.Pages, x.UsedPages = running, dropped, all, all-free
		x.DraftTokens, x.Adapters, x.RunningAdapters, x.WaitingAdapters = e.each, len(e.adapters), used, wanted
	})
}

// Stats returns the state of the model and statistics of its work. It may be called at any time.
func (m *Model) Stats() Stats {
	waiting := m.engine.queue.waiting()
	s := &m.engine.state
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.stats
	x.Waiting += waiting
	x.Finished = maps.Clone(x.Finished)
	for _, h := range x.Histograms.all() {
		*h = h.copy()
	}
	return x
}

// Health returns nil if the model can generate texts, ErrClosed if it is closed, or ErrDevice if every computation of
// the device fails. The model keeps trying, and generates texts as soon as the device works again.
func (m *Model) Health() error { return m.engine.health() }
