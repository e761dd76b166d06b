package progen

import "math/rand/v2"

// random makes choices.
type random struct{ *rand.Rand }

func newRandom(seed uint64, index int) random {
	return random{rand.New(rand.NewPCG(seed, uint64(index)))}
}

// chosen is a source of choices that were made elsewhere.
type chosen struct {
	bytes []byte
	rest  rand.Source // when there are no more
}

func newChosen(bytes []byte) random {
	return random{rand.New(&chosen{bytes, rand.NewPCG(1, uint64(len(bytes)))})}
}

// Uint64 implements rand.Source. Choices look at the upper bits of a number, or at the lower ones
// where there is a power of two of them.
func (c *chosen) Uint64() uint64 {
	if len(c.bytes) == 0 {
		return c.rest.Uint64()
	}
	b := uint64(c.bytes[0])
	c.bytes = c.bytes[1:]
	return b * 0x0101010101010101
}

// oneIn is true once in n times.
func (r random) oneIn(n int) bool { return r.IntN(n) == 0 }

// between returns a number from low to high.
func (r random) between(low, high int) int { return low + r.IntN(high-low+1) }

func pick[T any](r random, from ...T) T { return from[r.IntN(len(from))] }

// scalarType returns a type of numbers or booleans.
func (r random) scalarType() *typ {
	switch r.IntN(20) {
	case 0:
		return pick(r, halves...)
	case 1, 2:
		return typeBool
	case 3, 4, 5, 6, 7, 8:
		return pick(r, floats...)
	default:
		return pick(r, integers...)
	}
}
