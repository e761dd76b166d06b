package numbers

import "github.com/gopherwarp/gopherwarp/gpu"

// division is a dividend and a divisor that is not 0.
type division struct{ N, D uint64 }

// divided has what a division of 64 bits may be off by one in: where the dividend is a multiple of the divisor, or one
// less, and where the divisor's reciprocal is just a power of two, or just not.
type divided struct {
	Unsigned, UnsignedRest         uint64
	Signed, SignedRest             int64
	OfDifference, RestOfDifference uint64
}

func dividedBy(x division) (r divided) {
	r.Unsigned, r.UnsignedRest = x.N/x.D, x.N%x.D
	r.Signed, r.SignedRest = int64(x.N)/int64(x.D), int64(x.N)%int64(x.D)
	r.OfDifference = (x.N - r.UnsignedRest) / x.D // in which nothing is left over
	r.RestOfDifference = (x.N - r.UnsignedRest - 1) % x.D
	return r
}

//gpu:kernel
func divisions(t gpu.Thread, in []division, out []divided) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = dividedBy(in[i])
	}
}

// hardDivisions are divisors around each power of two, and around each third of one, with the greatest dividend, the greatest multiples of the
// divisor, and numbers without a pattern.
func hardDivisions() (list []division) {
	const last = uint64(1<<64 - 1)
	state := uint64(1)
	for shift := range 64 {
		for _, d := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, 1 << shift / 3, last << shift} {
			if d == 0 {
				continue
			}
			top := last - last%d
			state = state*6364136223846793005 + 1442695040888963407
			for _, n := range []uint64{last, top, top - 1, top/2 - top/2%d - 1, state, state >> (shift / 2)} {
				list = append(list, division{n, d})
			}
		}
	}
	return list
}
