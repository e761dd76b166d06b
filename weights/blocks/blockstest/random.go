package blockstest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// layout is where the float16 factors of a block are, and how large the integers are by which they are multiplied.
type layout struct {
	bytes          int
	scale, minimum int     // offsets of the factors in bytes; minimum is -1 if there is none
	levels         float64 // values of an integer
	group          float64 // the mean magnitude of the integers of groups
	sign           float64 // of the minimum
}

var layouts = map[string]layout{
	"Q4_0": {18, 0, -1, 16, 1, 0},
	"Q4_1": {20, 0, 2, 16, 1, -1},
	"Q5_0": {22, 0, -1, 32, 1, 0},
	"Q5_1": {24, 0, 2, 32, 1, -1},
	"Q8_0": {34, 0, -1, 256, 1, 0},
	"Q2_K": {84, 80, 82, 4, 8, 1},
	"Q3_K": {110, 108, -1, 8, 16, 0},
	"Q4_K": {144, 0, 2, 16, 32, 1},
	"Q5_K": {176, 0, 2, 32, 32, 1},
	"Q6_K": {210, 208, -1, 64, 64, 0},
}

// Random returns the bytes of a random block of a format, such as "Q4_K". The integers of the block are uniformly distributed. The standard
// deviation of its weights is approximately the given deviation.
func Random(r *rand.Rand, format string, deviation float64) []byte {
	l, ok := layouts[format]
	if !ok {
		panic("BUG: blockstest: no format " + format)
	}
	data := make([]byte, l.bytes)
	for i := range data {
		data[i] = byte(r.UintN(256))
	}
	unit := deviation * math.Sqrt(12) / l.levels / l.group * (0.5 + r.Float64())
	if r.UintN(2) == 0 {
		unit = -unit
	}
	put(data[l.scale:], unit)
	if l.minimum >= 0 {
		put(data[l.minimum:], l.sign*unit*(l.levels-1)/2)
	}
	return data
}

func put(to []byte, v float64) {
	binary.LittleEndian.PutUint16(to, uint16(dtype.F16From64(v)))
}
