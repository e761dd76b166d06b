package frontend_test

import (
	"encoding/binary"
	"fmt"
	"go/types"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/internal/frontend"
)

// hostImports are the packages whose functions may be called where a table is computed.
var hostImports = []string{"math", "math/bits", project + "dtype", project + "math32"}

// TestHostFunctions tests that each function that kernels replace by an operation can be called where a table is computed: what its Go source
// calls is not loaded.
func TestHostFunctions(t *testing.T) {
	leaves := []string{"Sqrt", "Abs", "Floor", "Ceil", "Trunc", "RoundToEven", "Copysign", "FMA"} // which call only package math
	w := bodiless(t)
	var calls []hostCall
	for _, path := range hostImports {
		p := w.pkgs[path].types
		for _, f := range exported(p) {
			if frontend.Replaces(f.FullName()) && !(p.Name() == "math32" && slices.Contains(leaves, f.Name())) {
				calls = append(calls, callWithOnes(f))
			}
		}
	}
	if len(calls) < 45 {
		t.Errorf("kernels replace %d functions, want 45 at least", len(calls))
	}
	computed(t, w, calls)
}

// bodiless returns a world in which the packages that kernels import have no function bodies.
func bodiless(t *testing.T) *world {
	t.Helper()
	w := theWorld()
	for _, path := range append(hostImports, project+"gpu") {
		if _, err := w.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	bare := &world{fset: w.fset, pkgs: map[string]*source{}}
	for path, s := range w.pkgs {
		bare.pkgs[path] = &source{types: s.types}
	}
	return bare
}

// exported returns the functions and methods that a package exports.
func exported(p *types.Package) (list []*types.Func) {
	for _, name := range p.Scope().Names() {
		switch obj := p.Scope().Lookup(name).(type) {
		case *types.Func:
			list = append(list, obj)
		case *types.TypeName:
			if n, ok := obj.Type().(*types.Named); ok {
				list = slices.AppendSeq(list, n.Methods())
			}
		}
	}
	return slices.DeleteFunc(list, func(f *types.Func) bool { return !f.Exported() })
}

// hostCall is a call of a function, and how many results it has.
type hostCall struct {
	text    string
	results int
}

func callWithOnes(f *types.Func) hostCall {
	sig := f.Signature()
	args := strings.TrimSuffix(strings.Repeat("1, ", sig.Params().Len()), ", ")
	name := f.Name()
	if recv := sig.Recv(); recv != nil {
		name = recv.Type().(*types.Named).Obj().Name() + "(1)." + name
	}
	return hostCall{fmt.Sprintf("%s.%s(%s)", f.Pkg().Name(), name, args), sig.Results().Len()}
}

// computed returns the results of calls as kernels have them that read them from variables.
func computed(t *testing.T, w *world, calls []hostCall) [][]byte {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "package k\n\nimport (\n%q\n", project+"gpu")
	for _, path := range hostImports {
		fmt.Fprintf(&text, "%q\n", path)
	}
	text.WriteString(")\n\nvar _, _, _, _ = math.Pi, bits.Len, dtype.F16(0), math32.Sqrt\n\n")
	for i, c := range calls {
		names := fmt.Sprintf("v%d, w%[1]d", i)
		if c.results == 1 {
			names, _, _ = strings.Cut(names, ",")
		}
		fmt.Fprintf(&text, "var %s = %s\n\n//gpu:kernel\nfunc k%d(t gpu.Thread, out []bool) {\n", names, c.text, i)
		for name := range strings.SplitSeq(names, ", ") {
			fmt.Fprintf(&text, "\tout[0] = %s == %[1]s\n", name)
		}
		text.WriteString("}\n\n")
	}
	kernels, _, err := w.kernels("k.go", text.String())
	if err != nil {
		t.Fatal(err)
	}
	m, found := frontend.Build(kernels)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	var results [][]byte
	for _, v := range m.Vars {
		results = append(results, v.Init)
	}
	return results
}

// TestCallHost calls a host function of each type.
func TestCallHost(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	var calls []hostCall
	var want [][]byte
	for _, c := range []struct {
		call    string
		results []any
	}{
		{"math.Inf(-1)", []any{math.Inf(-1)}},
		{"math.Pow(2, 0.5)", []any{math.Sqrt2}},
		{"math.FMA(2, 3, 4)", []any{10.0}},
		{"math.Ldexp(3, -1)", []any{1.5}},
		{"math.Signbit(math.Copysign(0, -1))", []any{true}},
		{"math.IsInf(math.Inf(1), 1)", []any{true}},
		{"math.Float64bits(-2)", []any{uint64(3 << 62)}},
		{"math.Float64frombits(3 << 62)", []any{-2.0}},
		{"math.Float32bits(-2)", []any{uint32(0xc0000000)}},
		{"math.Float32frombits(0xc0000000)", []any{float32(-2)}},
		{"bits.LeadingZeros64(math.MaxUint64)", []any{int64(0)}},
		{"bits.Len8(0x7f)", []any{int64(7)}},
		{"bits.Reverse8(1)", []any{uint8(128)}},
		{"bits.Reverse64(1)", []any{uint64(1 << 63)}},
		{"dtype.F16From32(1)", []any{uint16(0x3c00)}},
		{"dtype.BF16(0xc000).Float32()", []any{float32(-2)}},
		{"math32.Min(0, math.Float32frombits(1 << 31))", []any{negativeZero}},
		{"math.Modf(1.5)", []any{1.0, 0.5}},
		{"bits.Mul64(math.MaxUint64, math.MaxUint64)", []any{uint64(math.MaxUint64 - 1), uint64(1)}},
	} {
		calls = append(calls, hostCall{c.call, len(c.results)})
		for _, r := range c.results {
			text, err := binary.Append(nil, binary.LittleEndian, r)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, text)
		}
	}
	got := computed(t, bodiless(t), calls)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results, in the order of the calls (-want +got):\n%s", diff)
	}
}
