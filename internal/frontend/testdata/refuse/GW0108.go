package k

import "github.com/gopherwarp/gopherwarp/gpu"

func name(n int) string {
	if n > 0 {
		return "positive"
	}
	return "negative"
}

//gpu:kernel
func strings(t gpu.Thread, x []int, b []byte) {
	s := name(x[0])
	x[0] = len(s)
	u := string(b) // want "cannot use a string that is not part of a constant"
	if u == "x" {
		x[2] = 1
	}
	for i := range s { // want "a kernel can range only over constant strings"
		x[i] = 1
	}
	v := s + "." // want "cannot use a string"
	if s < "x" { // want "cannot use a string"
		x[1] = 1
	}
	w := max(name(1), name(x[0])) // want "cannot use a string"
	for i, c := range []byte(s) { // want "cannot use a string"
		x[i] = int(c)
	}
	_, _ = v, w
	copy(b, "abc")
}

var words = []string{"a", "bc"}

var entries = [2]struct{ name string }{{"x"}, {"y"}}

func longest(list []string) int { return len(list[0]) }

func nameOf(e *struct{ name string }) int { return len(e.name) }

//gpu:kernel
func passed(t gpu.Thread, x []int) {
	x[0] = longest(words) // want "a kernel cannot slice the table of strings words, pass it on or store its address"
}

//gpu:kernel
func pointed(t gpu.Thread, x []int) {
	x[0] = nameOf(&entries[x[1]]) // want "a kernel cannot slice the table of strings entries"
}

//gpu:kernel
func cut(t gpu.Thread, x []int) {
	x[0] = len(words[1:])                     // want "a kernel cannot slice the table of strings words"
}
