package machine

import "math/bits"

// marks says of each byte of some memory whether it has been written.
type marks []uint64

const marksPerWord = 64

func newMarks(bytes int) marks { return make(marks, (bytes+marksPerWord-1)/marksPerWord) }

// span returns the marks of n bytes from offset on that are in one word: which word, its bits, how many.
func span(offset, n uint64) (i, bits, count uint64) {
	first := offset % marksPerWord
	count = min(n, marksPerWord-first)
	return offset / marksPerWord, ^uint64(0) >> (marksPerWord - count) << first, count
}

// set marks n bytes as written.
func (m marks) set(offset, n uint64) {
	for n > 0 {
		i, bits, count := span(offset, n)
		m[i] |= bits
		offset, n = offset+count, n-count
	}
}

// unset marks n bytes as not written.
func (m marks) unset(offset, n uint64) {
	for n > 0 {
		i, bits, count := span(offset, n)
		m[i] &^= bits
		offset, n = offset+count, n-count
	}
}

// missing returns the offset of the first of n bytes that has not been written, or offset+n.
func (m marks) missing(offset, n uint64) uint64 {
	for n > 0 {
		i, b, count := span(offset, n)
		if free := b &^ m[i]; free != 0 {
			return i*marksPerWord + uint64(bits.TrailingZeros64(free))
		}
		offset, n = offset+count, n-count
	}
	return offset
}

// copy gives n bytes the marks of others, which may overlap. Memory that has no marks has been written.
func (m marks) copy(to uint64, from marks, at, n uint64) {
	if from == nil || from.missing(at, n) == at+n {
		m.set(to, n)
		return
	}
	was := make([]bool, n)
	for i := range was {
		was[i] = from.missing(at+uint64(i), 1) != at+uint64(i)
	}
	m.unset(to, n)
	for i, w := range was {
		if w {
			m.set(to+uint64(i), 1)
		}
	}
}
