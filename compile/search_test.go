package compile_test

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestSearch compiles the searches of package sort.
func TestSearch(t *testing.T) {
	dir := module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(`package k

import (
	"sort"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func search(t gpu.Thread, x []int32, ints []int, floats []float64, out []int) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = sort.Search(len(x), func(k int) bool { return x[k] >= int32(i) })
		n, ok := sort.Find(len(x), func(k int) int { return i - int(x[k]) })
		if ok {
			out[i] += n
		}
		out[i] += sort.SearchInts(ints, i) + sort.SearchFloat64s(floats, float64(i))
	}
}`)}}}})
	result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./..."}, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Diagnostics.Err(); err != nil || len(result.Packages) != 1 || len(result.Packages[0].Kernels) != 1 {
		t.Errorf("%v, %d packages", err, len(result.Packages))
	}
}
