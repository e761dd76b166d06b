package pass

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestFrontendOutput compiles every kernel among the frontend's expected outputs, with each
// optional pass left out in turn, or a sixth of them in go test, and runs the kernel before and after.
func TestFrontendOutput(t *testing.T) {
	files, _ := filepath.Glob("../frontend/testdata/lower/*.txtar")
	if len(files) == 0 {
		t.Fatal("the frontend's expected outputs are not where they were")
	}
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for j, part := range a.Files {
				if filepath.Ext(part.Name) == ".ir" {
					compileAll(t, parse(t, string(part.Data)), i+j)
				}
			}
		})
	}
}

// compileAll compiles the kernels of m with all passes and with each one left out, or in go test with a sixth of them, which number selects.
func compileAll(t *testing.T, m *ir.Module, number int) {
	t.Helper()
	disable := []string{""}
	for _, s := range pipeline {
		if !s.required && !slices.Contains(disable, s.name) {
			disable = append(disable, s.name)
		}
	}
	for _, k := range m.Funcs {
		if !k.Kernel {
			continue
		}
		runsAsClaimed(t, k, rand.New(rand.NewPCG(6, 0)))
		for i, name := range disable {
			if name != "" && !sweep.Every(6, i+number) {
				continue
			}
			o := Options{Verify: true, Disable: []string{name}}
			if name == "" {
				o.Disable = nil
			}
			f, err := Compile(k, o)
			if err != nil {
				t.Fatal(err)
			}
			if name == "" {
				runsAsClaimed(t, f, rand.New(rand.NewPCG(6, 1)))
			}
			isLow(t, f)
			sameBehaviour(t, k, f, compiledSetting(k, f), rand.New(rand.NewPCG(2, uint64(i))))
			if t.Failed() {
				t.Fatalf("without %q", name)
			}
		}
	}
}

// isLow checks what a back end may rely on.
func isLow(t *testing.T, f *ir.Func) {
	t.Helper()
	dom := ir.Dominators(f)
	for _, b := range f.Blocks {
		if dom.Rank(b) < 0 {
			t.Errorf("%s: b%d cannot be reached", f.Name, b.ID)
		}
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpExtract && ofMatrix(v.Args[0]), ofMatrix(v):
			case v.Op == ir.OpCall, isAggregate(v.Type), v.Op == ir.OpExtract:
				t.Errorf("%s: left over: %s", f.Name, v.LongString())
			case v.Op == ir.OpStore && isAggregate(v.Args[1].Type):
				t.Errorf("%s: left over: %s", f.Name, v.LongString())
			case v.Op == ir.OpAlloca && b != f.Blocks[0]:
				t.Errorf("%s: outside of the entry: %s", f.Name, v.LongString())
			}
		}
	}
}

// ofMatrix reports whether v is a part of a matrix, which tensor cores have in several
// registers of a thread.
func ofMatrix(v *ir.Value) bool { return v.Op == ir.OpMMA || v.Op == ir.OpLoadMatrix }
