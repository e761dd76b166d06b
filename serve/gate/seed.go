package gate

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
)

// A Seed is the seed of a request: an integer from -2^63 to 2^64-1.
type Seed struct {
	Value    uint64 // the two's complement if the seed is negative
	Negative bool
}

// UnmarshalJSON implements json.Unmarshaler. The error is a Failure.
func (s *Seed) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	n, err := strconv.ParseUint(string(data), 10, 64)
	negative := bytes.HasPrefix(data, []byte("-"))
	if negative {
		var signed int64
		signed, err = strconv.ParseInt(string(data), 10, 64)
		n = uint64(signed)
	}
	if whole, ok := integer(string(data)); ok && err != nil {
		n, negative, err = uint64(whole), whole < 0, nil
	}
	if err != nil {
		return Invalid("seed", "%s is not an integer of 64 bits", data[:min(len(data), 40)])
	}
	*s = Seed{n, negative}
	return nil
}

// NewSeed returns a random seed for a request without one. The seed has 32 bits, so a client that reads it as a floating-point number can send it
// back unchanged. The seed is never 2^32-1, which asks llama-server for a random seed.
func NewSeed() uint64 { return uint64(rand.Uint32N(math.MaxUint32)) }
