package faults

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// breaks lets a loop end before an index that is the same in all rounds.
//
//gpu:kernel
func breaks(t gpu.Thread, n, end, k int, x, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	sum := int32(0)
	for i := 0; i < n; i++ {
		if i >= end {
			break
		}
		sum += x[k] + int32(i) // breaks
	}
	out[0] = sum
}

// settles lets a loop end, once a float is small, before an index that is the same in all rounds.
//
//gpu:kernel
func settles(t gpu.Thread, f float64, k int, x, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	sum := int32(0)
	for i := int32(0); ; i++ {
		f = math.Sqrt(f+1) / (f + 2) / (f + 3)
		if f < 0.17 {
			break
		}
		sum += x[k] + i // settles
	}
	out[0] = sum
}

// inOrder has several mistakes, the first of which depends on what is loaded.
//
//gpu:kernel
func inOrder(t gpu.Thread, a, b, c int, x, y, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	x[2] = 5
	if a > 0 {
		x[1] = y[x[0]] // in order 0
	}
	if b > 0 {
		out[b] = 1 // in order 1
	}
	if c > 0 {
		out[c] = 2 // in order 2
	}
}

// inLine has two mistakes without a condition, the first of which depends on what is loaded.
//
//gpu:kernel
func inLine(t gpu.Thread, b int, x, y, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	sum := y[x[0]]   // in line 0
	out[b] = sum + 1 // in line 1
}

// counted changes memory before a mistake.
//
//gpu:kernel
func counted(t gpu.Thread, a, b, c int, x, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	x[2] = 5
	if a > 0 {
		gpu.AtomicAdd(&x[1], 1)
	}
	if b > 0 {
		out[b] = 1 // counted 1
	}
	if c > 0 {
		out[c] = 2 // counted 2
	}
}

// shrinks cuts a slice in each round, until the index is past its end.
//
//gpu:kernel
func shrinks(t gpu.Thread, x, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	n := len(x)
	if n <= 0 {
		return
	}
	sum := int32(0)
	for i := 0; ; {
		part := x[:n]
		sum += part[i] // shrinks
		if i++; i >= n {
			break
		}
		if n -= 3; n <= 0 {
			break
		}
	}
	out[0] = sum
}

// either has an index that one of two conditions says is in range.
//
//gpu:kernel
func either(t gpu.Thread, i, j int, x, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	ok := uint(i) < uint(len(x))
	if j > 3 {
		ok = true
	}
	if ok {
		out[0] = x[i] // either
	}
}

// unsigned sums elements with a counter that has no sign.
//
//gpu:kernel
func unsigned(t gpu.Thread, n uint, x, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	sum := int32(0)
	for i := uint(0); i < n; i++ {
		sum += x[i] // unsigned
	}
	out[0] = sum
}

// far has an index that is always past the end of its slice, the length of which may have been the index.
//
//gpu:kernel
func far(t gpu.Thread, n int, x, out []int32) {
	if t.BlockX() != 1 || t.ThreadX() != 3 {
		return
	}
	i, s := n, x
	if n >= 1<<40 {
		gpu.AtomicAdd(&out[0], 1)
		s = x[:3]
	} else {
		gpu.AtomicAdd(&out[1], 1)
		s = x[:n]
		i = 1 << 41
	}
	out[2] = s[i] // far
}

// endless has no way out of its inner loop but an index that is out of range.
//
//gpu:kernel
func endless(t gpu.Thread, rounds, x, out []int32) {
	i, sum := t.GlobalX(), int32(0)
	for round := range int32(4) {
		if rounds[i] > round {
			sum += round + 1
		} else {
			for n := 0; ; n++ {
				sum += x[n] // endless
			}
		}
	}
	out[i] = sum
}
