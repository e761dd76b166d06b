package origin_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/origin"
)

const text = `// Package p is an example.
package p

import "math"

type Point struct {
	X, Y float32
}

type (
	List[T any] struct{ next *List[T] }
	Alias = Point
)

const a, b = 1, c

const (
	c = iota
	d, e
)

var table, other = [...]int{1, 2}, f(1, 2)

//gpu:kernel
//gpu:block 32
func kernel(t gpu.Thread, x []float32) { x[0] = helper(1) /* old */ }

func helper(x float32) float32 {
	return float32(math.Sqrt(float64(x)))
}

func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

func (l *List[T]) Len() (n int) { return 0 }

func (Point) Unnamed() {}

func generic[T any](x T) {}

func init() { table[0] = 1 }
func init() { table[1] = 1 }
`

func TestNames(t *testing.T) {
	want := []string{
		"Alias", "List", "List.Len", "Point", "Point.Add", "Point.Unnamed", "a", "b", "c", "d", "e",
		"generic", "helper", "init", "kernel", "other", "table",
	}
	if got := slices.Sorted(maps.Keys(origin.Sums([]byte(text)))); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestChanges checks which hashes a change of the text changes.
func TestChanges(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     []string
	}{
		{"/* old */", "// new\n", nil},
		{"// Package p is an example.", "", nil},
		{"\treturn float32(math", "\n\n\t\treturn float32( math", nil},
		{"f(1, 2)", "f(\n\t1,\n\t2,\n)", nil},
		{`import "math"`, `import "other"`, nil},
		{"x[0] = helper(1)", "x[0] = helper(2)", []string{"kernel"}},
		{"//gpu:block 32", "//gpu:block 64", []string{"kernel"}},
		{"float32(math.Sqrt", "float32(math.Cbrt", []string{"helper"}},
		{"p.Y + q.Y", "p.Y - q.Y", []string{"Point.Add"}},
		{"return 0", "return 1", []string{"List.Len"}},
		{"c = iota", "c = iota + 1", []string{"c", "d", "e"}},
		{"{1, 2}", "{1, 3}", []string{"other", "table"}},
		{"table[1] = 1", "table[1] = 2", []string{"init"}},
		{"X, Y float32", "X, Y float64", []string{"Point"}},
	} {
		before, after := origin.Sums([]byte(text)), origin.Sums([]byte(replace(t, test.from, test.to)))
		var changed []string
		for name, sum := range before {
			if after[name] != sum {
				changed = append(changed, name)
			}
		}
		if slices.Sort(changed); !slices.Equal(changed, test.want) || len(after) != len(before) {
			t.Errorf("%q to %q: changed %q, want %q", test.from, test.to, changed, test.want)
		}
	}
}

func replace(t *testing.T, from, to string) string {
	t.Helper()
	if strings.Count(text, from) != 1 {
		t.Fatalf("%q is not once in the text", from)
	}
	return strings.Replace(text, from, to, 1)
}

func TestNotGo(t *testing.T) {
	for _, text := range []string{"", "func", "func (", "package p\nvar (", "}}}", "func f() { \"", "type T["} {
		origin.Sums([]byte(text)) // must not panic
	}
}
