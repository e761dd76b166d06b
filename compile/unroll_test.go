package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestUnroll compiles loops with //gpu:unroll directives and counts the stores in the code that is not cold, what is left of
// directives there, and the pragmas in the PTX. Each iteration stores once.
func TestUnroll(t *testing.T) {
	cases := []struct {
		name, loop     string
		stores, remain int
	}{
		{"all iterations", "//gpu:unroll 24\n for i := range 24 { out[i+n] = x }", 24, 0},
		{"more than there are", "//gpu:unroll 100\n for i := 3; i < 20; i += 2 { out[i*n] = x }", 9, 0},
		{"a divisor of the iterations", "//gpu:unroll 5\n for i := range 60 { out[i+n] = x }", 5, 1},
		{"no divisor", "//gpu:unroll 8\n for i := range 60 { out[i+n] = x }", 9, 2},
		{"unknown", "//gpu:unroll 3\n for i := range n { out[i] = x }", 4, 2},
		{"down", "//gpu:unroll 3\n for i := n; i >= 0; i-- { out[i] = x }", 3, 1},
		{"while", "//gpu:unroll 3\n for x > 1 { out[n] = x; x /= float32(n) }", 3, 1},
		{"endless", "//gpu:unroll 2\n for { out[n] = x; if x < 1 { break }; x /= 2 }", 3, 1}, // the first iteration stands before the loop
		{"left early", "//gpu:unroll 6\n for i := range 6 { if x > out[i+n] { break }; out[i+m] = x }", 6, 0},
		{"left early, partly", "//gpu:unroll 4\n for i := range 12 { if x > out[i+n] { break }; out[i+m] = x }", 4, 1},
		{"several ways back", "//gpu:unroll 2\n for i := 0; i < n; i++ { if x > 3 { x--; continue }; x--; out[i] = x }", 3, 2},
		{"none", "//gpu:unroll 1\n for i := range 4 { out[i+n] = x }", 1, 1},
		{"of the inner loop", "for i := range n {\n //gpu:unroll 2\n for k := range m { out[i*m+k] = x }\n }", 3, 2},
		{"of both loops", "//gpu:unroll 2\n for range 4 {\n //gpu:unroll 3\n for i := range 3 { out[i+n] = x; n += 7 }\n }", 6, 1},
		{"of the outer loop", "//gpu:unroll 4\n for range 4 {\n //gpu:unroll 1\n for i := range 3 { out[i+n] = x; n += 7 }\n }", 4, 4},
		{"in a function", "store(out, n, x)", 5, 0},
		{"small counter", "//gpu:unroll 50\n for i := uint8(200); i < 250; i++ { out[int(i)+n] = x }", 50, 0},
		{"over a slice", "//gpu:unroll 2\n for i := range out { out[i] = x }", 3, 2},
	}
	source := `package k

import "github.com/gopherwarp/gopherwarp/gpu"

func store(out []float32, n int, x float32) {
	//gpu:unroll 5
	for i := range 5 { // a comment
		out[i*n] = x
	}
}
`
	for i, c := range cases {
		source += fmt.Sprintf(`
//gpu:kernel
//gpu:assume narrow
func f%02d(t gpu.Thread, out []float32, x float32, n, m int) {
	%s
}
`, i, c.loop)
	}
	kernels := unchecked(t, source)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k := kernels[fmt.Sprintf("f%02d", i)]
			stores, remain := unrolled(k)
			pragmas := strings.Count(k.Variants[0].PTX.String(), ".pragma \"nounroll\"")
			if stores != c.stores || remain != c.remain || (pragmas > 0) != (remain > 0) {
				t.Errorf("%d stores and %d loops that stay, %d pragmas; want %d and %d", stores, remain, pragmas, c.stores, c.remain)
			}
		})
	}
}

// TestUnrollEarlyExits compiles loops that may end early and counts the stores in the code that is not cold. Each iteration
// stores once.
func TestUnrollEarlyExits(t *testing.T) {
	cases := []struct {
		loop   string
		stores int
	}{
		{"for i := range 64 { if out[n+i] > x { break }; out[m+i] = x }", 8},
		{"for i := range 28 { if out[n+i] > x { return }; out[m+i] = x }", 4},
		{"for i := range 63 { if out[n+i] > x { break }; out[m+i] = x }", 5}, // one for the rest
		{"for i := range n { if out[n+i] > x { break }; out[m+i] = x }", 5},
		{"for i := range n { if out[n+i] > x { if out[i] < 3 { break }; return }; out[m+i] = x }", 5},
		{"for i := 3; i < n; i += 2 { if x *= x; x > 4 { return }; out[i] = x }", 5},
		{"for i := range 6 { if out[n+i] > x { break }; out[m+i] = x }", 6}, // completely
	}
	source := "package k\n\nimport \"github.com/gopherwarp/gopherwarp/gpu\"\n"
	for i, c := range cases {
		source += fmt.Sprintf("\n//gpu:kernel\n//gpu:assume narrow\nfunc f%d(t gpu.Thread, out []float32, x float32, n, m int) {\n%s\n}\n", i, c.loop)
	}
	kernels := unchecked(t, source)
	for i, c := range cases {
		t.Run(c.loop, func(t *testing.T) {
			k := kernels[fmt.Sprint("f", i)]
			if stores, _ := unrolled(k); stores != c.stores {
				t.Errorf("%d stores, want %d", stores, c.stores)
			}
		})
	}
}

// TestUnrollFunctions demands that a directive before a loop over a function is refused: the function has the loop.
func TestUnrollFunctions(t *testing.T) {
	dir := module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(`package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func f(t gpu.Thread, out []float32) {
	//gpu:unroll 2
	for i := range even {
		//gpu:unroll 3
		for k := range 3 {
			out[i+k]++
		}
	}
}

func even(yield func(int) bool) {
	for i := 0; i < 10 && yield(i); i += 2 {
	}
}`)}}}})
	result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	found := result.Diagnostics
	if len(found) != 1 || found[0].Code != diag.DirectiveStray || found[0].Pos.Line != 8 {
		t.Errorf("got %v", found)
	}
}

// unchecked compiles a package without checks of indices, and returns its kernels by name.
func unchecked(t *testing.T, source string) map[string]*compile.Kernel {
	t.Helper()
	dir := module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(source)}}}})
	result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./..."}, Checks: compile.ChecksOff, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	return byName(result)
}

// unrolled counts stores, and what is left of directives, in blocks that are not cold.
func unrolled(k *compile.Kernel) (stores, remain int) {
	for _, b := range k.IR.Blocks {
		for _, v := range b.Values {
			switch {
			case b.Cold:
			case v.Op == ir.OpStore:
				stores++
			case v.Op == ir.OpUnroll:
				remain++
			}
		}
	}
	return stores, remain
}
