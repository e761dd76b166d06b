package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func parse(t *testing.T, text string) (*ir.Func, map[int]*ir.Value) {
	t.Helper()
	m, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs[0]
	if err := ir.Verify(f); err != nil {
		t.Fatal(err)
	}
	values := map[int]*ir.Value{}
	for _, p := range f.Params {
		values[p.ID] = p
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			values[v.ID] = v
		}
	}
	return f, values
}

// nested is a loop in a loop; the inner one is left in its middle too.
const nested = `
func nested(%0 i64, %1 i64) -> i64 {
b0:
	%2 = const i64 0
	%3 = const i64 1
	jump b1
b1: <- b0 b5
	%4 = phi i64 %2, %5
	%6 = slt i1 %4, %0
	if %6 b2 b6
b2: <- b1 b4
	%7 = phi i64 %2, %8
	%9 = slt i1 %7, %1
	if %9 b3 b5
b3: <- b2
	%10 = eq i1 %7, %4
	if %10 b6 b4
b4: <- b3
	%8 = add i64 %7, %3
	jump b2
b5: <- b2
	%5 = add i64 %4, %3
	jump b1
b6: <- b1 b3
	%11 = phi i64 %4, %7
	ret %11
}`

func TestLoops(t *testing.T) {
	f, _ := parse(t, nested)
	var got []string
	for _, l := range Loops(ir.Dominators(f)) {
		parent := -1
		if l.Parent != nil {
			parent = l.Parent.Header.ID
		}
		got = append(got, fmt.Sprintf("header b%d depth %d in b%d blocks %s latches %s entries %s exits %d",
			l.Header.ID, l.Depth, parent, names(l.Blocks), names(l.Latches), names(l.Entries()), len(l.Exits())))
	}
	want := []string{
		"header b2 depth 2 in b1 blocks b2 b3 b4 latches b4 entries b1 exits 2",
		"header b1 depth 1 in b-1 blocks b1 b2 b5 b3 b4 latches b5 entries b0 exits 2",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFrontiers(t *testing.T) {
	f, _ := parse(t, nested)
	var got []string
	for i, list := range Frontiers(ir.Dominators(f)) {
		got = append(got, fmt.Sprintf("b%d: %s", i, names(list)))
	}
	want := "[b0:  b1: b1 b2: b1 b2 b6 b3: b2 b6 b4: b2 b5: b1 b6: ]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func names(blocks []*ir.Block) string {
	var list []string
	for _, b := range blocks {
		list = append(list, fmt.Sprintf("b%d", b.ID))
	}
	return strings.Join(list, " ")
}

func TestRanges(t *testing.T) {
	f, v := parse(t, `
kernel ranges(%0 ptr @0, %1 i64 @8, %2 i64 @16, %3 i64 @24, %4 i32 @32) bytes 56 block 32 4 1 {
b0:
	%5 = tid i32 {0}
	%6 = const i32 3
	%7 = shl i32 %5, %6
	%8 = zext i64 %7
	%9 = const i64 10
	%10 = srem i64 %3, %9
	%11 = const i64 -1
	%12 = const i64 1
	%13 = and i64 %3, %9
	%14 = udiv i64 %1, %9
	%15 = sext i64 %4
	jump b1
b1: <- b0 b2
	%16 = phi i64 %11, %17
	%17 = add i64 %16, %12
	%18 = slt i1 %17, %9
	if %18 b2 b3
b2: <- b1
	%19 = mul i64 %17, %9
	jump b1
b3: <- b1
	%20 = ult i1 %3, %1
	check %20, %3, %1 "index %d of %d"(int64, int64)
	%21 = add i64 %3, %12
	%22 = ctaid i32 {1}
	%23 = slt i1 %3, %9
	%24 = select i64 %23, %3, %9
	%25 = const i32 63
	%26 = shl i64 %8, %25
	%27 = lshr i64 %8, %6
	%28 = sdiv i64 %15, %9
	%29 = udiv i64 %15, %9
	ret
}`)
	r := NewRanges(ir.Dominators(f))
	for id, want := range map[int]Range{
		1:  {0, 1 << 48},
		5:  {0, 31},
		8:  {0, 248},
		10: {-9, 9},
		13: {0, 10},
		14: {0, 1 << 48 / 10},
		15: {-1 << 31, 1<<31 - 1},
		16: {-1, 9},
		17: {0, 10},
		19: {0, 90},
		21: {1, 1 << 48},
		22: {0, 65534},
		24: {0, 10},
		26: FullRange(ir.I64), // the one bit that is left is the sign
		27: {0, 31},
		28: {-1 << 31 / 10, (1<<31 - 1) / 10},
		29: {0, math.MaxUint64 / 10}, // also of a dividend that is negative as a signed number
	} {
		b := v[id].Block
		if b == nil {
			b = f.Blocks[0]
		}
		if got := r.At(v[id], End(b)); got != want {
			t.Errorf("%%%d is in %v, want %v", id, got, want)
		}
	}
	if got := r.At(v[3], Point{f.Blocks[3], 1}); got != FullRange(ir.I64) {
		t.Errorf("in front of the check, %%3 is in %v", got)
	}
}

func TestTrue(t *testing.T) {
	f, v := parse(t, `
func true(%0 i64, %1 i64, %2 i64) -> i1 {
b0:
	%3 = const i64 1
	%4 = const i64 0
	%5 = slt i1 %4, %0
	%6 = slt i1 %0, %1
	%7 = and i1 %5, %6
	if %7 b1 b2
b1: <- b0
	%8 = sub i64 %0, %3
	%9 = slt i1 %8, %1
	%10 = ult i1 %8, %1
	%11 = slt i1 %1, %0
	%12 = eq i1 %0, %1
	%13 = slt i1 %2, %1
	%14 = urem i64 %0, %1
	%15 = ult i1 %14, %1
	%16 = add i64 %0, %3
	%17 = sle i1 %16, %1
	%18 = or i1 %13, %17
	%20 = or i1 %13, %11
	%21 = or i1 %11, %12
	%22 = and i1 %13, %9
	%23 = and i1 %13, %11
	%24 = and i1 %9, %10
	ret %18
b2: <- b0
	%19 = slt i1 %0, %1
	ret %19
}`)
	r := NewRanges(ir.Dominators(f))
	for id, want := range map[int]string{9: "yes", 10: "yes", 11: "no", 12: "no", 13: "?", 15: "yes", 17: "yes", 18: "yes", 19: "?", 20: "?", 21: "no", 22: "?", 23: "no", 24: "yes"} {
		got := "?"
		if holds, known := r.True(v[id], End(v[id].Block)); known {
			got = map[bool]string{true: "yes", false: "no"}[holds]
		}
		if got != want {
			t.Errorf("%%%d: %s, want %s", id, got, want)
		}
	}
}

func TestMayAlias(t *testing.T) {
	_, v := parse(t, `
func alias(%0 ptr, %1 ptr.global, %2 i64) {
b0:
	%3 = alloca ptr.local <[4]i32>
	%4 = alloca ptr.local <[4]i32>
	%5 = offset ptr.local %3 {4}
	%6 = index ptr.local %3, %2 {4}
	%7 = offset ptr.global %1 {4}
	ret
}`)
	for _, c := range []struct {
		a, b int
		want bool
	}{{3, 4, false}, {5, 6, true}, {1, 3, false}, {1, 7, true}, {0, 1, true}, {0, 3, true}} {
		if got := MayAlias(v[c.a], v[c.b]); got != c.want {
			t.Errorf("%%%d and %%%d: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
