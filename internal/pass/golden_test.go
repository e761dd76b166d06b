package pass

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// TestGolden runs, for each testdata/PASS/NAME.txtar, the pass over the functions of the
// section "in" and compares with the section "out"; then it runs both on random inputs. The
// directory "pipeline" is for Compile as a whole, of the kernels.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.ToSlash(file[len("testdata/"):]), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, after := parse(t, string(a.Files[0].Data)), parse(t, string(a.Files[0].Data))
	o := &Options{Contract: true, Verify: true, Wide: true, Aligned: true, Coarse: true, Unroll: true}
	apply(t, filepath.Base(filepath.Dir(file)), after, o)
	got := after.String()
	if *update {
		a.Files = append(a.Files[:1], txtar.File{Name: "out", Data: []byte(got)})
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
		t.Errorf("(-want +got; -update accepts)\n%s", diff)
	}
	if strings.HasPrefix(file, filepath.FromSlash("testdata/contract/")) {
		return // which changes results, as Go allows
	}
	for i, f := range before.Funcs {
		if after.Funcs[i].Coarse > 0 {
			sameElements(t, f, after.Funcs[i])
			continue
		}
		sameBehaviour(t, f, after.Funcs[i], rand.New(rand.NewPCG(1, uint64(i))))
	}
}

func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range m.Funcs {
		if err := ir.Verify(f); err != nil {
			t.Fatalf("the input is wrong: %v", err)
		}
	}
	return m
}

// apply runs the pass with the given name over the functions of m, or Compile over the kernels.
func apply(t *testing.T, name string, m *ir.Module, o *Options) {
	t.Helper()
	for i, f := range m.Funcs {
		if name == "pipeline" {
			if f.Kernel {
				g, err := Compile(f, *o)
				if err != nil {
					t.Fatal(err)
				}
				m.Funcs[i] = g
			}
			continue
		}
		stepNamed(t, name).apply(f, o, &ir.Verifier{})
	}
}

func stepNamed(t *testing.T, name string) step {
	t.Helper()
	for _, s := range pipeline {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("there is no pass %q", name)
	return step{}
}

// sameBehaviour runs before and after on random arguments and memory. After a fault the
// memory does not count: no one may look at it.
func sameBehaviour(t *testing.T, before, after *ir.Func, r *rand.Rand) (defined int) {
	t.Helper()
	for range 40 {
		seed := r.Uint64()
		want, err := runRandom(before, seed, maxSteps)
		if err != nil {
			continue
		}
		defined++
		got, err := runRandom(after, seed, 1000*maxSteps)
		if err != nil {
			t.Errorf("%s: seed %d: %v; should be %+v\n%v", before.Name, seed, err, want, after)
			return
		}
		if want.fault != "" && got.fault != "" {
			want.memory, got.memory = "", ""
		}
		if want != got {
			t.Errorf("%s: seed %d: (-want +got)\n%s\nbefore: %v\nafter: %v", before.Name, seed, cmp.Diff(want, got, cmp.AllowUnexported(outcome{})), before, after)
			return
		}
	}
	return defined
}

// maxSteps is the number of values that a program may compute. What was made of it may
// take longer, to clear and copy word by word what was one step.
const maxSteps = 10000

// runRandom runs f on arguments that depend on the seed and on the parameters' types only.
func runRandom(f *ir.Func, seed uint64, limit int) (outcome, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	m := &machine{limit: limit, vars: map[*ir.Variable]uint64{}, ids: map[ir.Op][3]uint32{}}
	for axis := range 3 {
		ntid, nctaid := 1+r.Uint32N(4), 1+r.Uint32N(4)
		if f.Block[axis] > 0 {
			ntid = uint32(f.Block[axis])
		}
		for op, n := range map[ir.Op]uint32{ir.OpNTid: ntid, ir.OpNCtaid: nctaid, ir.OpTid: r.Uint32N(ntid), ir.OpCtaid: r.Uint32N(nctaid)} {
			ids := m.ids[op]
			ids[axis] = n
			m.ids[op] = ids
		}
	}
	var args []datum
	for i := 0; i < len(f.Params); i++ {
		if f.Kernel && isSlice(f.Params[i:]) {
			args = append(args, m.random(ir.Slice, r).parts...)
			i += 2
			continue
		}
		arg := m.random(f.Params[i].Type, r)
		if f.Narrow && f.Params[i].Type.Equal(ir.I64) {
			arg.bits = uint64(int64(int32(arg.bits)))
		}
		args = append(args, arg)
	}
	return m.run(f, args)
}

// isSlice reports whether a kernel's next parameters are those of a slice.
func isSlice(p []*ir.Value) bool {
	return len(p) >= 3 && p[0].Type.IsPtr() && p[1].Type.Equal(ir.I64) && p[2].Type.Equal(ir.I64)
}

// random returns a value of type t. Pointers lead to a region of random bytes, small floats
// mostly; slices have at most 16 elements of at most 8 bytes.
func (m *machine) random(t *ir.Type, r *rand.Rand) datum {
	switch {
	case t.Equal(ir.Slice):
		p := m.random(ir.Ptr, r)
		n := r.Uint64N(17)
		return datum{parts: []datum{p, {bits: n}, {bits: n + r.Uint64N(17-n)}}}
	case isAggregate(t):
		var d datum
		for i := range t.NumParts() {
			d.parts = append(d.parts, m.random(t.Part(i), r))
		}
		return d
	case t.IsPtr():
		p := m.alloc(128)
		for i := range int64(32) {
			m.store(p+uint64(4*i), ir.F32, m.random(ir.F32, r))
		}
		return datum{bits: p}
	case t.IsFloat():
		return datum{bits: fromFloat(t, randomFloat(r))}
	}
	return datum{bits: mask(t, randomInt(r))}
}

func randomFloat(r *rand.Rand) float64 {
	special := []float64{0, 1, -1, 2, 0.5, 1e30, -1e-30, 3e9, 1 / negativeZero(), negativeZero(), math.Inf(1), math.NaN(), 1e-40, -1e-40}
	if n := r.IntN(28); n < len(special) {
		return special[n]
	}
	return r.NormFloat64() * 10
}

func negativeZero() float64 { return math.Copysign(0, -1) }

func randomInt(r *rand.Rand) uint64 {
	switch r.IntN(6) {
	case 0:
		return r.Uint64()
	case 1:
		return uint64(int64(-1) - r.Int64N(20))
	case 2:
		return 1<<r.IntN(64) - uint64(r.IntN(3))
	}
	return r.Uint64N(20)
}

func ExampleCompile() {
	m, err := ir.Parse("kernel nothing() bytes 16 {\nb0:\n\tjump b1\nb1: <- b0\n\tret\n}")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := Compile(m.Funcs[0], Options{Contract: true})
	fmt.Println(f, err)
	// Output:
	// kernel nothing() bytes 16 {
	// b0:
	// 	ret
	// }
	//  <nil>
}
