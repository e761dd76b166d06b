package pass

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestCounts compiles many kernels and counts what each pass leaves of them, and what the results consist of. A pass that
// does less than before, or more, changes testdata/counts.txt even if its golden cases stay the same.
func TestCounts(t *testing.T) {
	var columns []*counts
	for _, kernels := range [][]*ir.Func{frontendKernels(t), randomKernels(t), randomLoops()} {
		c := newCounts()
		for i, k := range kernels {
			c.compile(t, k, Options{Contract: i%2 == 0, Narrow: i%3 > 0, Coarse: true, Wide: true, Aligned: i%5 > 0, Unroll: i%4 == 0})
		}
		columns = append(columns, c)
	}
	sameFile(t, "testdata/counts.txt", table(columns))
}

// sameFile compares text with a file, or writes it with -update.
func sameFile(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got; -update accepts)\n%s", file, diff)
	}
}

// counts says of kernels how many values and blocks they have after each step, in which order, and how many operations in
// the end.
type counts struct {
	sizes      [][3]int // by step: values, blocks and distances to uses
	operations map[string]int
}

func newCounts() *counts {
	return &counts{sizes: make([][3]int, len(pipeline)), operations: map[string]int{}}
}

func (c *counts) compile(t *testing.T, k *ir.Func, o Options) {
	t.Helper()
	step := -1 // before the first
	o.Dump = func(_ string, f *ir.Func) {
		if step >= 0 {
			n, distance := extent(f)
			c.sizes[step][0] += n
			c.sizes[step][1] += len(f.Blocks)
			c.sizes[step][2] += distance
		}
		step++
	}
	f, err := Compile(k, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			c.operations[v.Op.String()+" "+operated(v).String()]++
		}
	}
}

// operated returns the type of what an operation is about.
func operated(v *ir.Value) *ir.Type {
	if v.Type.Kind <= ir.KindI1 && len(v.Args) > 0 {
		return v.Args[len(v.Args)-1].Type
	}
	return v.Type
}

// extent returns the number of values, and the sum of their distances to their uses in the same block, which shows their
// order.
func extent(f *ir.Func) (n, distance int) {
	place := make([]int, f.NumValues())
	for _, b := range f.Blocks {
		for i, v := range b.Values {
			place[v.ID] = i
		}
		for i, v := range b.Values {
			for _, a := range v.Args {
				if a.Block == b && v.Op != ir.OpPhi {
					distance += i - place[a.ID]
				}
			}
		}
		n += len(b.Values)
	}
	return n, distance
}

// table prints the counts of several sets of kernels side by side.
func table(columns []*counts) string {
	var s strings.Builder
	s.WriteString("values, blocks and distances between values and their uses after each step: of the frontend's output, of random kernels, of random loops\n")
	operations := map[string]int{}
	for i, step := range pipeline {
		s.WriteString(step.name)
		for _, c := range columns {
			fmt.Fprintf(&s, " %d/%d/%d", c.sizes[i][0], c.sizes[i][1], c.sizes[i][2])
		}
		s.WriteByte('\n')
	}
	for _, c := range columns {
		maps.Copy(operations, c.operations)
	}
	s.WriteString("\noperations in the end\n")
	for _, op := range slices.Sorted(maps.Keys(operations)) {
		s.WriteString(op + ":")
		for _, c := range columns {
			fmt.Fprintf(&s, " %d", c.operations[op])
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// frontendKernels returns the kernels among the frontend's expected outputs.
func frontendKernels(t *testing.T) []*ir.Func {
	t.Helper()
	files, err := filepath.Glob("../frontend/testdata/lower/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("the frontend's expected outputs are not where they were: %v", err)
	}
	var list []*ir.Func
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range a.Files {
			if filepath.Ext(part.Name) != ".ir" {
				continue
			}
			for _, f := range parse(t, string(part.Data)).Funcs {
				if f.Kernel {
					list = append(list, f)
				}
			}
		}
	}
	return list
}

// randomKernels returns kernels of all generators.
func randomKernels(t *testing.T) []*ir.Func {
	t.Helper()
	var list []*ir.Func
	r := rand.New(rand.NewPCG(3, 4))
	for seed := range uint64(60) {
		list = append(list, generate(seed).Func("random"), generateTeam(seed), parse(t, boundedKernel(r)).Funcs[0])
	}
	return list
}

func randomLoops() []*ir.Func {
	var list []*ir.Func
	for seed := range uint64(150) {
		list = append(list, generateLoops(1000+seed))
	}
	return list
}
