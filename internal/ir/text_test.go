package ir_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const scale = `var $tile shared [32][33]f32
var $table const [2]i8 "\x01\xff"

func square(%0 f32) -> f32 {
b0:
	%1 = fmul f32 %0, %0 {1}
	ret %1 !square.go:7:2
}

kernel scale(%0 ptr.global @0, %1 i64 @8, %2 f32 @24) bytes 48 block 16 16 1 narrow slices @0 of 4 {
b0:
	%3 = tid i32 {0}
	%4 = zext i64 %3
	%5 = slt i1 %4, %1
	%6 = alloca ptr.local <{i32, [2]f64}>
	%7 = var ptr.shared $tile
	if %5 b1 b2
b1 cold apart: <- b0
	%8 = index ptr.global %0, %4 {4} !scale.go:9:7
	%9 = load f32 %8
	%10 = call f32 @square %9
	%11 = const f32 0.1
	%12 = const f32 0x7fc00000
	%13 = const i8 -1
	%14 = fadd f32 %10, %11
	check %5, %4, %1 "index out of range [%d] with length %d"(int64, int64)
	store %8, %14
	%17 = atomicadd f32 %8, %14
	%18 = atomiccas i32 %8, %3, %3 {acq_rel.system}
	%19 = atomicload i64 %8 {acquire.block}
	atomicstore %8, %19 {sc.cluster}
	fence {acq_rel.device}
	%20 = lane i32
	%21 = shuffleup f32 %14, %20
	%22 = ballot i32 %5
	%23 = match i32 %19
	warpbarrier
	gridbarrier
	copyasync %8, %8 {16}
	copycommit
	copywait {1}
	%26 = clock i64 {1}
	%27 = dynamicbytes i32
	%24 = barriercount i32 %5
	%25 = barrierand i1 %5
	jump b2
b2: <- b0 b1
	%15 = phi f32 %2, %14
	%16 = offset ptr.local %6 {8}
	ret
}
`

func TestTextParsesBack(t *testing.T) {
	m, err := ir.Parse(scale)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scale, m.String()); diff != "" {
		t.Errorf("text changed (-want +got):\n%s", diff)
	}
	for _, f := range m.Funcs {
		if err := ir.Verify(f); err != nil {
			t.Error(err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"unknown op", "func f() {\nb0:\n\tfrob\n}", `line 3: want an operation, found "frob"`},
		{"undefined value", "func f() {\nb0:\n\tret %3\n}", "f uses %3, which is not defined"},
		{"no block", "func f() {\nb0:\n\tjump b7\n}", "f has no block b7"},
		{"twice", "func f(%0 i32, %0 i32) {\n}", "%0 is defined twice"},
		{"no end", "func f() {\nb0:\n\tret", "the last function has no end"},
		{"order", "func f(%0 ptr) {\nb0:\n\t%1 = atomicload i32 %0 {strong.device}\n}", `line 3: want an order and a scope, as acquire.system, found "strong.device"`},
		{"rest", "func f() {\nb0:\n\tret ret\n}", `want the end of the line, found "ret"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ir.Parse(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"types", "b0:\n\t%1 = add i64 %0, %0\n\tret", "%1 = add: has type i64 and an argument of type i32"},
		{"order", "b0:\n\t%2 = add i32 %1, %0\n\t%1 = add i32 %0, %0\n\tret", "uses %1 before it is defined"},
		{"dominance", "b0:\n\t%1 = const i1 1\n\tif %1 b1 b2\nb1: <- b0\n\t%2 = add i32 %0, %0\n\tjump b2\nb2: <- b0 b1\n\t%3 = add i32 %2, %0\n\tret", "uses %2 of b1, which does not dominate it"},
		{"phi", "b0:\n\tjump b1\nb1: <- b0\n\t%1 = phi i32 %0, %0\n\tret", "has 2 arguments, its block 1 predecessors"},
		{"edges", "b0:\n\tjump b1\nb1:\n\tret", "b0: is 0 times among the predecessors of b1"},
		{"terminator", "b0:\n\t%1 = add i32 %0, %0", "b0: does not end with a terminator"},
		{"twice", "b0:\n\t%1 = const i1 1\n\tif %1 b1 b1\nb1: <- b0\n\tret", "goes to b1 twice"},
		{"result", "b0:\n\tret %0", "returns a value from a function without result"},
		{"narrow float to integer", "b0:\n\t%1 = const f32 1.0\n\t%2 = trunc i16 %1\n\tret", "cannot narrow f32 to i16"},
		{"narrow integer to float", "b0:\n\t%1 = const i64 1\n\t%2 = fround f32 %1\n\tret", "cannot narrow i64 to f32"},
		{"widen float to integer", "b0:\n\t%1 = const f32 1.0\n\t%2 = sext i64 %1\n\tret", "cannot widen f32 to i64"},
		{"widen integer to float", "b0:\n\t%1 = fext f64 %0\n\tret", "cannot widen i32 to f64"},
		{"atomic float", "b0:\n\t%1 = const ptr 0\n\t%2 = const f32 1.0\n\t%3 = atomicsmax f32 %1, %2\n\tret", "wants an integer, not f32"},
		{"atomic width", "b0:\n\t%1 = const ptr 0\n\t%2 = const i1 1\n\t%3 = atomicadd i1 %1, %2\n\tret", "cannot access i1 through ptr"},
		{"atomic address", "b0:\n\t%1 = atomicadd i32 %0, %0\n\tret", "cannot access i32 through i32"},
		{"atomic argument", "b0:\n\t%1 = const ptr 0\n\t%2 = const i64 1\n\t%3 = atomiccas i32 %1, %0, %2\n\tret", "has an argument of type i64 for i32"},
		{"load that releases", "b0:\n\t%1 = const ptr 0\n\t%2 = atomicload i32 %1 {release.device}\n\tret", "cannot be release"},
		{"store that acquires", "b0:\n\t%1 = const ptr 0\n\tatomicstore %1, %0 {acquire.device}\n\tret", "cannot be acquire"},
		{"relaxed fence", "b0:\n\tfence\n\tret", "cannot be relaxed"},
		{"shuffle", "b0:\n\t%1 = const i16 1\n\t%2 = shuffle i16 %1, %0\n\tret", "exchanges i16 for i16 by i32"},
		{"match", "b0:\n\t%1 = const f32 1.0\n\t%2 = match i32 %1\n\tret", "compares f32 to i32"},
		{"ballot", "b0:\n\t%1 = ballot i32 %0\n\tret", "makes i32 of i32"},
		{"copy", "b0:\n\t%1 = const ptr 0\n\tcopyasync %1, %1 {12}\n\tret", "cannot copy 12 bytes from ptr to ptr"},
		{"fetch", "b0:\n\t%1 = const ptr 0\n\t%2 = const i64 16\n\tfetchasync %1, %1, %2 {16}\n\tret", "wants a number of bytes of type i32, not i64"},
		{"half", "b0:\n\t%1 = f16tof f32 %0\n\tret", "converts i32 to f32"},
		{"float to half", "b0:\n\t%1 = const f64 1.0\n\t%2 = ftobf16 i16 %1\n\tret", "converts f64 to i16"},
		{"tiles", "b0:\n\t%1 = const ptr 0\n\t%2 = loadmatrix [3]i32 %1 {0}\n\tret", "loads [3]i32 from ptr"},
		{"product", "b0:\n\t%1 = const f32 0.0\n\t%2 = mma [4]f32 %0, %0, %0, %0, %0, %1, %1, %1, %1, %1 {0}\n\tret", "has argument 5 of type f32"},
		{"format", "b0:\n\t%1 = const f32 0.0\n\t%2 = mma [4]f32 %0, %0, %0, %0, %0, %0, %1, %1, %1, %1 {2}\n\tret", "makes [4]f32 of format 2"},
		{"wait", "b0:\n\tcopywait {8}\n\tret", "cannot leave 8 groups"},
		{"clock", "b0:\n\t%1 = clock i64 {2}\n\tret", "wants type i64 and a clock of 0 or 1"},
		{"launcher", "b0 launch:\n\t%1 = ctaid i32 {0}\n\t%2 = eq i1 %0, %1\n\tjump b1\nb1: <- b0\n\tif %2 b2 b3\nb2: <- b1\n\tret\nb3: <- b1\n\tret", "%1 = ctaid: cannot be computed by a launcher"},
		{"launcher's number", "b0 launch:\n\t%1 = add i32 %0, %0\n\tjump b1\nb1: <- b0\n\tret", "%1 = add: is no condition"},
		{"launcher's secret", "b0 launch:\n\t%1 = add i32 %0, %0\n\t%2 = eq i1 %0, %1\n\tjump b1\nb1: <- b0\n\t%3 = add i32 %1, %0\n\tret", "uses %1, which only the launcher computes"},
		{"launcher's place", "b0:\n\tjump b1\nb1 launch: <- b0\n\t%1 = eq i1 %0, %0\n\tjump b2\nb2: <- b1\n\tret", "b1: is no block that a launcher can run"},
		{"launcher's branch", "b0 launch:\n\t%1 = eq i1 %0, %0\n\tif %1 b1 b2\nb1: <- b0\n\tret\nb2: <- b0\n\tret", "b0: is no block that a launcher can run"},
		{"site", "b0:\n\tprint %0 \"%d\"(int64)\n\tret", "has an argument of type i32 for a int64"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := ir.Parse("func f(%0 i32) {\n" + tc.body + "\n}")
			if err != nil {
				t.Fatal(err)
			}
			err = ir.Verify(m.Funcs[0])
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestLayout(t *testing.T) {
	s := ir.StructOf(ir.I8, ir.I32, ir.ArrayOf(3, ir.I16), ir.I64, ir.I1)
	if s.Size() != 32 || s.Align() != 8 {
		t.Errorf("size %d align %d, want 32 and 8", s.Size(), s.Align())
	}
	for i, want := range []int64{0, 4, 8, 16, 24} {
		if got := s.PartOffset(i); got != want {
			t.Errorf("offset of field %d is %d, want %d", i, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(scale)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ir.Parse(text)
		if err != nil {
			return
		}
		again, err := ir.Parse(m.String())
		if err != nil {
			t.Fatalf("printed text does not parse: %v\n%s", err, m)
		}
		if again.String() != m.String() {
			t.Errorf("text changed:\n%s\n%s", m, again)
		}
		for _, fn := range m.Funcs {
			_ = ir.Verify(fn) // must not panic
		}
	})
}
