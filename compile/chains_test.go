package compile_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
)

// links is how long chains are. There are two ways and more from each value of one to the one before: who goes every way
// does not come to the end of it.
const links = 40

// chains are bodies of kernels: what there is once, what there is for each link, with its number for %d, and what is done
// with the last value.
var chains = []struct{ name, before, link, use string }{
	{"sum", "", "x = x + (x ^ y)", "out[id] = x"},
	{"product", "", "x = x*y + x", "out[id] = in[x]"},
	{"narrow", "z := int32(x)", "z = z*z + int32(int64(z)+1)", "out[z] = x"},
	{"small", "z, w := int8(x), uint16(y)", "z = z*z + z>>1; w = w*uint16(z) + w", "out[id] = int(z) + int(w)"},
	{"shift", "u := uint(x)", "u = u<<1 | u>>(u&3)", "out[id] = int(u >> (u & 63))"},
	{"count", "x &= 0xfff", "x = x ^ x>>1", "out[id] = 1 << x"},
	{"countAnd", "", "x = x & (x >> 1)", "out[id] = 1 << (x & (x >> 1))"},
	{"division", "", "x = x/7 + x%(y|1)", "out[id] = x"},
	{"float", "", "f = f*f + f", "fout[id] = math32.Sqrt(f)"},
	{"sign", "", "f = f * (f + 1)", "if math32.Sqrt(f) > f*f { fout[id] = f }"},
	{"extreme", "", "f = max(f*f, f) - min(f, 1)", "fout[id] = f"},
	{"conversion", "", "f = float32(int(f)) + f", "fout[id] = f"},
	{"condition", "", "a = a && b || a != b", "if a { out[id] = in[x] }"},
	{"comparison", "", "a = (a && x > %d) != (a || y < %d)", "if a { out[id] = in[x] }"},
	{"both", "", "c%d, d%d := a && x > %d, a && y > %d; a = c%d && d%d", "if a { out[id] = in[x] }"},
	{"equal", "c := x < n", "c = (c == (x < %d)) == (c != (y > %d))", "if c { out[id] = in[x] }"},
	{"select", "", "if x > y { x, y = y, x+y } else { x = x - y }", "out[id] = in[x]"},
	{"exchange", "", "if n&(1<<%d) != 0 { x, y = y, x }", "out[id] = in[x-y]"},
	{"pointer", "p, q := &in[0], &out[1]", "if n&(1<<%d) != 0 { p, q = q, p }", "*p += *q"},
	{"slice", "s := in", "s = s[n&3 : len(s)-n&1]; x += s[0]", "out[id] = x"},
	{"load", "", "x = in[x&31] + x", "out[id] = x"},
	{"check", "", "x = x ^ x>>1; y += in[x]", "out[id] = y"},
	{"launch", "v := n", "v = v + v*2; y += in[v]", "out[id] = y"},
	{"bound", "m := n", "m = m + m*m", "for i := 0; i < m; i++ { x += in[i] }; for i := m; i < n; i += 2 { x += in[i*m+m] }; out[id] = x"},
	{"ladder", "", "if in[%d] > x { x += y } else { y += x; x = x*x }", "out[id] = x"},
	{"stores", "", "if in[%d] > x { out[id] = x; x += y } else { out[id+1] = y; y += x }", "out[id] = x"},
	{"leave", "", "if in[%d] > x { out[id] = x; return }; x = x + x*y", "out[id] = x"},
	{"round", "for i := range n {", "x, y = y+x*i, x", "if x == y { break } }; out[id] = x"},
	{"row", "v := id", "v = v*3 + v + %d", "if v < n { fout[v] = f }"},
	{"near", "v, w := id, id+n", "v, w = v+w, v-w", "if v < len(fin) && v < len(fout) { fout[v] = fin[v] }"},
	{"rows", "v := id", "if v < n { v = v + 1 + v&1; fout[v&31] = f }", "out[id] = v"},
	{"vote", "", "if gpu.Any(t, x > y) { x = x + x*y }", "out[id] = x"},
	{"shuffle", "", "x = x + gpu.ShuffleXor(t, x, 1)*x", "out[id] = x"},
	{"ballot", "", "a = gpu.Any(t, a && x > 1) != gpu.All(t, a || x > 2)", "if a { out[id] = 1 }"},
	{"array", "r := [4]int{x, y, x, y}", "r[%d&3] += r[%d&3] * r[x&3]", "out[id] = r[n&3]"},
	{"function", "g := func(i int) int { return i + 1 }; h := g; for range n {", "if n == %d { g, h = h, g }", "}; out[id] = g(h(x))"},
	{"abroad", "s := gpu.Shared[[64]int](t); v, w := n, t.BlockX()", "v, w = v+v*v, w+v*w",
		"s[t.ThreadX()&63] = x; t.Sync(); x += v + s[n&31]; t.Sync(); s[t.ThreadX()&63] = x + w; t.Sync(); out[id] = s[w&31] + v"},
	{"kept", "s := gpu.Shared[[64]int](t)", "x = x*y + x", "s[t.ThreadX()&63] = x; t.Sync(); y += x * s[x&63]; t.Sync(); out[id] = x + y"},
	{"all", "", "{ c, d := a && b, a && n > %d; a = c && d }", "if a && id < len(fin) && id < len(fout) { fout[id] = fin[id] * fin[id] }"},
}

// TestChains compiles, for all that there is code for, kernels with chains of values that are each used several times.
func TestChains(t *testing.T) {
	var code strings.Builder
	code.WriteString("package k\n\nimport (\n\"github.com/gopherwarp/gopherwarp/gpu\"\n\"github.com/gopherwarp/gopherwarp/math32\"\n)\n\nvar _ = math32.Sqrt\n")
	for _, c := range chains {
		fmt.Fprintf(&code, "\n//gpu:kernel\nfunc %sChain(t gpu.Thread, n int, in []int, fin []float32, bin []bool, out []int, fout []float32) {\n", c.name)
		code.WriteString("id := t.GlobalX()\nx, y, a, b, f := in[id&31], in[id&15], bin[id&31], bin[id&15], fin[id&31]\n_, _, _, _, _ = x, y, a, b, f\n")
		code.WriteString(c.before + "\n")
		for i := range links {
			code.WriteString(strings.ReplaceAll(c.link, "%d", fmt.Sprint(i)) + "\n")
		}
		code.WriteString(c.use + "\n}\n")
	}
	dir := module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(code.String())}}}})
	var result *compile.Result
	var err error
	done := make(chan struct{})
	go func() {
		result, err = compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./..."}, Report: true})
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Minute): // a hundred times what it takes
		stacks := make([]byte, 1<<20)
		t.Fatalf("the compiler does not come to an end:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	vectors(t, result)
}

// vectors demands that most kernels have vector code: that the walks were gone.
func vectors(t *testing.T, result *compile.Result) {
	t.Helper()
	n := 0
	for _, k := range result.Packages[0].Kernels {
		if strings.Contains(k.CPU, "with vector code") {
			n++
		}
	}
	if want := 2 * len(chains) / 3; n < want {
		t.Errorf("%d kernels have vector code, want %d", n, want)
	}
}
