package cpu_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTiledProduct counts what the innermost loop of a product of tiles is made of in vector code: for each of the 16 terms
// a number for all lanes, a vector, a product and a sum, and no work for addresses.
func TestTiledProduct(t *testing.T) {
	text, err := os.ReadFile("../../../examples/matmul/zvector/zvector_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TiledTwin_", "TiledTwinAVX2_"} {
		_, code, ok := strings.Cut(string(text), "\nTEXT ·"+name+"(SB)")
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		code, _, _ = strings.Cut(code, "\nTEXT ")
		count := map[string]int{}
		for _, op := range regexp.MustCompile(`\b(V[A-Z0-9]+|[A-Z]{2,}[QL]|J[A-Z]+|IMUL[A-Z0-9]*)\b`).FindAllString(code, -1) {
			count[op]++
		}
		for op, want := range map[string]int{
			"VBROADCASTSS": 16, "VMULPS": 16, "VADDPS": 16, "VMOVUPS": 16 + 2, "IMUL3Q": 0, "SHLQ": 0, "LEAQ": 1 + 2, "JMP": 1, "JGT": 1,
		} {
			if count[op] != want {
				t.Errorf("%s has %d times %s, want %d:\n%s", name, count[op], op, want, code)
			}
		}
	}
}
