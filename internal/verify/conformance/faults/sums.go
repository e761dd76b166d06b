package faults

import "github.com/gopherwarp/gopherwarp/gpu"

// What an index is at most where it is a sum of products: a compiler may test that once for all threads. Loops with a
// barrier are no others' to test.

// rowOfBlock has each block sum a row, as long as width, of x and of y.
//
//gpu:kernel
func rowOfBlock(t gpu.Thread, x, y, width, out []int32) {
	n, sum := len(width), int32(0)
	for k := range n {
		at := t.BlockX()*n + k
		t.Sync()
		sum += x[at] * 10 // row of block
		sum += y[at+1]
	}
	out[t.BlockX()] = sum
}

// atLeastOnce sums a row that has at least one number, whatever width says.
//
//gpu:kernel
func atLeastOnce(t gpu.Thread, x, y, width, out []int32) {
	n, sum := len(width), int32(0)
	k := 0
	for {
		sum += x[t.BlockX()*n+k] // at least once
		sum += y[t.BlockX()*n+k]
		if k++; k >= n {
			break
		}
	}
	out[t.BlockX()] = sum
}

// everyFourth sums every fourth number of a row.
//
//gpu:kernel
func everyFourth(t gpu.Thread, x, y, width, out []int32) {
	n, sum := len(width), int32(0)
	for k := 0; k < n; k += 4 {
		t.Sync()
		sum += x[t.BlockX()*n+k] // every fourth
		sum += y[t.BlockX()*n+k]
	}
	out[t.BlockX()] = sum
}

// reversed sums a row from its end, which is behind what rowOfBlock sums.
//
//gpu:kernel
func reversed(t gpu.Thread, x, y, width, out []int32) {
	n, sum := len(width), int32(0)
	for k := range n {
		at := t.BlockX()*n + n - k
		t.Sync()
		sum = sum*2 + x[at] // reversed
		sum += y[at]
	}
	out[t.BlockX()] = sum
}

// pastRow takes the numbers after a row, in the threads that are.
//
//gpu:kernel
func pastRow(t gpu.Thread, x, y, width, out []int32) {
	n, k := len(width), t.ThreadX()
	if k >= n {
		out[t.BlockX()] = x[t.BlockX()*n+k] // past a row
		out[t.BlockX()] += y[t.BlockX()*n+k]
	}
}

// endOfRow takes the last number of a row, in the thread that is there.
//
//gpu:kernel
func endOfRow(t gpu.Thread, x, y, width, out []int32) {
	n, k := len(width), t.ThreadX()
	if k < n {
		if k == n-1 {
			out[t.BlockX()] = x[t.BlockX()*n+k] // end of row
			out[t.BlockX()] += y[t.BlockX()*n+k]
		}
	}
}
