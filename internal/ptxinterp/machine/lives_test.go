package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// TestLives has code with the lives of its registers: the first and the last instruction, counted from 0, or that the register needs a
// row of its own.
func TestLives(t *testing.T) {
	for _, test := range []struct{ name, code, want string }{
		{"one after the other", "mov.u32 %r1, 1; add.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;",
			"%r1 0-1, %r2 1-2, %rd1 own"},
		{"addresses, vectors and pairs", "mov.u64 %rd1, 8; ld.v2.u32 {%r1, %r2}, [%rd1]; shfl.sync.idx.b32 %r3|%p1, %r1, 0, 31, %r2; mov.b64 %rd2, {%r3, %r2};",
			"%r1 1-2, %r2 1-3, %r3 2-3, %rd1 0-1, %rd2 3-3"},
		{"a loop keeps what was there before", "mov.u32 %r1, 1; mov.u32 %r2, 2; L: add.u32 %r3, %r1, 1; setp.lt.u32 %p1, %r3, 5; mov.u32 %r4, 1; @%p1 bra L; mov.u32 %r5, %r2;",
			"%r1 0-5, %r2 1-6, %r3 2-3, %r4 4-4, %r5 6-6"},
		{"a loop hands a value to its next turn", "mov.u32 %r1, 0; L: mov.u32 %r2, %r1; add.u32 %r3, %r2, 1; mov.u32 %r1, 7; setp.lt.u32 %p1, %r3, 5; @%p1 bra L;",
			"%r1 0-5, %r2 1-2, %r3 2-4"},
		{"a loop keeps what is needed after a branch", "mov.u32 %r1, 1; L: setp.eq.u32 %p1, 1, 1; @%p1 bra M; mov.u32 %r2, %r1; mov.u32 %r3, 2; bra L; M: ret;",
			"%r1 0-5, %r2 3-3, %r3 4-4"},
		{"a loop keeps what is needed after a return", "mov.u32 %r1, 1; L: setp.eq.u32 %p1, 1, 1; @%p1 ret; mov.u32 %r2, %r1; mov.u32 %r3, 2; bra L;",
			"%r1 0-5, %r2 3-3, %r3 4-4"},
		{"one of two paths writes", "setp.eq.u64 %p1, 1, 1; @%p1 bra L; mov.u32 %r1, 1; mov.u32 %r2, 1; bra M; L: mov.u32 %r2, 2; M: add.u32 %r3, %r1, %r2;",
			"%r1 own, %r2 3-6, %r3 6-6"},
		{"a predicate may prevent the write", "setp.eq.u64 %p1, 1, 1; @%p1 mov.u32 %r1, 1; mov.u32 %r2, %r1; mov.u32 %r3, 2; @!%p1 mov.u32 %r3, 3; mov.u32 %r4, %r3;",
			"%r1 own, %r2 2-2, %r3 3-5, %r4 5-5"},
		{"a table of targets", "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 0; T: .branchtargets A, B; brx.idx %r3, T; A: mov.u32 %r4, %r1; ret; B: mov.u32 %r5, %r2;",
			"%r1 0-4, %r2 1-6, %r3 own, %r4 4-4, %r5 6-6"},
		{"nothing follows a return", "mov.u32 %r1, 1; mov.u32 %r2, %r1; ret; mov.u32 %r3, 1; L: mov.u32 %r4, %r3; bra L;",
			"%r1 0-1, %r2 1-1, %r3 3-5, %r4 4-4"},
		{"a return under a predicate", "mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 1; @%p1 ret; mov.u32 %r2, %r1;",
			"%r1 0-3, %r2 3-3"},
		{"a barrier waits", "mov.u32 %r1, 1; mov.u32 %r2, 1; bar.sync %r1;", "%r1 own, %r2 1-1"},
		{"the address of a part of a word", "mov.u64 %rd1, 1; and.b64 %rd2, %rd1, -4; and.b64 %rd3, %rd2, 12; mov.u64 %rd1, %rd3;",
			"%rd1 own, %rd2 own, %rd3 2-3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p1; .reg .b32 %r1, %r2, %r3, %r4, %r5; .reg .b64 %rd1, %rd2, %rd3;\n" + test.code + "\n}\n"
			m, err := ptx.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			f := m.Func("k")
			var got []string
			for i, l := range livesOf(f) {
				switch {
				case l.own:
					got = append(got, f.Regs[i].Name+" own")
				case l.used:
					got = append(got, fmt.Sprintf("%s %d-%d", f.Regs[i].Name, l.first, l.last))
				}
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("%s\ngot  %s\nwant %s", test.code, got, test.want)
			}
		})
	}
}

// TestSharedRows demands of all functions of the tests that registers of one row have one size and live at different times, and that
// fewer rows than registers are needed.
func TestSharedRows(t *testing.T) {
	m, err := ptx.Parse(snippetModule())
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, f := range m.Funcs {
		d := &decoder{prog: &program{}}
		places, lives := d.registers(f), livesOf(f)
		if d.err != nil {
			t.Fatal(d.err)
		}
		for i, a := range f.Regs {
			for j, b := range f.Regs[:i] {
				if a.Type == ptx.Pred || b.Type == ptx.Pred || !lives[i].used || !lives[j].used || places[i] != places[j] {
					continue
				}
				shared++
				apart := lives[i].first > lives[j].last || lives[j].first > lives[i].last
				if !apart || lives[i].own || lives[j].own || a.Type.Size() != b.Type.Size() {
					t.Errorf("%s: %s and %s share a row", f.Name, a.Name, b.Name)
				}
			}
		}
	}
	if shared == 0 {
		t.Error("no registers share a row")
	}
}
