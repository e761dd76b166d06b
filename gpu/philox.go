package gpu

import "math/bits"

// Philox4x32 returns four random numbers for a counter and a key. It is the generator Philox4x32-10
// of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", which has no
// state: threads with different counters or different keys draw independent numbers.
//
//	r := gpu.Philox4x32([4]uint32{uint32(t.GlobalX()), step}, [2]uint32{seed})
//	x := gpu.Uniform32(r[0])
func Philox4x32(counter [4]uint32, key [2]uint32) [4]uint32 {
	const rounds = 10
	a, b, c, d := counter[0], counter[1], counter[2], counter[3]
	k, l := key[0], key[1]
	for range rounds {
		high, low := bits.Mul32(0xD2511F53, a)
		high2, low2 := bits.Mul32(0xCD9E8D57, c)
		a, b, c, d = high2^b^k, low2, high^d^l, low
		k, l = k+0x9E3779B9, l+0xBB67AE85 // Weyl sequences: the golden ratio and sqrt(3) - 1
	}
	return [4]uint32{a, b, c, d}
}

// Uniform32 converts random bits to a number in [0, 1) that is a multiple of 2^-24.
func Uniform32(random uint32) float32 { return float32(random>>8) * 0x1p-24 }

// Uniform64 converts random bits to a number in [0, 1) that is a multiple of 2^-53.
func Uniform64(high, low uint32) float64 {
	return float64((uint64(high)<<32|uint64(low))>>11) * 0x1p-53
}
