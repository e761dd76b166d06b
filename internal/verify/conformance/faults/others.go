package faults

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/faults/deep"
)

// bounds lets one thread slice what has 8 elements, with the numbers a, b and c.
//
//gpu:kernel
func bounds(t gpu.Thread, kind, a, b, c int, x []int32, out []int32) {
	local := [8]int32{}
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	var s []int32
	switch kind {
	case 0:
		s = x[a:] // bounds 0
	case 1:
		s = x[:b] // bounds 1
	case 2:
		s = x[a:b] // bounds 2
	case 3:
		s = x[a:b:c] // bounds 3
	case 4:
		s = local[a:] // bounds 4
	case 5:
		s = local[:b] // bounds 5
	case 6:
		s = local[a:b] // bounds 6
	case 7:
		s = x[2:5][a:b] // bounds 7
	case 8:
		out[0] = [4]int32(x[:b])[2] // bounds 8
	case 9:
		p := (*[3]int32)(x[a:]) // bounds 9
		out[0] = p[1]
	case 10:
		s = x[:b:c] // bounds 10
	case 11:
		s = make([]int32, 5)[a:b] // bounds 11
	}
	out[1] = int32(len(s))
}

// arithmetic lets one thread divide by, or shift by, what is no good.
//
//gpu:kernel
func arithmetic(t gpu.Thread, kind int, by int64, x []int64) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	switch kind {
	case 0:
		x[0] /= by // arithmetic 0
	case 1:
		x[0] = x[1] % by // arithmetic 1
	case 2:
		x[0] = int64(int8(x[1]) / int8(by)) // arithmetic 2
	case 3:
		x[0] = int64(uint8(x[1]) % uint8(by)) // arithmetic 3
	case 4:
		x[0] = int64(int16(x[1]) % int16(by)) // arithmetic 4
	case 5:
		x[0] = int64(uint16(x[1]) / uint16(by)) // arithmetic 5
	case 6:
		x[0] = int64(int32(x[1]) / int32(by)) // arithmetic 6
	case 7:
		x[0] = int64(uint32(x[1]) % uint32(by)) // arithmetic 7
	case 8:
		x[0] = int64(uint64(x[1]) / uint64(by)) // arithmetic 8
	case 9:
		x[0] <<= by // arithmetic 9
	case 10:
		x[0] = x[1] >> int8(by) // arithmetic 10
	case 11:
		x[0] = 1 << by // arithmetic 11
	case 12:
		x[0] = 1000 / by // arithmetic 12
	case 13:
		x[0] = quotient(x[1], by)
	case 14:
		q, _ := bits.Div64(uint64(x[1]), 5, uint64(by)) // arithmetic 14
		x[0] = int64(q)
	case 15:
		x[0] = deep.Divide(x[1], by)
	case 16:
		for i := int64(3); ; i-- {
			x[0] += 100 / (i + by) // arithmetic 16
		}
	}
}

func quotient(a, b int64) int64 {
	return a / b // arithmetic 13
}

// said lets one thread panic with words, or with a number.
//
//gpu:kernel
func said(t gpu.Thread, kind int, n int64, f float32, x []int64) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	var none *record
	switch kind {
	case 0:
		panic("no such kind") // said 0
	case 1:
		panic(n) // said 1
	case 2:
		panic(uint8(n)) // said 2
	case 3:
		panic(n > 3) // said 3
	case 4:
		panic(f) // said 4
	case 5:
		panic("100% of %d") // said 5
	case 6:
		gpu.Assert(n > 100, "n is large") // said 6
	case 7:
		fail(n)
	case 8:
		panic(42) // said 8
	case 9:
		x[0] = int64(none.A) // said 9
	case 10:
		none.B[1] = 5 // said 10
	case 11:
		var p *int64
		if n > 5 {
			p = &x[0]
		}
		*p = n // said 11
	case 12:
		panic("") // said 12
	case 13:
		panic(float64(f) / 3) // said 13
	case 14:
		panic(-n) // said 14
	}
}

func fail(n int64) {
	if n > 0 {
		panic("in a function") // said 7
	}
}
