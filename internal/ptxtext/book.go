package ptxtext

import (
	"math"
	"slices"
)

// Book divides sequences of symbols into the phrases of a table. Several goroutines may use it.
type Book struct {
	phrases []string
	pairs   map[[2]byte][]int // by their first symbols
	alone   [256]int          // those of one symbol
}

// step is the best way to write what precedes an offset of a sequence.
type step struct {
	cost   int // bytes of code
	phrase int // the last one
}

// NewBook returns a Book of a table. The table must have each symbol as a phrase.
func NewBook(table []string) *Book {
	b := &Book{phrases: table, pairs: map[[2]byte][]int{}}
	for i, p := range table {
		switch len(p) {
		case 0:
		case 1:
			b.alone[p[0]] = i
		default:
			b.pairs[[2]byte{p[0], p[1]}] = append(b.pairs[[2]byte{p[0], p[1]}], i)
		}
	}
	return b
}

// Divide returns the phrases, by number, into which symbols can be divided so that their codes are
// shortest.
func (b *Book) Divide(symbols []byte) []int {
	steps := make([]step, len(symbols)+1)
	for i := range symbols {
		steps[i+1].cost = math.MaxInt
	}
	for i, s := range symbols {
		b.try(steps[i:], b.alone[s])
		if i+1 == len(symbols) {
			break
		}
		for _, p := range b.pairs[[2]byte{s, symbols[i+1]}] {
			if text := b.phrases[p]; len(text) <= len(symbols)-i && string(symbols[i:i+len(text)]) == text {
				b.try(steps[i:], p)
			}
		}
	}
	var division []int
	for i := len(symbols); i > 0; {
		p := steps[i].phrase
		division = append(division, p)
		i -= len(b.phrases[p])
	}
	slices.Reverse(division)
	return division
}

// try considers phrase p for the symbols from the offset of the first step.
func (b *Book) try(steps []step, p int) {
	cost := steps[0].cost + codeSize(p)
	if end := &steps[len(b.phrases[p])]; cost < end.cost {
		*end = step{cost, p}
	}
}

// codeSize returns the size of a phrase's code in bytes.
func codeSize(phrase int) int {
	if phrase < singles {
		return 1
	}
	return 2
}
