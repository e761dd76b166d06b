package compile_test

import (
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/origin"
)

const traced = `package k

import (
	"example.com/user/k/other"
	"example.com/user/k/sizes"
	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func sum(t gpu.Thread, x []other.Point) {
	x[0].X = helper(x[1].Length()) * table[limit] * sizes.Height
}

func helper(x float32) float32 { return x + unit }

func unrelated(x float32) float32 { return helper(x) }

const (
	unit  = 1
	limit = 2
)

var table = [4]float32{1: start}

const start = 3

func init() { other.Count++ }

type Op interface{ Do(x float32) float32 }

type Twice struct{}

func (Twice) Do(x float32) float32 { return 2 * x }
func (Twice) Other() {}

//gpu:kernel
//gpu:instance apply[Twice]
func apply[O Op](t gpu.Thread, x []float32) {
	var o O
	x[0] = o.Do(x[0])
}
`

const tracedOther = `package other

type Point struct{ X, Y float32 }

func (p *Point) Length() float32 { return p.X }
func (p Point) Area() float32 { return p.X * p.Y }

var Count int
`

// tracedSizes has no code.
const tracedSizes = `package sizes

const (
	Height = 2 * Width
	Width  = 4
)

const Depth = 5
`

// TestOrigins checks from which declarations the code of kernels is said to be made.
func TestOrigins(t *testing.T) {
	dir := module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{
		{Name: "k.go", Data: []byte(traced)}, {Name: "other/other.go", Data: []byte(tracedOther)}, {Name: "sizes/sizes.go", Data: []byte(tracedSizes)},
	}}})
	want := map[string][]string{
		"sum": {
			"k.go helper", "k.go limit", "k.go start", "k.go sum", "k.go table", "k.go unit",
			"other/other.go Point", "other/other.go Point.Length", "sizes/sizes.go Height", "sizes/sizes.go Width",
		},
		"apply[Twice]": {"k.go Op", "k.go Twice", "k.go Twice.Do", "k.go apply"},
	}
	for _, p := range build(t, dir).Packages {
		for _, k := range p.Kernels {
			list := origin.Parse(k.Sources)
			var got []string
			for _, i := range k.Uses {
				got = append(got, list[i].File+" "+list[i].Name)
			}
			if !slices.Equal(got, want[k.Name]) {
				t.Errorf("%s is made of\n%q, want\n%q", k.Name, got, want[k.Name])
			}
			delete(want, k.Name)
		}
	}
	for name := range want {
		t.Errorf("there is no kernel %s", name)
	}
}
