package model

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// table ranks pairs of symbols.
type table map[[2]int32]merge

// rank implements ranker.
func (m table) rank(a, b *symbol) merge {
	if r, ok := m[[2]int32{a.id, b.id}]; ok {
		return r
	}
	return merge{rank: -1}
}

// TestMerge compares the two implementations with the definition on random
// tables.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		m := table{}
		for range r.IntN(30) {
			m[[2]int32{r.Int32N(6), r.Int32N(6)}] = merge{rank: r.Int32N(20), id: r.Int32N(6)}
		}
		ids := make([]int32, r.IntN(60))
		symbols := make([]symbol, len(ids))
		for i := range ids {
			ids[i] = r.Int32N(4)
			symbols[i] = symbol{id: ids[i], start: int32(i), end: int32(i + 1)}
		}
		want := define(m, ids)
		long := slices.Clone(symbols)
		mergeAll(symbols, m, nil)
		if got := left(symbols); !slices.Equal(got, want) {
			t.Fatalf("%v of %v is %v, want %v", m, ids, got, want)
		}
		if len(ids) > 1 {
			for i := range long {
				long[i].prev, long[i].next = int32(i-1), int32(i+1)
			}
			long[len(long)-1].next = -1
			drain(long, m, nil)
			if got := left(long); !slices.Equal(got, want) {
				t.Fatalf("with a heap, %v of %v is %v, want %v", m, ids, got, want)
			}
		}
	}
}

// left returns the IDs of the symbols that remain.
func left(symbols []symbol) []int32 {
	ids := []int32{}
	for _, s := range symbols {
		if s.start < s.end {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// define merges as the definition says: again and again the leftmost pair of
// the lowest rank.
func define(m table, ids []int32) []int32 {
	ids = slices.Clone(ids)
	for {
		best, at := merge{rank: -1}, 0
		for i := range len(ids) - 1 {
			if c, ok := m[[2]int32{ids[i], ids[i+1]}]; ok && (best.rank < 0 || c.rank < best.rank) {
				best, at = c, i
			}
		}
		if best.rank < 0 {
			return ids
		}
		ids[at] = best.id
		ids = slices.Delete(ids, at+1, at+2)
	}
}

// TestPairs fills a table and reads it.
func TestPairs(t *testing.T) {
	p := newPairs(1000)
	for i := range int32(1000) {
		p.put(i, i*i, merge{i, -i})
	}
	p.put(7, 49, merge{70, 71})
	for i := range int32(1000) {
		want := merge{i, -i}
		if i == 7 {
			want = merge{70, 71}
		}
		if got := p.get(i, i*i); got != want {
			t.Errorf("pair %d is %v", i, got)
		}
		if got := p.get(i+1, i*i+5000000); got.rank != -1 {
			t.Errorf("a pair that was not put is %v", got)
		}
	}
}
