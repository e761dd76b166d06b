package faults

import "github.com/gopherwarp/gopherwarp/gpu"

// record is an element with fields.
type record struct {
	A int32
	B [3]int16
}

var table = [4]int32{10, 20, 30, 40}

// outOfRange lets the thread 3 of block 1 do what kind says with the number n.
//
//gpu:kernel
func outOfRange(t gpu.Thread, kind, n int, x []int32, r []record, y []uint8) {
	var local [8]int32
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	switch kind {
	case 0:
		x[n] = 1 // fault 0
	case 1:
		x[0] = x[n] // fault 1
	case 2:
		x[n] += 5 // fault 2
	case 3:
		x[n]++ // fault 3
	case 4:
		local[n] = 1 // fault 4
	case 5:
		x[1] = local[n] // fault 5
	case 6:
		p := &local
		x[1] = p[n] // fault 6
	case 7:
		r[n].A = 1 // fault 7
	case 8:
		r[1].B[n] = 1 // fault 8
	case 9:
		x[1] = int32(r[n].B[1]) // fault 9
	case 10:
		x[1] = table[n] // fault 10
	case 11:
		x[uint8(n)] = 1 // fault 11
	case 12:
		x[int8(n)] = 1 // fault 12
	case 13:
		x[uint64(n)] = 1 // fault 13
	case 14:
		x[uint32(n)] = 1 // fault 14
	case 15:
		p := &x[n] // fault 15
		*p = 1
	case 16:
		y[n] = 1 // fault 16
	case 17:
		var none []int32
		none[n] = 1 // fault 17
	default:
		elsewhere(kind, n, x, y)
	}
}

func elsewhere(kind, n int, x []int32, y []uint8) {
	switch kind {
	case 18:
		for i := range 20 {
			x[i] = 1 // fault 18
		}
	case 19:
		for i := len(x); i >= 0; i-- {
			x[i] = 1 // fault 19
		}
	case 20:
		x[0] = at(x, n)
	case 21:
		if x[n] > 0 && n > 0 { // fault 21
			x[0] = 1
		}
	case 22:
		x[0], x[n] = 1, 2 // fault 22
	case 23:
		x[x[n]] = 1 // fault 23
	case 24:
		x[0] = pick(x, n)
	case 25:
		get := func(i int) int32 {
			return x[i] // fault 25
		}
		x[0] = get(n)
	case 26:
		part := x[2:5]
		part[n] = 1 // fault 26
	case 27:
		x[n*n-1] = 1 // fault 27
	case 28:
		gpu.AtomicAdd(&x[n], 1) // fault 28
	case 29:
		x[5], x[6], x[7], x[n] = x[1], x[2], x[3], x[4] // fault 29
	case 30:
		var none [0]int32
		for i := range none {
			none[i] = x[i]
		}
		x[0] = none[n] // fault 30
	}
}

func at(x []int32, n int) int32 {
	return x[n] // fault 20
}

func pick[T any](x []T, n int) T {
	return x[n] // fault 24
}
