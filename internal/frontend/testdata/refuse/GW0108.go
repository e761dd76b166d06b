package k

import "github.com/gopherwarp/gopherwarp/gpu"

const text = "abc"

func name(n int) string { // want "cannot use a string"
	if n > 0 {
		return "positive" // want "cannot use a string"
	}
	return "negative" // want "cannot use a string"
}

//gpu:kernel
func strings(t gpu.Thread, x []int, b []byte) {
	s := name(x[0])
	x[0] = len(s)
	x[1] = int(text[x[0]]) // want "cannot use a string"
	u := string(b)         // want "cannot use a string"
	if u == "x" {
		x[2] = 1
	}
	for i := range "abc" { // want "cannot use a string"
		x[i] = 1
	}
	copy(b, "abc") // want "cannot use a string"
}
