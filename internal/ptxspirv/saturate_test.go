package ptxspirv

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// TestSaturates tests from which selections NVIDIA's compiler must not see the difference.
func TestSaturates(t *testing.T) {
	const test, difference = "setp.lt.u64 %p1, 3, %rd1; ", "add.s64 %rd2, %rd1, -3; "
	for _, c := range []struct {
		name, body string
		hidden     bool
	}{
		{"a sum with a negative number", test + difference + "selp.b64 %rd3, %rd2, 0, %p1;", true},
		{"a difference", "setp.lt.u64 %p1, %rd4, %rd1; sub.s64 %rd2, %rd1, %rd4; selp.b64 %rd3, %rd2, 0, %p1;", true},
		{"a difference of 32 bits", "setp.lt.u32 %p1, 3, %r1; add.s32 %r2, %r1, -3; selp.b32 %r3, %r2, 0, %p1;", false},
		{"not less than 1", test + difference + "selp.b64 %rd3, %rd2, 1, %p1;", false},
		{"another number", test + difference + "selp.b64 %rd3, %rd2, %rd4, %p1;", false},
		{"no difference", test + "or.b64 %rd2, %rd1, 3; selp.b64 %rd3, %rd2, 0, %p1;", false},
		{"a signed test", "setp.lt.s64 %p1, 3, %rd1; " + difference + "selp.b64 %rd3, %rd2, 0, %p1;", false},
		{"two definitions", test + difference + "@%p2 add.s64 %rd2, %rd1, -4; selp.b64 %rd3, %rd2, 0, %p1;", false},
		{"a constant", test + "selp.b64 %rd3, 5, 0, %p1;", false},
	} {
		m, err := ptx.Parse(text(c.body + " st.global.u64 [%rd9], %rd3; ret;"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := Translate(m, "k", Options{Block: [3]int{32, 1, 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := selectsHidden(p.Words); got != c.hidden {
			t.Errorf("%s: hidden %v, want %v", c.name, got, c.hidden)
		}
	}
}

// selectsHidden reports whether the only selection of a module chooses the result of an exclusive or.
func selectsHidden(words []uint32) bool {
	operation := map[uint32]spirv.Op{} // by result
	for at := 5; at < len(words); at += int(words[at] >> 16) {
		switch op := spirv.Op(words[at] & 0xffff); op {
		case spirv.OpIAdd, spirv.OpISub, spirv.OpBitwiseXor:
			operation[words[at+2]] = op
		case spirv.OpSelect:
			return operation[words[at+4]] == spirv.OpBitwiseXor
		}
	}
	return false
}
