package pass

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestCompilerShares compiles kernels with all options, in any order, and compares with what Compile makes with
// each alone.
func TestCompilerShares(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, k := range someKernels(t) {
		before := k.String()
		c, err := NewCompiler(k)
		if err != nil {
			t.Fatal(err)
		}
		all := allOptions()
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i, o := range all {
			got, err := c.Compile(o, all[i+1:]...)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Compile(k, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != want.String() {
				t.Fatalf("%s, options %+v: got\n%v\nwant\n%v", k.Name, o, got, want)
			}
			got.Blocks[0].Values[0].Imm++ // which must not be seen by others
		}
		if k.String() != before {
			t.Errorf("%s has changed", k.Name)
		}
	}
}

// TestCompilerGoesOn asks which pass a second Compile begins with: the first that does not do the same as before where the
// call before has been told of it, else the first of all.
func TestCompilerGoesOn(t *testing.T) {
	k := generate(1).Func("random")
	for _, tc := range []struct {
		first, second Options
		told          bool
		want          string
	}{
		{Options{}, Options{Narrow: true}, true, "prove"},
		{Options{}, Options{Narrow: true}, false, "inline"},
		{Options{}, Options{Contract: true}, true, "contract"},
		{Options{Coarse: true}, Options{Wide: true}, true, "coarsen"},
		{Options{Wide: true}, Options{Wide: true, Aligned: true}, true, "vectorize-memory"},
		{Options{Disable: []string{"gvn"}}, Options{}, true, "inline"},
	} {
		c, err := NewCompiler(k)
		if err != nil {
			t.Fatal(err)
		}
		var later []Options
		if tc.told {
			later = []Options{tc.second}
		}
		if _, err := c.Compile(tc.first, later...); err != nil {
			t.Fatal(err)
		}
		var ran []string
		tc.second.Time = func(pass string, _ time.Duration) { ran = append(ran, pass) }
		if _, err := c.Compile(tc.second); err != nil {
			t.Fatal(err)
		}
		if ran[0] != tc.want {
			t.Errorf("%+v after %+v, told %v: begins with %s, want %s", tc.second, tc.first, tc.told, ran[0], tc.want)
		}
	}
}

// someKernels returns the pipeline's golden kernels, and random ones.
func someKernels(t *testing.T) []*ir.Func {
	t.Helper()
	files, err := filepath.Glob("testdata/pipeline/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var kernels []*ir.Func
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range parse(t, string(a.Files[0].Data)).Funcs {
			if f.Kernel {
				kernels = append(kernels, f)
			}
		}
	}
	for seed := range uint64(5) {
		kernels = append(kernels, generate(seed).Func("random"))
	}
	return kernels
}

// allOptions returns all combinations of options that code depends on, and some of disabled passes.
func allOptions() []Options {
	var all []Options
	for i := range 1 << 5 {
		on := func(bit int) bool { return i>>bit&1 == 1 }
		all = append(all, Options{Narrow: on(0), Contract: on(1), Wide: on(2), Coarse: on(3), Aligned: on(4)})
	}
	return append(all,
		Options{Compact: true},
		Options{Unroll: true},
		Options{Unroll: true, Narrow: true},
		Options{Compact: true, Narrow: true, Contract: true, Wide: true, Coarse: true},
		Options{Disable: []string{"simplify-by-range", "divide-by-constant", "sink"}},
		Options{Disable: []string{"sink"}},
		Options{Disable: []string{"gvn"}, Narrow: true})
}
