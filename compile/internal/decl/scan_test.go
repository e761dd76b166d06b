package decl_test

import (
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

const source = `package k

import (
	"example.com/geom"
	g "github.com/gopherwarp/gopherwarp/gpu"
)

// blur smooths src.
//
//gpu:kernel
//gpu:block 32,8 // a warp wide
//gpu:contract off
//go:noinline
func blur(t g.Thread, dst, src []float32, at *[2]geom.Point, _ int) {}

// helper is not a kernel.
func helper() {}
`

func TestScan(t *testing.T) {
	got := decl.Scan([]decl.Source{{Name: "k.go", Text: []byte(source)}}, decl.World{Name: path.Base})
	want := &decl.Package{
		Name: "k",
		Kernels: []decl.Kernel{{
			Name: "blur", Launcher: "Blur", Doc: "blur smooths src.\n",
			Block: driver.Dim{X: 32, Y: 8, Z: 1}, Contract: "off",
			Fields: []decl.Field{
				{Names: []string{"dst", "src"}, Slice: true, Type: decl.Text{Source: "float32"}},
				{Names: []string{"at"}, Type: decl.Text{Source: "*[2]geom.Point", Uses: []decl.Use{{Offset: 4, Name: "geom", Path: "example.com/geom"}}}},
				{Names: []string{"p4"}, Type: decl.Text{Source: "int"}},
			},
			Instances: []decl.Instance{{Name: "blur", Stem: "blur"}},
		}},
		Declared: map[string]bool{"blur": true, "Blur": true, "helper": true},
		Imported: map[string]bool{"geom": true, "g": true},
		Generics: map[string]decl.Kernel{},
	}
	ignore := cmp.Options{cmpopts.IgnoreFields(decl.Kernel{}, "Pos"), cmpopts.IgnoreFields(decl.Field{}, "Pos"), cmpopts.IgnoreFields(decl.Instance{}, "Pos")}
	if d := cmp.Diff(want, got, ignore); d != "" {
		t.Errorf("unexpected (-want +got):\n%s", d)
	}
	if at := got.Kernels[0].Pos.String(); at != "k.go:14:6" {
		t.Errorf("the kernel stands at %s, want k.go:14:6", at)
	}
}

const aliases = `package k

import (
	. "example.com/geom"
	. "github.com/gopherwarp/gopherwarp/gpu"
)

type (
	T      = Thread
	Points struct{ X []Point }
	P2     = P3
	P3     = Points
	Other  P2
	M      = TensorMap[Point]
	Thread2 Thread
)

//gpu:kernel
func dot(t Thread, p Points, q P2, o Other) {}

//gpu:kernel
func alias(t T, corners [Sides]Point, m M) {}

//gpu:kernel
func wrong(t Thread2) {}
`

// TestAliases scans kernels whose types are aliases, or of packages that are imported as ".".
func TestAliases(t *testing.T) {
	declares := func(path, name string) bool {
		return path == "example.com/geom" && (name == "Point" || name == "Sides") || path != "example.com/geom" && (name == "Thread" || name == "TensorMap")
	}
	got := decl.Scan([]decl.Source{{Name: "k.go", Text: []byte(aliases)}}, decl.World{Name: path.Base, Declares: declares})
	point := decl.Text{Source: "Point", Uses: []decl.Use{{Path: "example.com/geom"}}}
	text := func(name string) decl.Text { return decl.Text{Source: name, Uses: []decl.Use{{Name: name}}} }
	points := &decl.Struct{Name: "Points", Arg: "PointsArg", Fields: []decl.Field{{Names: []string{"X"}, Slice: true, Type: point}}}
	other := &decl.Struct{Name: "Other", Arg: "OtherArg", Fields: points.Fields}
	want := [][]decl.Field{{
		{Names: []string{"p"}, Type: text("Points"), Struct: points},
		{Names: []string{"q"}, Type: text("P2"), Struct: points},
		{Names: []string{"o"}, Type: text("Other"), Struct: other},
	}, {
		{Names: []string{"corners"}, Type: decl.Text{Source: "[Sides]Point", Uses: []decl.Use{{Offset: 1, Path: "example.com/geom"}, {Offset: 7, Path: "example.com/geom"}}}},
		{Names: []string{"m"}, Tensor: true, Type: point},
	}}
	var fields [][]decl.Field
	for _, k := range got.Kernels {
		fields = append(fields, k.Fields)
	}
	if d := cmp.Diff(want, fields, cmpopts.IgnoreFields(decl.Field{}, "Pos")); d != "" {
		t.Errorf("unexpected (-want +got):\n%s", d)
	}
	if len(got.Errors) != 1 || got.Errors[0].Message != "kernel wrong does not have a gpu.Thread as its first parameter" {
		t.Errorf("got errors %v, want one about kernel wrong", got.Errors)
	}
}

func TestScanOfBrokenFiles(t *testing.T) {
	got := decl.Scan([]decl.Source{{Name: "k.go", Text: []byte(source + "func broken( {")}, {Name: "l.go"}}, decl.World{Name: path.Base})
	if len(got.Kernels) != 1 || len(got.Errors) != 0 {
		t.Errorf("got %d kernels and errors %v, want the kernel before the broken function", len(got.Kernels), got.Errors)
	}
}

func TestFresh(t *testing.T) {
	used := map[string]bool{"p": true, "p_": true}
	if got := decl.Fresh("p", used); got != "p__" || !used["p__"] {
		t.Errorf("got %s, want p__, used", got)
	}
}
