package faults

import "github.com/gopherwarp/gopherwarp/gpu"

// patterns lets the thread 3 of block 1 read elements in ways of which compilers know that few of the
// indices need be compared with the length. The number w is the length of width.
//
//gpu:kernel
func patterns(t gpu.Thread, kind, n int, x, y []int32, width []int32, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	w := len(width)
	switch kind {
	case 0:
		for i := range len(x) {
			out[0] += y[x[i]] // pattern 0
		}
	case 1:
		out[0] = gather(x, y)
	case 2:
		out[0] = products(x, y)
	case 3:
		for i := range len(x) {
			out[i] = x[i-n] // pattern 3
		}
	case 4:
		local := [4]int32{1, 2, 3, 4}
		out[0] = local[n%4] // pattern 4
	case 5:
		out[0] = x[n-w] + x[n-1] + x[n] + x[n+1] + x[n+w] // pattern 5
	case 6:
		out[0] = x[n] + x[n+1] + x[n+2] // pattern 6
	case 7:
		for i := 0; i < len(x)/4; i++ {
			out[i] += x[i*8] // pattern 7
		}
	case 8:
		u := uint64(n)
		out[0] = x[0] << int(u) // pattern 8
	case 9:
		before, now := int32(1), int32(n)
		for now < 1000 {
			before, now = now, now*2+before
		}
		if w == 0 {
			panic(before) // pattern 9
		}
	case 10:
		for i := len(x) - 1; i >= 0; i-- {
			out[len(x)-1-i] = x[i] + y[i-n] // pattern 10
		}
	case 11:
		row := n / 3 * 5
		out[0] = x[row] + x[row+1] + x[row+2] + x[row+w] + x[row+w+1] + x[row-1] // pattern 11
	}
}

func gather(x, y []int32) (sum int32) {
	for i := range len(x) {
		sum += y[x[i]] // pattern 1
	}
	return sum
}

func products(x, y []int32) (sum int32) {
	for i := range len(x) {
		sum += x[i] * y[i] // pattern 2
	}
	return sum
}
