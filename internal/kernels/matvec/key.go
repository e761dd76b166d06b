package matvec

import "math"

// Key returns an integer that orders logits: by value, and equal ones by index, the smallest first. A NaN has the
// smallest key.
func Key(logit float32, index int) uint64 {
	bits := math.Float32bits(logit)
	switch {
	case logit != logit:
		bits = 0
	case bits>>31 != 0:
		bits = ^bits
	default:
		bits |= 1 << 31
	}
	return uint64(bits)<<32 | uint64(^uint32(index))
}

// Index returns the index of a key.
func Index(key uint64) int { return int(^uint32(key)) }
