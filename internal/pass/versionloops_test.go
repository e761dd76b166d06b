package pass

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A loopForm is a loop that stores to the element at index %30 of %0, whose length is %1, while more. %9 is the counter, of type
// typ, which starts from %2; %10 is its next value, %3 and %4 are parameters of its type, %5 one of 64 bits, and %20 is another
// induction variable that starts from %5.
type loopForm struct {
	name              string
	typ               string
	next, more, index string
	other             string // the next value of %20
	inexact           bool   // the last value is not computed: other copies may run with checks, although none fails
}

var loopForms = []loopForm{
	{name: "less", typ: "i64", next: "add i64 %9, %61", more: "slt i1 %10, %3", index: "add i64 %9, %60"},
	{name: "less, in steps of 4", typ: "i64", next: "add i64 %9, %64", more: "slt i1 %10, %3", index: "add i64 %9, %63"},
	{name: "less, in steps of 3", typ: "i64", next: "add i64 %9, %63", more: "slt i1 %10, %3", index: "add i64 %9, %61"},
	{name: "less, in steps", typ: "i64", next: "add i64 %9, %4", more: "slt i1 %10, %3", index: "add i64 %10, %71"},
	{name: "less, in steps that no index adds", typ: "i64", next: "add i64 %9, %4", more: "slt i1 %10, %3", index: "add i64 %9, %61", inexact: true},
	{name: "at most", typ: "i64", next: "add i64 %9, %61", more: "sle i1 %10, %3", index: "add i64 %9, %60"},
	{name: "at most, in steps of 3", typ: "i64", next: "add i64 %9, %63", more: "sle i1 %10, %3", index: "mul i64 %9, %62"},
	{name: "at most, in steps", typ: "i64", next: "add i64 %9, %4", more: "sle i1 %10, %3", index: "add i64 %10, %71"},
	{name: "not equal", typ: "i64", next: "add i64 %9, %61", more: "ne i1 %10, %3", index: "add i64 %9, %60"},
	{name: "not equal, in steps of 2", typ: "i64", next: "add i64 %9, %62", more: "ne i1 %10, %3", index: "add i64 %9, %60"},
	{name: "not equal, down", typ: "i64", next: "add i64 %9, %71", more: "ne i1 %10, %3", index: "add i64 %9, %60"},
	{name: "not equal, down in steps of 3", typ: "i64", next: "sub i64 %9, %63", more: "ne i1 %3, %10", index: "add i64 %9, %60"},
	{name: "at least", typ: "i64", next: "add i64 %9, %71", more: "sle i1 %3, %10", index: "add i64 %9, %60"},
	{name: "greater", typ: "i64", next: "add i64 %9, %71", more: "slt i1 %3, %10", index: "add i64 %9, %71"},
	{name: "at least, in steps of 4", typ: "i64", next: "sub i64 %9, %64", more: "sle i1 %3, %10", index: "mul i64 %9, %62"},
	{name: "greater, in steps of 3", typ: "i64", next: "add i64 %9, %73", more: "slt i1 %3, %10", index: "sub i64 %9, %62"},
	{name: "greater, in steps", typ: "i64", next: "sub i64 %9, %4", more: "slt i1 %3, %10", index: "sub i64 %10, %71"},
	{name: "below", typ: "i64", next: "add i64 %9, %61", more: "ult i1 %10, %3", index: "add i64 %9, %60"},
	{name: "not above, in steps of 3", typ: "i64", next: "add i64 %9, %63", more: "ule i1 %10, %3", index: "add i64 %9, %60"},
	{name: "above", typ: "i64", next: "add i64 %9, %71", more: "ult i1 %3, %10", index: "add i64 %9, %60"},
	{name: "above, in steps of 2", typ: "i64", next: "sub i64 %9, %62", more: "ult i1 %3, %10", index: "add i64 %9, %60"},
	{name: "not below, in steps of 4", typ: "i64", next: "sub i64 %9, %64", more: "ule i1 %3, %10", index: "add i64 %9, %60"},
	{name: "remainder", typ: "i64", next: "add i64 %9, %61", more: "slt i1 %10, %3", index: "urem i64 %9, %4", inexact: true},
	{name: "bits", typ: "i64", next: "add i64 %9, %61", more: "slt i1 %10, %3", index: "and i64 %4, %9", inexact: true},
	{name: "short less", typ: "i32", next: "add i32 %9, %81", more: "slt i1 %10, %3", index: "sext i64 %9"},
	{name: "short less, extended with zeros", typ: "i32", next: "add i32 %9, %81", more: "slt i1 %10, %3", index: "zext i64 %9"},
	{name: "short at most", typ: "i32", next: "add i32 %9, %81", more: "sle i1 %10, %3", index: "sext i64 %9"},
	{name: "short at most, in steps of 3", typ: "i32", next: "add i32 %9, %83", more: "sle i1 %10, %3", index: "sext i64 %9"},
	{name: "short at least", typ: "i32", next: "sub i32 %9, %81", more: "sle i1 %3, %10", index: "sext i64 %9"},
	{name: "short greater, in steps of 3", typ: "i32", next: "sub i32 %9, %83", more: "slt i1 %3, %10", index: "sext i64 %9"},
	{name: "short below", typ: "i32", next: "add i32 %9, %81", more: "ult i1 %10, %3", index: "zext i64 %9"},
	{name: "short below, extended by sign", typ: "i32", next: "add i32 %9, %81", more: "ult i1 %10, %3", index: "sext i64 %9"},
	{name: "short not above, in steps of 3", typ: "i32", next: "add i32 %9, %83", more: "ule i1 %10, %3", index: "zext i64 %9"},
	{name: "short above", typ: "i32", next: "sub i32 %9, %81", more: "ult i1 %3, %10", index: "zext i64 %9"},
	{name: "short not below, in steps of 3", typ: "i32", next: "sub i32 %9, %83", more: "ule i1 %3, %10", index: "zext i64 %9"},
	{name: "short not equal", typ: "i32", next: "sub i32 %9, %81", more: "ne i1 %3, %10", index: "zext i64 %9"},
	{name: "16 bits, less", typ: "i16", next: "add i16 %9, %92", more: "slt i1 %10, %3", index: "sext i64 %9"},
	{name: "16 bits, at least", typ: "i16", next: "sub i16 %9, %93", more: "sle i1 %3, %10", index: "sext i64 %9"},
	{name: "8 bits, below", typ: "i8", next: "add i8 %9, %102", more: "ult i1 %10, %3", index: "zext i64 %9"},
	{name: "8 bits, not below, extended by sign", typ: "i8", next: "sub i8 %9, %101", more: "ule i1 %3, %10", index: "sext i64 %9"},
	{name: "two variables", typ: "i64", next: "add i64 %9, %61", more: "slt i1 %10, %3", index: "add i64 %20, %9", other: "add i64 %20, %62"},
	{name: "two variables, the other down", typ: "i64", next: "add i64 %9, %63", more: "sle i1 %10, %3", index: "add i64 %20, %61", other: "sub i64 %20, %62"},
	{name: "two variables, against each other", typ: "i64", next: "add i64 %9, %62", more: "slt i1 %10, %3", index: "sub i64 %20, %9", other: "add i64 %20, %63"},
	{name: "two variables, down", typ: "i64", next: "add i64 %9, %72", more: "sle i1 %3, %10", index: "mul i64 %20, %62", other: "add i64 %20, %61"},
	{name: "two variables that meet", typ: "i64", next: "add i64 %9, %61", more: "slt i1 %10, %21", index: "add i64 %20, %60", other: "sub i64 %20, %61"},
	{name: "two variables that meet in steps", typ: "i64", next: "sub i64 %9, %72", more: "slt i1 %10, %21", index: "sub i64 %3, %9", other: "add i64 %20, %73"},
	{name: "two variables that meet, from far", typ: "i64", next: "sub i64 %9, %62", more: "slt i1 %21, %10", index: "add i64 %20, %60", other: "add i64 %20, %61"},
	{name: "another variable in steps", typ: "i64", next: "add i64 %9, %62", more: "slt i1 %10, %3", index: "add i64 %20, %60", other: "add i64 %20, %4"},
	{name: "another variable down in steps", typ: "i64", next: "add i64 %9, %61", more: "slt i1 %10, %3", index: "add i64 %20, %60", other: "sub i64 %20, %4"},
}

// source returns the loop in a kernel. It runs once at least.
func (l loopForm) source() string {
	other := ""
	if l.other != "" {
		other = "\t%20 = phi i64 %5, %21\n"
	}
	s := fmt.Sprintf("kernel k(%%0 ptr.global @0, %%1 i64 @8, %%2 %[1]s @16, %%3 %[1]s @24, %%4 %[1]s @32, %%5 i64 @40) bytes 48 {\nb0:\n", l.typ)
	for _, k := range []int{60, 61, 62, 63, 64} {
		s += fmt.Sprintf("\t%%%d = const i64 %d\n\t%%%d = const i64 %d\n\t%%%d = const i32 %d\n\t%%%d = const i16 %d\n\t%%%d = const i8 %d\n",
			k, k-60, k+10, 60-k, k+20, k-60, k+30, k-60, k+40, k-60)
	}
	s += fmt.Sprintf("\t%%40 = const f32 1.0\n\tjump b1\nb1: <- b0 b3\n\t%%9 = phi %s %%2, %%10\n%s", l.typ, other)
	if other != "" {
		other = "\t%21 = " + l.other + "\n"
	}
	return s + fmt.Sprintf("%s\t%%10 = %s\n\t%%30 = %s\n\t%%31 = ult i1 %%30, %%1\n\tcheck %%31, %%30, %%1 \"%%d %%d\"(int64, int64)\n"+
		"\t%%32 = index ptr.global %%0, %%30 {4}\n\tstore %%32, %%40\n\tjump b3\nb3: <- b1\n\t%%33 = %s\n\tif %%33 b1 b2\nb2: <- b3\n\tret\n}\n", other, l.next, l.index, l.more)
}

// TestLoopForms runs loops of all forms that versionLoops knows, from and to numbers that are small or near the ends of their
// type. Where no check fails in two iterations or more, and all numbers are small, the copy with the checks must not run.
func TestLoopForms(t *testing.T) {
	for _, form := range loopForms {
		t.Run(form.name, func(t *testing.T) {
			before, after := parse(t, form.source()).Funcs[0], parse(t, form.source()).Funcs[0]
			if !versionLoops(after, &Options{}) {
				t.Fatalf("the loop has no copy\n%v", after)
			}
			if err := ir.Verify(after); err != nil {
				t.Fatal(err)
			}
			steps := loopNumbers(form.typ, -1, 4, 1)
			if !strings.Contains(form.next+form.other+form.index, "%4") {
				steps = []int64{1}
			}
			fast := 0
			for _, start := range loopNumbers(form.typ, -2, 9, 3) {
				for _, bound := range loopNumbers(form.typ, -1, 11, 2) {
					for _, step := range steps {
						fast += compareLoops(t, form, [2]*ir.Func{before, after}, [3]int64{start, bound, step})
						if t.Failed() {
							t.Fatal(after)
						}
					}
				}
			}
			if fast < 10 {
				t.Errorf("%d loops run without checks", fast)
			}
		})
	}
}

// loopNumbers returns numbers from low to high, and some near the ends of a type.
func loopNumbers(typ string, low, high, step int64) (list []int64) {
	for x := low; x <= high; x += step {
		list = append(list, x)
	}
	switch typ {
	case "i8":
		return append(list, math.MinInt8, math.MinInt8+1, math.MaxInt8-1, math.MaxInt8)
	case "i16":
		return append(list, math.MinInt16, math.MinInt16+1, math.MaxInt16-1, math.MaxInt16)
	case "i32":
		return append(list, math.MinInt32, math.MinInt32+1, math.MaxInt32-1, math.MaxInt32)
	}
	return append(list, math.MinInt64, math.MinInt64+1, math.MaxInt64-1, math.MaxInt64, 1<<31+1)
}

// compareLoops runs a loop and the one with a copy on slices of several lengths, and returns how often it ran without checks.
func compareLoops(t *testing.T, form loopForm, f [2]*ir.Func, numbers [3]int64) (fast int) {
	t.Helper()
	machines := [2]*machine{newMachine(usual), newMachine(usual)}
	for length := range int64(14) {
		var out [2]outcome
		cold, iterations := false, 0
		for i, f := range f {
			m := machines[i]
			m.reset()
			m.limit = 400 * (i + 1)
			m.watch = func(b *ir.Block, k int, _ []datum) {
				cold = cold || b.Cold
				if i == 0 && b.Values[k].Op == ir.OpStore {
					iterations++
				}
			}
			args := []datum{{bits: m.alloc(128, m.align)}, {bits: uint64(length)}}
			for k, x := range append(numbers[:], length/2) {
				args = append(args, datum{bits: mask(f.Params[2+k].Type, uint64(x))})
			}
			var err error
			if out[i], err = m.run(f, args); err != nil {
				if i == 0 {
					return fast // it does not end
				}
				t.Fatalf("%v, length %d: %v", numbers, length, err)
			}
		}
		if out[0].fault != "" && out[1].fault != "" {
			out[0].memory, out[1].memory = "", ""
		}
		if out[0] != out[1] {
			t.Fatalf("%v, length %d: %+v, want %+v", numbers, length, out[1], out[0])
		}
		special := iterations < 2 || numbers[0] != int64(int16(numbers[0])) || numbers[1] != int64(int16(numbers[1])) || numbers[2] != int64(int16(numbers[2]))
		switch {
		case !cold:
			fast++
		case out[0].fault == "" && !special && numbers[2] > 0 && numbers[1] >= 0 && !form.inexact:
			t.Fatalf("%v, length %d: the copy with checks runs, none of which fails", numbers, length)
		}
	}
	return fast
}
