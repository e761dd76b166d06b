package model

// symbol is a token in the making, part of a list in the order of the text.
type symbol struct {
	id         int32 // -1 if the vocabulary lacks it
	start, end int32 // bytes of the piece; empty once merged into the one before
	prev, next int32
}

// ranker returns the merge of two adjacent symbols, of rank -1 if they do not
// merge.
type ranker interface {
	rank(a, b *symbol) merge
}

// short is the number of symbols up to which scanning all ranks for the lowest
// is faster than a heap.
const short = 24

// mergeAll merges symbols: always the pair of the lowest rank, and the leftmost
// of these.
func mergeAll(symbols []symbol, r ranker, heap []candidate) []candidate {
	if len(symbols) < 2 {
		return heap
	}
	for i := range symbols {
		symbols[i].prev, symbols[i].next = int32(i-1), int32(i+1)
	}
	symbols[len(symbols)-1].next = -1
	if len(symbols) <= short {
		scan(symbols, r)
		return heap
	}
	return drain(symbols, r, heap)
}

// scan merges a short list.
func scan(symbols []symbol, r ranker) {
	var merges [short]merge // of each symbol with the next
	for i := range len(symbols) - 1 {
		merges[i] = r.rank(&symbols[i], &symbols[i+1])
	}
	for {
		best := int32(-1)
		for i := int32(0); i >= 0; i = symbols[i].next {
			if symbols[i].next >= 0 && merges[i].rank >= 0 && (best < 0 || merges[i].rank < merges[best].rank) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		join(symbols, best, merges[best].id)
		s := &symbols[best]
		if s.next >= 0 {
			merges[best] = r.rank(s, &symbols[s.next])
		}
		if s.prev >= 0 {
			merges[s.prev] = r.rank(&symbols[s.prev], s)
		}
	}
}

// join merges symbol i with the next one.
func join(symbols []symbol, i, id int32) {
	s := &symbols[i]
	right := &symbols[s.next]
	s.id, s.end, s.next = id, right.end, right.next
	right.start = right.end
	if s.next >= 0 {
		symbols[s.next].prev = i
	}
}

// candidate is a possible merge of the symbol at pos with the next one, in the
// heap. It has expired if one of the two has changed since.
type candidate struct {
	merge
	pos int32
	end int32 // of the second symbol, when the candidate was made
}

// less orders candidates by rank, then from left to right.
func (a candidate) less(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.pos < b.pos
}

// drain merges a list of any length with a heap, in n log n time. It returns
// the heap's memory.
func drain(symbols []symbol, r ranker, heap []candidate) []candidate {
	heap = heap[:0]
	offer := func(i int32) {
		s := &symbols[i]
		if s.next < 0 {
			return
		}
		right := &symbols[s.next]
		if m := r.rank(s, right); m.rank >= 0 {
			heap = push(heap, candidate{m, i, right.end})
		}
	}
	for i := range int32(len(symbols) - 1) {
		offer(i)
	}
	for len(heap) > 0 {
		var c candidate
		c, heap = pop(heap)
		s := &symbols[c.pos]
		if s.start == s.end || s.next < 0 || symbols[s.next].end != c.end || r.rank(s, &symbols[s.next]) != c.merge {
			continue
		}
		join(symbols, c.pos, c.id)
		offer(c.pos)
		if s.prev >= 0 {
			offer(s.prev)
		}
	}
	return heap
}

// push adds a candidate to a binary heap.
func push(heap []candidate, c candidate) []candidate {
	heap = append(heap, c)
	i := len(heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !heap[i].less(heap[up]) {
			break
		}
		heap[i], heap[up] = heap[up], heap[i]
		i = up
	}
	return heap
}

// pop removes the least candidate of a binary heap.
func pop(heap []candidate) (candidate, []candidate) {
	top := heap[0]
	n := len(heap) - 1
	heap[0] = heap[n]
	heap = heap[:n]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < n; c++ {
			if heap[c].less(heap[least]) {
				least = c
			}
		}
		if least == i {
			return top, heap
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
