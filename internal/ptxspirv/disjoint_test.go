package ptxspirv

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// TestJoinsBytes tests which ors put a byte below other bits. The or is the last instruction.
func TestJoinsBytes(t *testing.T) {
	for _, c := range []struct {
		body string
		want bool
	}{
		{"ld.global.u16 %r1, [%rd1]; shr.u32 %r2, %r1, 8; shl.b32 %r3, %r1, 8; or.b32 %r4, %r2, %r3;", true},
		{"ld.global.u16 %r1, [%rd1]; shr.u32 %r2, %r1, 8; shl.b32 %r3, %r1, 8; or.b32 %r4, %r3, %r2;", true},
		{"and.b32 %r1, %r9, 65535; shr.u32 %r2, %r1, 8; shl.b32 %r3, %r1, 8; and.b32 %r5, %r3, 65535; or.b32 %r4, %r2, %r5;", true},
		{"ld.global.u32 %r1, [%rd1]; shr.u32 %r2, %r1, 8; shl.b32 %r3, %r1, 8; or.b32 %r4, %r2, %r3;", false},
		{"ld.global.s16 %r1, [%rd1]; shr.u32 %r2, %r1, 8; shl.b32 %r3, %r1, 8; or.b32 %r4, %r2, %r3;", false},
		{"ld.global.u16 %r1, [%rd1]; shr.u32 %r2, %r1, 7; shl.b32 %r3, %r1, 8; or.b32 %r4, %r2, %r3;", false},
		{"ld.global.u8 %r2, [%rd1]; @%p1 ld.global.u16 %r2, [%rd1]; shl.b32 %r3, %r1, 8; or.b32 %r4, %r2, %r3;", false},
	} {
		m, err := ptx.Parse(text(c.body + " ret;"))
		if err != nil {
			t.Fatal(err)
		}
		f := m.Func("k")
		in := &f.Code[len(f.Code)-2]
		if got := (&translator{f: f, in: in, mods: in.Mods}).joinsBytes(); got != c.want {
			t.Errorf("%s: %v", c.body, got)
		}
	}
}
