package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// judged returns a kernel with one slice, with the statements as its body and more declarations after it.
func judged(name, body, more string, imports ...progen.Import) progen.Kernel {
	return progen.Kernel{
		Name: name, Source: "\n//gpu:kernel\nfunc " + name + "(t gpu.Thread, first int, out []int) {\n\tid := t.GlobalX() + first\n" + body + "\n}\n" + more,
		Blocks: [2]int{1, 1}, Threads: [2]int{4, 1}, Alone: true, Imports: imports,
		Args: []progen.Arg{{Type: "int", Layout: "int", Len: 4}},
	}
}

// TestJudge has one package of kernels that are compiled, refused for reasons in their own file, and refused for what a package
// that they import does.
func TestJudge(t *testing.T) {
	c, err := New("../../../..", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := []progen.Kernel{
		judged("k1_", "\tout[id] = lib_utf8.RuneLen(rune(id))", "", progen.Import{Name: "lib_utf8", Path: "unicode/utf8"}),
		judged("k2_", "\tm := map[int]int{}\n\tout[id] = m[id]", ""),
		judged("k3_", "\tgo k3_f()\n\tout[id] = len(make([]int, id))", "func k3_f() {}"),
	}
	verdicts, err := c.Judge(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]diag.Code{nil, {diag.LangMap, diag.LangMap}, {diag.LangGo, diag.LangAllocate}} {
		var got []diag.Code
		for _, d := range verdicts[i].Diagnostics {
			got = append(got, d.Code)
		}
		if len(got) == 0 != (want == nil) || len(got) > 0 && got[0] != want[0] || verdicts[i].Failure != "" {
			t.Errorf("kernel %d: %v, %q, want %v", i, verdicts[i].Diagnostics, verdicts[i].Failure, want)
		}
	}
	// An error in Go keeps the whole package from being compiled, but is about one kernel.
	verdicts, err = c.Judge(t.Context(), append(list[:2:2], judged("k4_", "\tout[id] = undefined", "")))
	if err != nil {
		t.Fatal(err)
	}
	if len(verdicts[0].Diagnostics) > 0 || len(verdicts[1].Diagnostics) == 0 || verdicts[1].Diagnostics[0].Code != diag.LangMap ||
		len(verdicts[2].Diagnostics) != 1 || verdicts[2].Diagnostics[0].Code != diag.GoError {
		t.Errorf("%+v", verdicts)
	}
}

// TestEndless compares kernels of which one does not end, one prints with println, one faults at two operands of a statement, and
// one is too large for Go's own compiler.
func TestEndless(t *testing.T) {
	c, err := New("../../../..", Options{Patience: time.Second, MayRefuse: 1, Imports: []string{"gonum.org/v1/gonum/floats/scalar"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := []progen.Kernel{
		judged("k1_", "\tfor out[id] = 1; out[id] != 0; {\n\t}", ""),
		judged("k2_", "\tprintln(id)\n\tout[id] = id", ""),
		judged("k3_", "\tout[id+4], out[id+5] = out[id+6], out[id+7]", ""),
		judged("k4_", "\tif lib_scalar.EqualWithinAbs(float64(id), 2, 1) {\n\t\tout[id] = 1\n\t}", "",
			progen.Import{Name: "lib_scalar", Path: "gonum.org/v1/gonum/floats/scalar"}),
	}
	list[1].Prints, list[2].Lines = true, true
	list = append(list, judged("k5_", "\tfor _, x := range [3000 * 2000][33]int{} { // a stack frame of 1.5 GB\n\t\tout[id] = len(x)\n\t}", ""))
	r, err := c.Kernels(t.Context(), list[:3])
	if err != nil {
		t.Fatal(err)
	}
	rest, err := c.Kernels(t.Context(), list[3:]) // which are compiled one by one, after both were refused
	if err != nil {
		t.Fatal(err)
	}
	r.add(rest)
	for i, how := range r.Wrong {
		if how != "" != (i == 4) || r.Invalid[i] != (i == 4) || r.Results[i].Endless != (i == 0) {
			t.Errorf("kernel %d: %q, %+v", i, how, r.Results[i])
		}
	}
	if got := r.Results[2].Threads; len(got) != 4 || !strings.HasPrefix(got[0].Fault, "fault at k3_.go:") {
		t.Errorf("the third kernel left %+v", r.Results[2])
	}
}
