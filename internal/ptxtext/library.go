package ptxtext

import (
	"cmp"
	"slices"
	"strings"
)

// Library packs texts that are stored together, such as those of a package, so that they are short: a text may refer to lines of
// another one, its base. The zero value has no texts.
type Library struct {
	texts []shelved
	found map[string][]int // the texts that have a line, in order
}

// shelved is a text of a library.
type shelved struct {
	lines []string // packed, but not shortened
	chain int      // the bytes of the packed text, its base, the base of that one and so on
}

const (
	// A program that has one text of a library also has its bases. So they must have, with the text, at most this many
	// percent of the size that the text has alone.
	maxChain = 250
	// minSaving is how many bytes a base must save.
	minSaving = 40
	// bases is how many texts are considered as bases, those that share most with the text.
	bases = 3
)

// Add packs text, with the newest table. Any text may be packed. The result is for Unpack with the text whose number, in the order
// of Add, is base, or without one if base is negative.
func (l *Library) Add(text string) (packed string, base int) {
	lines := strings.Split(flat(text), "\n")
	size := len(lines)
	for _, line := range lines {
		size += len(line)
	}
	packed, base = shorten(nil, lines), -1
	chain, limit := len(packed), size*maxChain/100
	for _, i := range l.similar(lines, limit) {
		b := l.texts[i]
		if p := shorten(b.lines, lines); len(p)+minSaving < len(packed) && b.chain+len(p) <= limit {
			packed, base, chain = p, i, b.chain+len(p)
		}
	}
	l.keep(shelved{lines, chain})
	return packed, base
}

// similar returns the texts that share most bytes with lines, of those that need fewer than limit bytes.
func (l *Library) similar(lines []string, limit int) []int {
	shared := make([]int, len(l.texts))
	for _, line := range distinct(lines) {
		for _, i := range l.found[line] {
			shared[i] += len(line) + 1
		}
	}
	var order []int
	for i, t := range l.texts {
		if t.chain < limit {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shared[b], shared[a]) })
	return order[:min(len(order), bases)]
}

func (l *Library) keep(s shelved) {
	if l.found == nil {
		l.found = map[string][]int{}
	}
	for _, line := range distinct(s.lines) {
		l.found[line] = append(l.found[line], len(l.texts))
	}
	l.texts = append(l.texts, s)
}

// distinct returns the different lines.
func distinct(lines []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(lines)))
}
