package pass

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
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
	pass := filepath.Base(filepath.Dir(file))
	o := &Options{Contract: true, Verify: true, Wide: true, Aligned: true, Coarse: true, Unroll: pass != "version-loops"}
	apply(t, pass, after, o)
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
		r := rand.New(rand.NewPCG(8, uint64(i)))
		runsAsClaimed(t, f, r)
		runsAsClaimed(t, after.Funcs[i], r)
		if after.Funcs[i].Coarse > 0 {
			if sameElements(t, f, after.Funcs[i]) == 0 {
				t.Errorf("%s: faults always", f.Name)
			}
			continue
		}
		s := usual
		if strings.HasPrefix(file, filepath.FromSlash("testdata/vectorize-memory/")) {
			s = compiledSetting(f, after.Funcs[i])
		}
		sameBehaviour(t, f, after.Funcs[i], s, rand.New(rand.NewPCG(1, uint64(i))))
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

// compiledSetting returns the setting for a kernel and what Compile has made of it: slices are not aligned further than their
// elements unless the kernel demands that, and joined accesses are aligned.
func compiledSetting(before, after *ir.Func) setting {
	s := setting{align: 4, joined: true}
	for _, b := range before.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpLoad || v.Op == ir.OpStore {
				s.align = max(s.align, analysis.Accessed(v).Align())
			}
		}
	}
	if after.Aligned {
		s.align = paramAlign
	}
	return s
}

// sameBehaviour runs before and after on random arguments and memory. After a fault the
// memory does not count: no one may look at it.
func sameBehaviour(t *testing.T, before, after *ir.Func, s setting, r *rand.Rand) (defined int) {
	t.Helper()
	first, second := newMachine(setting{limit: maxSteps, align: s.align}), newMachine(setting{limit: 1000 * maxSteps, align: s.align, joined: s.joined})
	for range 40 {
		seed := r.Uint64()
		want, err := first.runRandom(before, seed)
		if err != nil {
			continue
		}
		defined++
		got, err := second.runRandom(after, seed)
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
