package corpus

import (
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// program has what a copy must rename: embedded fields, groups of constants, methods, and names that a local variable hides.
const program = `package main

import (
	. "math"
	strange "math/bits"
)

type Inner[T any] struct{ x T }

func (i *Inner[T]) set(x T) { i.x = x }

type Number int

func (n Number) String() string { return "n" }

type Outer struct {
	Inner[int32]
	*Other
}

type Other struct{ y float64 }

const (
	a = iota
	b
)

var table = [...]int{b, a, b}

func hidden(table int) int { return table }

func use(o *Outer, f float64, xs []Number, less func(x, y int32) bool) (int, float64) {
	o.Inner.set(int32(f))
	if less(o.x, 3) {
		return table[hidden(1)] + strange.Len(uint(b)), Sqrt(o.Other.y) + o.y
	}
	_, carry := strange.Add(uint(xs[1]), 2, uint(xs[2]))
	return int(xs[0]) + int(3.0), float64(carry)
}

func takesInterface(x any) {}

func fmtNumber(n Number) int { var s interface{ String() string } = n; return len(s.String()) }

func generic[S ~[]E, E int32 | float64](s S, add func(a, b E) E) (sum E) {
	for _, v := range s {
		sum = add(sum, v)
	}
	println(len(s))
	return sum
}
`

// load type-checks the packages and the program.
func load(t *testing.T, patterns ...string) *Library {
	t.Helper()
	l, err := Load(t.Context(), "../../..", Options{Patterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "program.go")
	if err := os.WriteFile(name, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	l.add("test/program.go", "test/program", []string{name})
	if l.byPath["test/program"] == nil {
		t.Fatal("the program does not type-check")
	}
	return l
}

// kernelOf returns the kernel of a candidate.
func kernelOf(t *testing.T, l *Library, name string) Kernel {
	t.Helper()
	list := l.candidates()
	i := slices.IndexFunc(list, func(c candidate) bool { return c.String() == name })
	if i < 0 {
		t.Fatalf("%s is no candidate", name)
	}
	k, err := l.make(list[i], 7, 1)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, k.Kernel.Source)
	}
	return k
}

func TestCopy(t *testing.T) {
	l := load(t, "math/bits")
	for _, test := range []struct {
		name string
		want []string // regular expressions
		not  string
	}{
		{"test/program.go:use", []string{
			`k7_test_program_Inner\[int32\]\n\t\*k7_test_program_Other`,
			`o\.k7_test_program_Inner\.set\(int32\(int32Offloat64\(float64\(f\)\)\)\)`,
			`k7_test_program_table\[k7_test_program_hidden\(1\)\] \+ lib_math_bits\.Len\(uint\(k7_test_program_b\)\), lib_math\.Sqrt\(o\.k7_test_program_Other\.y\)`,
			`func k7_test_program_hidden\(table int\) int \{ return table \}`,
			`const \(\n\tk7_test_program_a = iota\n\tk7_test_program_b\n\)`,
			`lib_math_bits\.Add\(uint\(xs\[1\]\), 2, \(uint\(xs\[2\]\)\)&1\)`,
			`return x0 < x1|bool\(x0 < x1\)`,
			`k7_test_program_use\(a\d+, a\d+, a\d+, a\d+\)`,
		}, "String"},
		{"math/bits:Sub64 (imported)", []string{`carry\d+ = uint64\(in_uint64\[.*\] & 1\)`}, "test"},
		{"test/program.go:fmtNumber", []string{`func \(n k7_test_program_Number\) String\(\)`}, "Outer"},
		{"test/program.go:generic", []string{`k7_test_program_generic\[\[\]int32, int32\]\(a\d+, a\d+\)`, `\ts\d+ \[\]int32|, s\d+ \[\]int32`}, "Number"},
	} {
		k := kernelOf(t, l, test.name)
		for _, want := range test.want {
			if !regexp.MustCompile(want).MatchString(k.Kernel.Source) {
				t.Errorf("%s: no %s in\n%s", test.name, want, k.Kernel.Source)
			}
		}
		if strings.Contains(k.Kernel.Source, test.not) {
			t.Errorf("%s: %s was copied, too:\n%s", test.name, test.not, k.Kernel.Source)
		}
		if prints := strings.HasSuffix(test.name, "generic"); k.Kernel.Prints != prints {
			t.Errorf("%s: Prints is %v", test.name, k.Kernel.Prints)
		}
	}
}

func TestCandidates(t *testing.T) {
	var names []string
	for _, c := range load(t, "math/bits", "gonum.org/v1/gonum/floats/scalar").candidates() {
		names = append(names, c.String())
	}
	for name, want := range map[string]bool{
		"math/bits:Add64": true, "math/bits:Add64 (imported)": true, "test/program.go:Inner.set": true,
		"gonum.org/v1/gonum/floats/scalar:EqualWithinAbs": true, "gonum.org/v1/gonum/floats/scalar:EqualWithinAbs (imported)": false,
		"test/program.go:takesInterface": false, "test/program.go:use (imported)": false,
	} {
		if got := slices.Contains(names, name); got != want {
			t.Errorf("%s is a candidate: %v", name, got)
		}
	}
}

// TestSample draws samples, of which a smaller one begins a larger one.
func TestSample(t *testing.T) {
	l := load(t, "math/bits", "unicode/utf8")
	all, some := l.Sample(40, 3), l.Sample(10, 3)
	if len(all.Kernels) != 40 || len(some.Kernels) != 10 {
		t.Fatalf("%d and %d kernels", len(all.Kernels), len(some.Kernels))
	}
	for i, k := range some.Kernels {
		if k.From != all.Kernels[i].From || k.Kernel.Source != all.Kernels[i].Kernel.Source {
			t.Errorf("kernel %d is %s, and %s", i, k.From, all.Kernels[i].From)
		}
		again, err := l.Kernel(k.Number, 3)
		if err != nil || again.Kernel.Source != k.Kernel.Source {
			t.Errorf("kernel %d again: %v, another source", i, err)
		}
	}
	if _, err := l.Kernel(1e6, 3); err == nil {
		t.Error("there is a kernel 1,000,000")
	}
}

// TestChoose has types for type parameters, of which some depend on others.
func TestChoose(t *testing.T) {
	l := load(t, "slices")
	for name, want := range map[string]string{"Index": "[]int32, int32", "Sort": "[]int32, int32", "Max": "[]int32, int32", "Collect": "int32"} {
		fn := l.byPath["slices"].types.Scope().Lookup(name).(*types.Func)
		args, ok := choose(fn.Signature().TypeParams())
		var names []string
		for _, a := range args {
			names = append(names, a.String())
		}
		if got := strings.Join(names, ", "); !ok || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, ok, want)
		}
	}
}

func TestHasTests(t *testing.T) {
	if !HasTests(t.Context()) {
		t.Skip("this installation of Go has no folder GOROOT/test")
	}
	l, err := Load(t.Context(), "../../..", Options{Tests: []string{"ken"}})
	if err != nil {
		t.Fatal(err)
	}
	kernelOf(t, l, "test/ken/ptrfun.go:C.f")
	if _, err := Load(t.Context(), "../../..", Options{Tests: []string{"none"}}); err == nil {
		t.Error("a folder that does not exist is read")
	}
}
