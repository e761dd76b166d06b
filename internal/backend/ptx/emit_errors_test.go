package ptx_test

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestUnfit emits what passes should have removed, and what PTX cannot do.
func TestUnfit(t *testing.T) {
	const call = "func f() {\nb0:\n\tret\n}\n\n"
	for _, c := range []struct{ text, want string }{
		{"func f() {\nb0:\n\tret\n}\n", "f is not a kernel"},
		{"kernel k() bytes 8 {\nb0:\n\tret\n}\n", "a parameter block of 8 bytes"},
		{call + "kernel k() bytes 16 {\nb0:\n\tcall @f !k.go:2:3\n\tret\n}\n", "k.go:2:3: call @f !k.go:2:3: calls must be inlined"},
		{"kernel k() bytes 16 {\nb0:\n\t%0 = zero {i32, i8}\n\tret\n}\n", "values must be scalar"},
		{"var $c const i32 \"\\x01\\x00\\x00\\x00\"\n\nkernel k() bytes 16 {\nb0:\n\t%0 = var ptr.const $c\n\t%1 = const i32 1\n\tstore %0, %1\n\tret\n}\n", "constants cannot be written"},
		{"kernel k(%0 i32 @0) bytes 24 {\nb0:\n\tprint " + strings.Repeat("%0, ", 11) + "%0 \"\"(" + strings.Repeat("int32, ", 11) + "int32)\n\tret\n}\n", "has 12 arguments, a record holds 11"},
	} {
		m, err := ir.Parse(c.text)
		if err != nil {
			t.Errorf("%v\n%s", err, c.text)
			continue
		}
		_, err = ptx.Emit(m.Funcs[len(m.Funcs)-1], ptx.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}
