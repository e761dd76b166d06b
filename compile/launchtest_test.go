package compile_test

import (
	"strings"
	"testing"
)

// TestRealBlock compiles a kernel whose indices no comparison limits. The launcher tests them with the number of threads that a
// block really has, and not with the most that it can have.
func TestRealBlock(t *testing.T) {
	k := compileOne(t, `package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func f(t gpu.Thread, a, b []float32, width int) {
	i := t.GlobalY()*width + t.GlobalX()
	a[i] = b[i] + b[i+width]
}`)
	for i, v := range k.Variants {
		test := string(v.Test)
		if !strings.Contains(test, "b!") || !strings.Contains(test, `b"`) || strings.Contains(test, "=1023;") || strings.Contains(test, "=1024;") {
			t.Errorf("variant %d has the test %q", i, test)
		}
	}
}
