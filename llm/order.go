package llm

import (
	"cmp"
	"slices"
)

// order compares texts: one with a smaller priority precedes another, and of two with the same priority the one that arrived first.
func order(a, b *sequence) int {
	return cmp.Or(cmp.Compare(a.request.Priority, b.request.Priority), cmp.Compare(a.number, b.number))
}

// insert inserts a text into a list in order.
func insert(list []*sequence, q *sequence) []*sequence {
	at, _ := slices.BinarySearchFunc(list, q, order)
	return slices.Insert(list, at, q)
}

// turns remembers when each user got a place last.
type turns struct {
	last map[string]uint64
	now  uint64
}

// next returns the text that gets the next place: of those with the smallest priority, first one that has had a place, and else the
// first of the user who has waited longest for a place. It returns nil if none can be computed now.
func (t *turns) next(waiting []*sequence) (best *sequence) {
	for _, q := range waiting { // in order
		switch {
		case q.follows():
		case best == nil:
			best = q
		case q.request.Priority != best.request.Priority:
			return best
		case !best.placed.IsZero():
		case !q.placed.IsZero() || t.last[q.request.User] < t.last[best.request.User]:
			best = q
		}
	}
	return best
}

// took says that a text got a place. Of users who have no further text in the list, nothing is remembered.
func (t *turns) took(q *sequence, waiting []*sequence) {
	t.now++
	last := map[string]uint64{}
	for _, x := range waiting {
		if at, ok := t.last[x.request.User]; ok {
			last[x.request.User] = at
		}
	}
	last[q.request.User] = t.now
	t.last = last
}
