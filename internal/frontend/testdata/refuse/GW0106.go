package k

import "github.com/gopherwarp/gopherwarp/gpu"

func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + // want "recursion: fibonacci calls fibonacci \(GW0106\)\n\tuse a loop"
		fibonacci(n-2) // want "recursion: fibonacci calls fibonacci"
}

type tree struct{ left, right int }

func (t tree) even(n int) bool { return n == 0 || t.odd(n-1) }

func (t tree) odd(n int) bool { return n != 0 && t.even(n-1) } // want "recursion: \(tree\).even calls \(tree\).odd calls \(tree\).even"

//gpu:kernel
func recursive(t gpu.Thread, x []int) {
	x[0] = fibonacci(x[0])
	if (tree{}).even(x[0]) {
		x[0] = 1
	}
}
