package pass

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// fixedSource returns a loop of a form from one constant to another.
func fixedSource(l loopForm, start, bound int64) string {
	l.more = strings.ReplaceAll(l.more, "%3", "%51")
	constants := fmt.Sprintf("\t%%50 = const %[1]s %[2]d\n\t%%51 = const %[1]s %[3]d\n\tjump b1\n", l.typ, start, bound)
	s := strings.Replace(l.source(), "\tjump b1\n", constants, 1)
	return strings.Replace(s, fmt.Sprintf("phi %s %%2,", l.typ), fmt.Sprintf("phi %s %%50,", l.typ), 1)
}

// TestFixedLoops runs loops of constant trip counts of all forms. They have one store, not two, and leave it only for a check
// that fails.
func TestFixedLoops(t *testing.T) {
	fixed := map[string]bool{}
	for _, form := range loopForms {
		for _, ends := range [][2]int64{{0, 5}, {-3, 6}, {7, 1}, {4, -2}, {1, 12}, {12, 0}} {
			source := fixedSource(form, ends[0], ends[1])
			before, after := parse(t, source).Funcs[0], parse(t, source).Funcs[0]
			if !versionLoops(after, &Options{}) || count(after, ir.OpStore) > 1 {
				continue
			}
			fixed[form.name] = true
			if err := ir.Verify(after); err != nil {
				t.Fatal(err)
			}
			for _, other := range []int64{-5, -1, 0, 1, 2, 9} {
				compareFixed(t, [2]*ir.Func{before, after}, other)
				if t.Failed() {
					t.Fatalf("%s from %d to %d: %v", form.name, ends[0], ends[1], after)
				}
			}
		}
	}
	if len(fixed) < 30 {
		t.Errorf("%d forms of loops have no copy: %v", len(fixed), fixed)
	}
}

// count returns the number of operations in f.
func count(f *ir.Func, op ir.Op) (n int) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == op {
				n++
			}
		}
	}
	return n
}

// compareFixed runs a loop and what has become of it on slices of several lengths.
func compareFixed(t *testing.T, f [2]*ir.Func, other int64) {
	t.Helper()
	machines := [2]*machine{newMachine(usual), newMachine(usual)}
	for length := range int64(16) {
		var out [2]outcome
		cold := false
		for i, f := range f {
			m := machines[i]
			m.reset()
			m.limit = 400 * (i + 1)
			m.watch = func(b *ir.Block, _ int, _ []datum) { cold = cold || b.Cold }
			args := []datum{{bits: m.alloc(128, m.align)}, {bits: uint64(length)}}
			for _, p := range f.Params[2:] {
				args = append(args, datum{bits: mask(p.Type, uint64(other))})
			}
			var err error
			if out[i], err = m.run(f, args); err != nil {
				if i == 0 {
					return // it does not end
				}
				t.Fatalf("length %d: %v", length, err)
			}
		}
		if out[0].fault != "" && out[1].fault != "" {
			out[0].memory, out[1].memory = "", ""
		}
		if out[0] != out[1] || cold != (out[0].fault != "") {
			t.Fatalf("length %d, %d: %+v, want %+v; in the cold blocks: %v", length, other, out[1], out[0], cold)
		}
	}
}
