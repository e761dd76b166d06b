package ptx_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestLaunchTests compares random conditions that the launcher computes with those that the thread computes.
func TestLaunchTests(t *testing.T) {
	b := newBench(t)
	held := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(23, seed))
		text := randomCondition(r)
		args := []int64{interesting(r), interesting(r), int64(int32(interesting(r))), int64(int32(interesting(r)))}
		grid := driver.Grid{Blocks: driver.Dim{X: 1 + r.IntN(3), Y: 1 + r.IntN(3), Z: 1 + r.IntN(3)}, Block: driver.Dim{X: 1 + r.IntN(3), Y: 1 + r.IntN(2)}}
		want := decide(t, b, text, grid, args)
		if got := decide(t, b, strings.Replace(text, "b0:", "b0 launch:", 1), grid, args); got != want {
			t.Errorf("seed %d: the launcher computes %d, the thread %d, of %v, %v:\n%s", seed, got, want, args, grid, text)
		}
		held += int(want)
	}
	if held < 100 || held > 200 {
		t.Errorf("%d of 300 conditions hold", held)
	}
}

// randomCondition returns a kernel that stores whether a condition holds.
func randomCondition(r *rand.Rand) string {
	var s strings.Builder
	s.WriteString("kernel decide(%0 ptr.global @0, %1 i64 @8, %2 i64 @16, %3 i64 @24, %4 i64 @32, %5 i32 @40, %6 i32 @44) bytes 64 {\nb0:\n")
	values := map[string][]int{"i1": nil, "i32": {5, 6}, "i64": {3, 4}}
	next := 7
	add := func(kind, format string, args ...any) {
		fmt.Fprintf(&s, "\t%%%d = %s\n", next, fmt.Sprintf(format, args...))
		values[kind] = append(values[kind], next)
		next++
	}
	any := func(kind string) int { return values[kind][r.IntN(len(values[kind]))] }
	compare := func() {
		kind := []string{"i32", "i64"}[r.IntN(2)]
		add("i1", "%s i1 %%%d, %%%d", []string{"eq", "ne", "slt", "sle", "ult", "ule"}[r.IntN(6)], any(kind), any(kind))
	}
	for axis := range 3 {
		add("i32", "nctaid i32 {%d}", axis)
		add("i32", "ntid i32 {%d}", axis)
	}
	compare()
	for range 30 {
		kind := []string{"i32", "i64"}[r.IntN(2)]
		switch r.IntN(9) {
		case 0:
			add(kind, "const %s %d", kind, int64(int32(interesting(r))))
		case 1:
			add("i64", "%s i64 %%%d", []string{"sext", "zext"}[r.IntN(2)], any("i32"))
		case 2:
			add("i32", "trunc i32 %%%d", any("i64"))
		case 3:
			add(kind, "select %s %%%d, %%%d, %%%d", kind, any("i1"), any(kind), any(kind))
		case 4:
			fmt.Fprintf(&s, "\t%%%d = const i32 %d\n", next, r.IntN(32))
			next++
			add(kind, "%s %s %%%d, %%%d", []string{"shl", "lshr"}[r.IntN(2)], kind, any(kind), next-1)
		case 5:
			add("i1", "%s i1 %%%d, %%%d", []string{"and", "or", "xor"}[r.IntN(3)], any("i1"), any("i1"))
		case 6:
			compare()
		default:
			add(kind, "%s %s %%%d, %%%d", []string{"add", "sub", "mul", "and", "or", "xor"}[r.IntN(6)], kind, any(kind), any(kind))
		}
	}
	compare()
	fmt.Fprintf(&s, "\tjump b1\nb1: <- b0\n\t%%%d = zext i32 %%%d\n\tstore %%0, %%%d\n\tret\n}\n", next, next-1, next)
	return s.String()
}

// interesting returns a number, often one near a limit.
func interesting(r *rand.Rand) int64 {
	return []int64{0, 1, -1, 1 << 31, -1 << 31, 1 << 62, -1 << 63, int64(r.IntN(100)), int64(r.Uint64())}[r.IntN(9)] + int64(r.IntN(3)-1)
}

// decide launches the kernel and returns what it stores.
func decide(t *testing.T, b *bench, text string, g driver.Grid, args []int64) int32 {
	t.Helper()
	m, err := ir.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := ir.Verify(m.Funcs[0]); err != nil {
		t.Fatal(err)
	}
	k := kernel(t, text, 4)
	k.Params = append(k.Params, driver.Param{Name: "a", Offset: 24, Size: 8}, driver.Param{Name: "b", Offset: 32, Size: 8},
		driver.Param{Name: "c", Offset: 40, Size: 4}, driver.Param{Name: "d", Offset: 44, Size: 4})
	x, err := device.Make[int32](b.stream, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	p := b.stream.Plan(k, g)
	x.All().Pass(p)
	driver.Pass(p, args[0])
	driver.Pass(p, args[1])
	driver.Pass(p, int32(args[2]))
	driver.Pass(p, int32(args[3]))
	if err := p.Launch(); err != nil {
		t.Fatal(err)
	}
	got := make([]int32, 1)
	if err := device.Download(b.stream, got, x); err != nil {
		t.Fatal(err)
	}
	if err := b.stream.Synchronize(t.Context()); err != nil {
		t.Fatal(err)
	}
	return got[0]
}
