package main

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

// candidates is the number of phrases from which the table is chosen.
const candidates = 3 * ptxtext.MaxPhrases / 2

// trainer finds phrases by byte pair encoding (Gage 1994): it merges the most frequent pair of
// neighboring phrases to a new phrase until there are enough.
type trainer struct {
	weights   map[string]int // of the different sequences
	sequences []sequence
	phrases   []string // the candidates
	counts    map[pair]int
	places    map[pair]map[int]bool // sequences that may contain the pair
}

// sequence is a sequence of symbols, divided into phrases.
type sequence struct {
	phrases []int
	weight  int
}

// pair is two neighboring phrases.
type pair [2]int

func newTrainer() *trainer {
	t := &trainer{weights: map[string]int{}, counts: map[pair]int{}, places: map[pair]map[int]bool{}}
	for _, s := range ptxtext.Symbols() {
		t.phrases = append(t.phrases, string([]byte{s}))
	}
	return t
}

// add adds the texts of a file.
func (t *trainer) add(texts []string, weight int) {
	for s := range ptxtext.Segments(texts) {
		if len(s) > 0 {
			t.weights[string(s)] += weight
		}
	}
}

// merge finds the candidates.
func (t *trainer) merge() {
	index := map[string]int{}
	for i, p := range t.phrases {
		index[p] = i
	}
	for i, text := range slices.Sorted(maps.Keys(t.weights)) {
		s := sequence{weight: t.weights[text]}
		for j := range len(text) {
			s.phrases = append(s.phrases, index[text[j:j+1]])
		}
		t.sequences = append(t.sequences, s)
		t.count(i, 1)
	}
	for len(t.phrases) < candidates {
		best, ok := t.best()
		if !ok {
			return
		}
		text := t.phrases[best[0]] + t.phrases[best[1]]
		merged, known := index[text]
		if !known {
			merged = len(t.phrases)
			t.phrases, index[text] = append(t.phrases, text), merged
		}
		for _, i := range slices.Sorted(maps.Keys(t.places[best])) {
			t.count(i, -1)
			t.sequences[i].join(best, merged)
			t.count(i, 1)
		}
		delete(t.counts, best)
	}
}

// count adds sign times the weight of sequence i to the counts of its pairs.
func (t *trainer) count(i int, sign int) {
	s := t.sequences[i]
	for j := range len(s.phrases) - 1 {
		p := pair{s.phrases[j], s.phrases[j+1]}
		t.counts[p] += sign * s.weight
		if t.places[p] == nil {
			t.places[p] = map[int]bool{}
		}
		t.places[p][i] = true
	}
}

// best returns the most frequent pair. There is none if all sequences are phrases.
func (t *trainer) best() (best pair, ok bool) {
	most := 0
	for p, n := range t.counts {
		if n > most || n == most && slices.Compare(p[:], best[:]) < 0 {
			best, most = p, n
		}
	}
	return best, most > 0
}

// join replaces each pair p.
func (s *sequence) join(p pair, merged int) {
	out := s.phrases[:0]
	for i := 0; i < len(s.phrases); i++ {
		if i+1 < len(s.phrases) && s.phrases[i] == p[0] && s.phrases[i+1] == p[1] {
			out = append(out, merged)
			i++
		} else {
			out = append(out, s.phrases[i])
		}
	}
	s.phrases = out
}

// refinements is how often the table is chosen from the uses of an earlier table's phrases.
const refinements = 6

// table chooses the phrases of a table, in its order: the most used ones have codes of one byte.
func (t *trainer) table() []string {
	symbols := map[string]bool{}
	for _, s := range ptxtext.Symbols() {
		symbols[string([]byte{s})] = true
	}
	b := ptxtext.NewBook(t.phrases)
	table := t.phrases
	for i := range refinements {
		uses := map[string]int{}
		for _, text := range slices.Sorted(maps.Keys(t.weights)) {
			for _, p := range b.Divide([]byte(text)) {
				uses[table[p]] += t.weights[text]
			}
		}
		table = slices.SortedFunc(slices.Values(table), func(a, b string) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), cmp.Compare(a, b)) })
		excess := len(table) - ptxtext.MaxPhrases - (refinements-1-i)*(len(t.phrases)-ptxtext.MaxPhrases)/refinements
		for j := len(table) - 1; j >= 0 && excess > 0; j-- {
			if !symbols[table[j]] {
				table = slices.Delete(table, j, j+1)
				excess--
			}
		}
		b = ptxtext.NewBook(table)
	}
	return table
}
