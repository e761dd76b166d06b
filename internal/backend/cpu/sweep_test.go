package cpu

import (
	"strings"
	"testing"
)

// TestSweep removes what nothing reads, and then what only that has read. The tables have more lines than the function.
func TestSweep(t *testing.T) {
	tables := strings.Repeat("var _ int\n", 100)
	var lines []line
	for _, s := range []string{
		"func f(p int) {", "for tx := range 16 {", "a := tx", "b, c := a, p", "var d, e float32", "d, e = 1, 2", "g(c, e)", "}", "i := int32(gpu.AtomicAdd(p, 1))", "j := gpu.AtomicAdd(p, 1)", "for ty := range 16 {", "h(ty)", "}",
		"dx, dy, _ := blocks.Dim()", "h(dx)", "bx, _, _ := blocks.Index()", "}",
	} {
		lines = append(lines, line{text: s})
	}
	swept, err := sweep(tables, lines)
	if err != nil {
		t.Fatal(err)
	}
	want := "func f(p int) {\nfor range 16 {\nc := p\nvar e float32\ne = 2\ng(c, e)\n}\n_ = int32(gpu.AtomicAdd(p, 1))\ngpu.AtomicAdd(p, 1)\nfor ty := range 16 {\nh(ty)\n}\n" +
		"dx, _, _ := blocks.Dim()\nh(dx)\nblocks.Index()\n}\n"
	var got strings.Builder
	write(&got, swept.lines, nil)
	if got := got.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
