package compile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestReach compiles kernels that reach functions and tables of other packages in every way that there is. A body that is
// not loaded has the kernel refused, and a writer that is overlooked makes a constant of a variable. Of packages in other modules, only
// what is named is loaded.
func TestReach(t *testing.T) {
	archive := map[string]*txtar.Archive{"": txtar.Parse([]byte(reachModule))}
	t.Run("one module", func(t *testing.T) { reach(t, module(t, archive)) })
	t.Run("several modules", func(t *testing.T) {
		dir := module(t, archive)
		mod := filepath.Join(dir, "go.mod")
		text, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"far", "near", "own", "spoil", "dotted"} {
			write(t, filepath.Join(dir, name, "go.mod"), "module example.com/user/"+name+"\n\ngo 1.26.0\n")
			text = fmt.Appendf(text, "require example.com/user/%s v0.0.0\nreplace example.com/user/%[1]s => ./%[1]s\n", name)
		}
		write(t, mod, string(text))
		reach(t, dir)
	})
}

func reach(t *testing.T, dir string) {
	t.Helper()
	result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./k", "./written"}, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for _, d := range result.Diagnostics {
		wrong = append(wrong, filepath.Base(d.Pos.Filename)+": "+d.Message)
	}
	want := []string{
		"written.go: a kernel cannot use the package-level variable Early: it is written in init#1, or its address escapes there",
		"written.go: a kernel cannot use the package-level variable Table: it is written in Fill, or its address escapes there",
		"written.go: a kernel cannot use the package-level variable Weights: it is written in Spoil, or its address escapes there",
	}
	if got := strings.Join(wrong, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	kernels := map[string]int{}
	for _, p := range result.Packages {
		kernels[filepath.Base(p.Dir)] = len(p.Kernels)
	}
	if kernels["k"] != 10 {
		t.Errorf("package k has %d kernels, want 10", kernels["k"])
	}
}

const reachModule = `
-- far/far.go --
package far

import "math"

// Scale is reached through another package.
func Scale(x float32) float32 { return deep(x) * float32(math.Exp(float64(x))) }

func deep(x float32) float32 { return x + weights[1] }

var weights = [...]float32{1, 2, 3}

func host() string { return "of " + undeclared }
-- near/near.go --
package near

import (
	"fmt"

	"example.com/user/far"
)

type Number interface{ ~int32 | ~float32 }

type Adder[T Number] struct{ By T }

func (a Adder[T]) Do(x T) T { return helper(x) + a.By }

func helper[T Number](x T) T { return x + 1 }

type Op[T Number] interface{ Do(x T) T }

func Each[T Number, O Op[T]](o O, x []T, i int) { x[i] = o.Do(x[i]) }

type Inner struct{ V float32 }

func (p *Inner) Bump() { p.V = far.Scale(p.V) }

type Outer struct{ Inner }

func Apply(f func(float32) float32, x float32) float32 { return f(x) }

func Twice(x float32) float32 { return 2 * once(x) }

func once(x float32) float32 { return x }

func (o Outer) String() string { return fmt.Sprint(o.V) }

// Weights is written by a package that kernels use, in a function that none calls.
var Weights = [4]float32{1, 2, 3, 4}

// Table is handed to a function that writes it.
var Table = []float32{1, 2}

func Fill() { set(Table) }

func set(x []float32) { x[0] = 3 }

// Early is written before main.
var Early = [2]float32{1, 2}

func init() { Early[1] = 5 }

// Read is only read, also by what it is handed to.
var Read = [2]float32{7, 8}

func Sum() float32 { return sum(Read[:]) }

func sum(x []float32) (s float32) {
	for _, v := range x {
		s += v
	}
	return s
}

func Range(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

type Kind int32

func (k Kind) Cost() float32 { return float32(k) + 1 }

const First, Second Kind = 0, 1
-- own/own.go --
package own

// Double has a method that near and its callers know by an interface alone.
type Double struct{}

func (Double) Do(x float32) float32 { return twice(x) }

func twice(x float32) float32 { return x * 2 }
-- spoil/spoil.go --
package spoil

import "example.com/user/near"

func Spoil() { near.Weights[0] = 9 }
-- k/k.go --
package k

import (
	"example.com/user/far"
	"example.com/user/near"
	"example.com/user/own"
	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func through(t gpu.Thread, x []float32) { x[t.GlobalX()] = far.Scale(1) }

//gpu:kernel
func generic(t gpu.Thread, x []float32) { near.Each(near.Adder[float32]{2}, x, t.GlobalX()) }

//gpu:kernel
func foreign(t gpu.Thread, x []float32) { near.Each(own.Double{}, x, t.GlobalX()) }

//gpu:kernel
func promoted(t gpu.Thread, x []float32) {
	var o near.Outer
	o.V = x[t.GlobalX()]
	o.Bump()
	x[t.GlobalX()] = o.V
}

//gpu:kernel
func value(t gpu.Thread, x []float32) {
	d := own.Double{}
	x[t.GlobalX()] = near.Apply(d.Do, near.Apply(near.Twice, 1))
}

//gpu:kernel
func expression(t gpu.Thread, x []float32) { x[t.GlobalX()] = own.Double.Do(own.Double{}, 1) }

//gpu:kernel
func shadowed(t gpu.Thread, x []float32) {
	near := near.Twice
	local := local(near(1))
	x[t.GlobalX()] = local
}

func local(x float32) float32 { return x + 1 }

//gpu:kernel
func constant(t gpu.Thread, x []float32) { x[t.GlobalX()] = near.Read[t.ThreadX()] }

//gpu:kernel
func iterates(t gpu.Thread, x []float32) {
	for i := range near.Range(3) {
		x[t.GlobalX()] += float32(i) * near.Second.Cost()
	}
}

//gpu:kernel
//gpu:instance each[float32, own.Double]
func each[T near.Number, O near.Op[T]](t gpu.Thread, x []T) {
	var o O
	near.Each(o, x, t.GlobalX())
}
-- dotted/dotted.go --
package dotted

// Half is imported by a dot.
func Half(x float32) float32 { return x / 2 }
-- written/written.go --
package written

import (
	. "example.com/user/dotted"
	"example.com/user/near"
	_ "example.com/user/spoil"
	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func early(t gpu.Thread, x []float32) { x[t.GlobalX()] = Half(near.Early[1]) }

//gpu:kernel
func table(t gpu.Thread, x []float32) { x[t.GlobalX()] = near.Table[1] }

//gpu:kernel
func weights(t gpu.Thread, x []float32) { x[t.GlobalX()] = near.Weights[1] }
`

// TestReachOfTables compiles kernels that read tables whose functions call what becomes an operation in kernels. What such a function calls itself
// is not loaded, so each package is compiled alone.
func TestReachOfTables(t *testing.T) {
	const packages = `
-- zeros/zeros.go --
package zeros

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

var table = zeros(88)

func zeros(n int) (x [2]int) {
	for i := range x {
		x[i] = bits.LeadingZeros64(uint64(bits.Len32(uint32(n)))) * i
	}
	return x
}

//gpu:kernel
func k(t gpu.Thread, out []int) { out[t.GlobalX()] = table[t.GlobalX()&1] }
-- halves/halves.go --
package halves

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

var table = halves()

func halves() (x [2]dtype.F16) {
	for i := range x {
		x[i] = dtype.F16From32(math32.Max(float32(i), dtype.BF16From32(0.3).Float32()))
	}
	return x
}

//gpu:kernel
func k(t gpu.Thread, out []dtype.F16) { out[t.GlobalX()] = table[t.GlobalX()&1] }
`
	dir := module(t, map[string]*txtar.Archive{"": txtar.Parse([]byte(packages))})
	for _, name := range []string{"./zeros", "./halves"} {
		result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{name}, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range result.Diagnostics {
			t.Errorf("%s: %s", name, d.Message)
		}
	}
}
