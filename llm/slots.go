package llm

import "github.com/gopherwarp/gopherwarp/model/llama"

// slots are the sequences of a cache, each of which at most one text has.
type slots struct {
	cache   *llama.Cache
	owners  []*sequence // nil for none
	prompts bool        // remember only prompts: what a step of a text computes is rounded in another way than what a prompt's does
}

func newSlots(c *llama.Cache, p plan) slots {
	return slots{cache: c, owners: make([]*sequence, p.sequences), prompts: p.deterministic}
}

// active returns the texts that have slots.
func (s *slots) active() (list []*sequence) {
	for _, q := range s.owners {
		if q != nil {
			list = append(list, q)
		}
	}
	return list
}

// take gives a text a free slot, and reports whether there is one.
func (s *slots) take(q *sequence) bool {
	for i, owner := range s.owners {
		if owner == nil {
			s.owners[i], q.slot = q, i
			return true
		}
	}
	return false
}

// keep lets other texts use the pages of a text.
func (s *slots) keep(q *sequence) {
	if s.prompts {
		s.cache.Keep(q.slot, q.tokens[:q.prompt])
		return
	}
	s.cache.Keep(q.slot, q.tokens)
}

// release takes a text's slot. The cache remembers its tokens.
func (s *slots) release(q *sequence) {
	if s.prompts {
		s.cache.Truncate(q.slot, 0)
	} else {
		s.cache.Release(q.slot, q.tokens)
	}
	s.owners[q.slot], q.slot = nil, -1
}

// reset takes all slots, and forgets all tokens.
func (s *slots) reset() {
	s.cache.Reset()
	for i, q := range s.owners {
		if q != nil {
			s.owners[i], q.slot = nil, -1
		}
	}
}

// free returns the number of pages that no text has.
func (s *slots) free() int {
	_, free := s.cache.Pages()
	return free
}

// pagesOf returns the number of pages for n tokens.
func pagesOf(n int) int { return (n + llama.PageTokens - 1) / llama.PageTokens }

// further returns the number of further pages that a text with a slot needs to have n tokens.
func (s *slots) further(q *sequence, n int) int {
	length := s.cache.Len(q.slot)
	return pagesOf(max(length, n)) - pagesOf(length)
}
