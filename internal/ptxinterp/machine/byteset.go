package machine

import "math/bits"

// A byteSet is a bitmap of the bytes of a memory region that have been written.
type byteSet []uint64

const bytesPerWord = 64

func newByteSet(bytes int) byteSet { return make(byteSet, (bytes+bytesPerWord-1)/bytesPerWord) }

// span returns the bits for n bytes from offset on that are in one uint64: its index, a mask, and their number.
func span(offset, n uint64) (i, bits, count uint64) {
	first := offset % bytesPerWord
	count = min(n, bytesPerWord-first)
	return offset / bytesPerWord, ^uint64(0) >> (bytesPerWord - count) << first, count
}

// set marks n bytes as written.
func (m byteSet) set(offset, n uint64) {
	for n > 0 {
		i, bits, count := span(offset, n)
		m[i] |= bits
		offset, n = offset+count, n-count
	}
}

// unset marks n bytes as not written.
func (m byteSet) unset(offset, n uint64) {
	for n > 0 {
		i, bits, count := span(offset, n)
		m[i] &^= bits
		offset, n = offset+count, n-count
	}
}

// firstMissing returns the offset of the first of n bytes that has not been written, or offset+n.
func (m byteSet) firstMissing(offset, n uint64) uint64 {
	for n > 0 {
		i, b, count := span(offset, n)
		if free := b &^ m[i]; free != 0 {
			return i*bytesPerWord + uint64(bits.TrailingZeros64(free))
		}
		offset, n = offset+count, n-count
	}
	return offset
}

// copy gives n bytes the marks of others, which may overlap. Memory that has no marks has been written.
func (m byteSet) copy(to uint64, from byteSet, at, n uint64) {
	if from == nil || from.firstMissing(at, n) == at+n {
		m.set(to, n)
		return
	}
	was := make([]bool, n)
	for i := range was {
		was[i] = from.firstMissing(at+uint64(i), 1) != at+uint64(i)
	}
	m.unset(to, n)
	for i, w := range was {
		if w {
			m.set(to+uint64(i), 1)
		}
	}
}
