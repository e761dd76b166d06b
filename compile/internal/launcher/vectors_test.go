package launcher

import "testing"

// TestEqualFunctions adds functions with the same text, of which some have other parameters.
func TestEqualFunctions(t *testing.T) {
	var v Vectors
	for _, name := range []string{"A", "B"} {
		v.Add("func "+name+"(a1 int) (done int)", "#line 5 \"k.go\"\nTEXT ·"+name+"(SB), 0, $24-16\nMOVQ a1+0(FP),AX;MOVQ AX,done+8(FP);RET\n")
	}
	v.Add("func C(a1 uint) (done int)", "#line 5 \"k.go\"\nTEXT ·C(SB), 0, $24-16\nMOVQ a1+0(FP),AX;MOVQ AX,done+8(FP);RET\n")
	const want = `
#line 5 "k.go"
TEXT ·A(SB), 0, $24-16
MOVQ a1+0(FP),AX;MOVQ AX,done+8(FP);RET

#line 5 "k.go"
TEXT ·B(SB), 4, $0-16
JMP ·A(SB)

#line 5 "k.go"
TEXT ·C(SB), 0, $24-16
MOVQ a1+0(FP),AX;MOVQ AX,done+8(FP);RET
`
	if got := v.text.String(); got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
}
