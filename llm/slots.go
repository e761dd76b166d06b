package llm

import "github.com/gopherwarp/gopherwarp/model/llama"

// slots are the sequences of a cache. One that has lost its owner keeps its tokens, for a prompt that begins with them, until another
// one needs its pages.
type slots struct {
	cache *llama.Cache
	list  []slot
	clock uint64
}

// slot is a sequence of the cache.
type slot struct {
	owner  *sequence
	tokens []int32 // without an owner, those that the cache has
	used   uint64  // when the owner left
}

func newSlots(c *llama.Cache, n int) slots { return slots{cache: c, list: make([]slot, n)} }

// owners returns the sequences that have slots.
func (s *slots) owners() (list []*sequence) {
	for _, x := range s.list {
		if x.owner != nil {
			list = append(list, x.owner)
		}
	}
	return list
}

// free reports whether a slot has no owner.
func (s *slots) free() bool { return len(s.owners()) < len(s.list) }

// take gives a sequence the free slot that is worth most to it, of several the one that was left first, and returns how many of its
// first tokens the slot has. At least one token remains to be computed.
func (s *slots) take(q *sequence) (known int) {
	tokens := q.tokens[:len(q.tokens)-1]
	best := -1
	for i, x := range s.list {
		if x.owner != nil {
			continue
		}
		if best < 0 || x.worth(tokens) > s.list[best].worth(tokens) || x.worth(tokens) == s.list[best].worth(tokens) && x.used < s.list[best].used {
			best = i
		}
	}
	known = common(s.list[best].tokens, tokens)
	s.cache.Truncate(best, known)
	s.list[best] = slot{owner: q}
	q.slot = best
	return known
}

// worth returns how many tokens of a prompt the slot has, or 0 if these are less than half of the prompt and of the slot's tokens: another
// conversation, which happens to begin in the same way, had better keep its slot.
func (x slot) worth(prompt []int32) int {
	n := common(x.tokens, prompt)
	if 2*n < min(len(x.tokens), len(prompt)) {
		return 0
	}
	return n
}

// common returns the length of the longest common prefix.
func common(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// release takes a sequence's slot, which keeps the tokens.
func (s *slots) release(q *sequence) {
	s.clock++
	n := min(len(q.tokens), s.cache.Len(q.slot))
	s.cache.Truncate(q.slot, n)
	s.list[q.slot] = slot{tokens: q.tokens[:n], used: s.clock}
	q.slot = -1
}

// forget removes the tokens of a slot without an owner.
func (s *slots) forget(i int) {
	s.cache.Truncate(i, 0)
	s.list[i] = slot{}
}

// clear frees pages of slots without an owner, those that were left first, until at least n are free, and reports whether they are.
func (s *slots) clear(n int) bool {
	for {
		if _, free := s.cache.Pages(); free >= n {
			return true
		}
		oldest := -1
		for i, x := range s.list {
			if x.owner == nil && len(x.tokens) > 0 && (oldest < 0 || x.used < s.list[oldest].used) {
				oldest = i
			}
		}
		if oldest < 0 {
			return false
		}
		s.forget(oldest)
	}
}
