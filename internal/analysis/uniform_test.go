package analysis

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// joined branches by the thread's index and then by the block's. The analysis counts %7 among the values that
// differ: the threads that skip b1 do not have it.
const joined = `
kernel joined(%0 ptr.global @0, %1 i64 @8) bytes 32 {
b0:
	%2 = tid i32 {0}
	%3 = tid i32 {1}
	%4 = ctaid i32 {0}
	%5 = const i32 5
	%6 = ult i1 %2, %5
	if %6 b1 b2
b1: <- b0
	%7 = add i32 %4, %5
	jump b2
b2: <- b0 b1
	%8 = phi i32 %4, %7
	%9 = add i32 %4, %5
	%10 = ult i1 %4, %5
	if %10 b3 b4
b3: <- b2
	%11 = add i32 %4, %4
	jump b4
b4: <- b2 b3
	%12 = phi i32 %4, %11
	%13 = add i32 %3, %12
	store %0, %13
	ret
}`

func TestUniformity(t *testing.T) {
	f, values := parse(t, joined)
	dom := ir.Dominators(f)
	for _, test := range []struct {
		name    string
		u       *Uniformity
		varying []int // values that differ between threads
	}{
		{"block", NewUniformity(dom), []int{2, 3, 6, 7, 8, 13}},
		{"row", NewRowUniformity(dom), []int{2, 6, 7, 8}},
		{"warp", NewWarpUniformity(dom), []int{2, 3, 6, 7, 8, 13}},
	} {
		var varying []int
		for id := range f.NumValues() {
			if v := values[id]; v != nil && v.Type.Kind != ir.KindVoid && test.u.Varying(v) {
				varying = append(varying, id)
			}
		}
		if !reflect.DeepEqual(varying, test.varying) {
			t.Errorf("%s: %v vary, want %v", test.name, varying, test.varying)
		}
		for i, b := range f.Blocks {
			if got, want := test.u.Divergent(b), i == 1; got != want {
				t.Errorf("%s: b%d is divergent: %v", test.name, i, got)
			}
		}
	}
}

// TestUniformityLeaves has threads return before a barrier of the others, and before nothing.
func TestUniformityLeaves(t *testing.T) {
	for _, test := range []struct {
		barrier string
		leaves  bool
	}{{"\tbarrier\n", true}, {"", false}} {
		f, values := parse(t, `
kernel leave(%0 ptr.global @0, %1 i64 @8) bytes 32 {
b0:
	%2 = tid i32 {0}
	%3 = const i32 5
	%4 = ult i1 %2, %3
	if %4 b1 b2
b1: <- b0
	ret
b2: <- b0
`+test.barrier+`	%5 = add i32 %3, %3
	ret
}`)
		u := NewUniformity(ir.Dominators(f))
		b0, b1, b2 := f.Blocks[0], f.Blocks[1], f.Blocks[2]
		if got := u.Leaves(b0, b1); got != test.leaves {
			t.Errorf("%q: threads leave for b1: %v", test.barrier, got)
		}
		if u.Leaves(b0, b2) {
			t.Errorf("%q: threads leave for b2", test.barrier)
		}
		if got := u.Divergent(b2); got == test.leaves {
			t.Errorf("%q: b2 is divergent: %v", test.barrier, got)
		}
		if !u.Divergent(b1) {
			t.Errorf("%q: b1 is not divergent", test.barrier)
		}
		if got := u.ReachesBarrier(b0); got != test.leaves {
			t.Errorf("%q: b0 reaches a barrier: %v", test.barrier, got)
		}
		if u.Varying(values[5]) {
			t.Errorf("%q: a sum of constants varies", test.barrier)
		}
	}
}

func TestControl(t *testing.T) {
	f, _ := parse(t, nested)
	c := NewControl(ir.Dominators(f), func(from, to *ir.Block) bool { return false })
	after := map[int]int{}
	for i, b := range f.Blocks {
		if a := c.After(b); a != nil {
			after[i] = a.ID
		}
		if !c.Exits(b) {
			t.Errorf("the function cannot return after b%d", i)
		}
	}
	// Control passes from b1, b2 and b3 to the exit also without the other blocks of the loops.
	if want := map[int]int{0: 1, 1: 6, 2: 6, 3: 6, 4: 2, 5: 1}; !reflect.DeepEqual(after, want) {
		t.Errorf("the next blocks on all paths are %v, want %v", after, want)
	}
	deciders := map[int][]int{}
	for id, list := range c.Deciders() {
		for _, b := range list {
			deciders[id] = append(deciders[id], b.ID)
		}
	}
	if want := map[int][]int{1: {2}, 2: {1, 3}, 3: {2}, 4: {3}, 5: {2}}; !reflect.DeepEqual(deciders, want) {
		t.Errorf("blocks depend on branches %v, want %v", deciders, want)
	}
}

// branches returns a loop with n branches by the thread's index, one after the other.
func branches(n int) string {
	var s strings.Builder
	fmt.Fprintf(&s, "kernel branches(%%0 ptr.global @0, %%1 i64 @8) bytes 32 {\n"+
		"b0:\n\t%%2 = tid i32 {0}\n\t%%3 = const i32 5\n\tjump b1\n"+
		"b1: <- b0 b%d\n\t%%4 = phi i32 %%3, %%%d\n\tjump b2\n", 2*n+2, n+4)
	for i := range n {
		from := "b1"
		if i > 0 {
			from = fmt.Sprintf("b%d b%d", 2*i, 2*i+1)
		}
		fmt.Fprintf(&s, "b%d: <- %s\n\t%%%d = add i32 %%%d, %%3\n\t%%%d = ult i1 %%2, %%%d\n\tif %%%d b%d b%d\nb%d: <- b%d\n\tjump b%d\n",
			2*i+2, from, i+5, i+4, n+i+6, i+5, n+i+6, 2*i+3, 2*i+4, 2*i+3, 2*i+2, 2*i+4)
	}
	fmt.Fprintf(&s, "b%d: <- b%d b%d\n\t%%%d = ult i1 %%%d, %%3\n\tif %%%d b1 b%d\nb%d: <- b%d\n\tret\n}", 2*n+2, 2*n, 2*n+1, 2*n+6, n+4, 2*n+6, 2*n+3, 2*n+3, 2*n+2)
	return s.String()
}

// TestUniformitySteps counts what the analysis does for many branches: neither its steps nor its memory may grow with the
// square of their number.
func TestUniformitySteps(t *testing.T) {
	const n = 200
	var bytes [2]uint64
	for i, n := range [...]int{n, 4 * n} {
		f, _ := parse(t, branches(n))
		dom := ir.Dominators(f)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		u := NewUniformity(dom)
		runtime.ReadMemStats(&after)
		bytes[i] = after.TotalAlloc - before.TotalAlloc
		if !u.Divergent(f.Blocks[3]) || u.Divergent(f.Blocks[2]) {
			t.Errorf("%d branches: only b3 and its like are divergent", n)
		}
		if u.region.added != n {
			t.Errorf("%d branches of one block each: %d blocks were looked at", n, u.region.added)
		}
	}
	if bytes[1] > 6*bytes[0] {
		t.Errorf("%d bytes for %d branches, but %d for %d", bytes[0], n, bytes[1], 4*n)
	}
}
