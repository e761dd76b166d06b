package seeded

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
)

// made is what a case makes before it launches its kernel.
type made struct {
	t *testing.T
	s *device.Stream
}

// floats returns a buffer of the numbers from 1 on.
func (m made) floats(n int) device.Slice[float32] { return numbers[float32](m, n) }

func numbers[T float32 | int32](m made, n int) device.Slice[T] {
	m.t.Helper()
	x := make([]T, n)
	for i := range x {
		x[i] = T(i + 1)
	}
	b, err := device.Upload(m.s, x)
	if err != nil {
		m.t.Fatal(err)
	}
	return b.All()
}

func zeros[T any](m made, n int) device.Slice[T] {
	m.t.Helper()
	b, err := device.Make[T](m.s, n)
	if err != nil {
		m.t.Fatal(err)
	}
	return b.All()
}

func dirty(m made, n int) device.Slice[float32] {
	m.t.Helper()
	b, err := device.MakeDirty[float32](m.s, n)
	if err != nil {
		m.t.Fatal(err)
	}
	return b.All()
}

func blocks(n int) device.Blocks { return device.Blocks{X: n} }

// cases launch the kernel that has their name.
var cases = map[string]func(m made) error{
	"sum":         func(m made) error { return Sum(m.s, blocks(2), m.floats(128), zeros[float32](m, 2)) },
	"sumUnsynced": func(m made) error { return SumUnsynced(m.s, blocks(2), m.floats(128), zeros[float32](m, 2)) },
	"multiply":    func(m made) error { return Multiply(m.s, square, m.floats(256), m.floats(256), dirty(m, 256), 16) },
	"multiplyUnsynced": func(m made) error {
		return MultiplyUnsynced(m.s, square, m.floats(256), m.floats(256), dirty(m, 256), 16)
	},
	"halves":             func(m made) error { return Halves(m.s, blocks(1), m.floats(64)) },
	"halvesDivergent":    func(m made) error { return HalvesDivergent(m.s, blocks(1), m.floats(64)) },
	"neighbours":         func(m made) error { return Neighbours(m.s, blocks(1), m.floats(32)) },
	"neighboursUnsynced": func(m made) error { return NeighboursUnsynced(m.s, blocks(1), m.floats(32)) },
	"leaders":            func(m made) error { return Leaders(m.s, blocks(1), m.floats(64)) },
	"leadersUnsynced":    func(m made) error { return LeadersUnsynced(m.s, blocks(1), m.floats(64)) },
	"last": func(m made) error {
		return Last(m.s, blocks(4), m.floats(128), zeros[float32](m, 4), zeros[uint32](m, 1))
	},
	"lastUnfenced": func(m made) error {
		return LastUnfenced(m.s, blocks(4), m.floats(128), zeros[float32](m, 4), zeros[uint32](m, 1))
	},
	"found":          func(m made) error { return Found(m.s, blocks(4), m.floats(128), zeros[float32](m, 1), 20) },
	"where":          func(m made) error { return Where(m.s, blocks(4), m.floats(128), zeros[int](m, 1), 20) },
	"count":          func(m made) error { return Count(m.s, blocks(4), m.floats(128), zeros[uint32](m, 1), 20) },
	"countPlainly":   func(m made) error { return CountPlainly(m.s, blocks(4), m.floats(128), zeros[uint32](m, 1), 20) },
	"difference":     func(m made) error { return Difference(m.s, blocks(1), m.floats(64), dirty(m, 64)) },
	"differencePast": func(m made) error { return DifferencePast(m.s, blocks(1), m.floats(64), dirty(m, 64)) },
	"total":          func(m made) error { return Total(m.s, blocks(1), numbers[int32](m, 64), zeros[int32](m, 1)) },
	"shift":          func(m made) error { return Shift(m.s, blocks(1), m.floats(64), dirty(m, 64)) },
	"double":         doubleClosed,
	"fresh":          func(m made) error { return Fresh(m.s, blocks(1), dirty(m, 64), dirty(m, 64)) },
	"fetch":          func(m made) error { return Fetch(m.s, blocks(1), m.floats(64), dirty(m, 64)) },
	"fetchFour":      func(m made) error { return FetchFour(m.s, blocks(1), m.floats(68), dirty(m, 64)) },
	"fetchFourShifted": func(m made) error {
		return FetchFourShifted(m.s, blocks(1), m.floats(68), dirty(m, 64))
	},
	"fetchUnawaited": func(m made) error { return FetchUnawaited(m.s, blocks(1), m.floats(64), dirty(m, 64)) },

	"copied":          func(m made) error { return Copied(m.s, blocks(1), tiles(m.floats(128)), dirty(m, 256)) },
	"copiedUnawaited": func(m made) error { return CopiedUnawaited(m.s, blocks(1), tiles(m.floats(128)), dirty(m, 256)) },
	"copiedShort":     func(m made) error { return CopiedShort(m.s, blocks(1), tiles(m.floats(128)), dirty(m, 256)) },
	"filled":          func(m made) error { return Filled(m.s, blocks(1), tiles(m.floats(128))) },
	"filledUnfenced":  func(m made) error { return FilledUnfenced(m.s, blocks(1), tiles(m.floats(128))) },
	"squared":         func(m made) error { return Squared(m.s, blocks(1), dirty(m, 128)) },
	"squaredHasty":    func(m made) error { return SquaredHasty(m.s, blocks(1), dirty(m, 128)) },
	"squaredUnready":  func(m made) error { return SquaredUnready(m.s, blocks(1), dirty(m, 128)) },
}

// tiles returns the map of numbers as rows of 16.
func tiles(x device.Slice[float32]) device.TensorMap[[8][16]float32] {
	return device.MapTensor[[8][16]float32](x, device.Extent{Width: 16, Height: x.Len() / 16, Depth: 1})
}

var square = device.Blocks{X: 2, Y: 2}

// doubleClosed launches double with the address that a closed buffer had. Package device does not let that happen, so
// the address is put where a launcher would put it.
func doubleClosed(m made) error {
	closed, err := device.Upload(m.s, make([]float32, 64))
	if err != nil {
		return err
	}
	plan := func(x device.Slice[float32]) *driver.Plan {
		p := m.s.Plan(doubleKernel, doubleKernel.Grid(blocks(1)))
		x.Pass(p)
		return p
	}
	p := plan(closed.All())
	address := *(*uint64)(p.Params())
	if err := errors.Join(p.Launch(), closed.Close()); err != nil {
		return err
	}
	p = plan(m.floats(64))
	*(*uint64)(p.Params()) = address
	return p.Launch()
}

// TestSeeded checks that the interpreter reports exactly the seeded defects.
func TestSeeded(t *testing.T) {
	for name, wants := range source(t) {
		t.Run(name, func(t *testing.T) {
			got := findings(t, cases[name], 0)
			for _, w := range wants {
				if !w.among(got) {
					t.Errorf("%s: %q is not found", w.line, w.text)
				}
			}
			for _, g := range got {
				if !g.wanted {
					t.Errorf("found %v", g.err)
				}
			}
		})
	}
}

// TestOrders demands that mistakes are found in other orders of the threads too, if as other pairs of
// accesses, and that where none is seeded none is found.
func TestOrders(t *testing.T) {
	for name, wants := range source(t) {
		for seed := range uint64(5) {
			if got := findings(t, cases[name], 1+seed); (len(got) > 0) != (len(wants) > 0) {
				t.Errorf("%s, seed %d: found %d defects, %d are seeded: %v", name, seed, len(got), len(wants), got)
			}
		}
	}
}

// finding is an error at a line.
type finding struct {
	err    error
	line   string // file:number
	wanted bool
}

// findings launches a kernel and returns what the interpreter says.
func findings(t *testing.T, launch func(made) error, seed uint64) []*finding {
	o := ptxinterp.Checked()
	o.Seed = seed
	dev, err := ptxinterp.OpenWith(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := launch(made{t, s}); err != nil {
		t.Fatal(err)
	}
	got := flat(s.Synchronize(t.Context()))
	if err := errors.Join(s.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
	return got
}

// flat returns the errors that are joined in err.
func flat(err error) []*finding {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*finding
		for _, e := range joined.Unwrap() {
			all = append(all, flat(e)...)
		}
		return all
	}
	f := &finding{err: err}
	if r, ok := errors.AsType[*machine.Race](err); ok {
		f.line = fmt.Sprintf("%s:%d", r.Later.File, r.Later.FileLine)
	}
	if e, ok := errors.AsType[*machine.Error](err); ok {
		f.line = fmt.Sprintf("%s:%d", e.File, e.FileLine)
	}
	if e, ok := errors.AsType[*device.Fault](err); ok {
		f.line = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return []*finding{f}
}

// want is what must be found at a line.
type want struct {
	line, text string
}

// among looks for the want among findings, and marks what matches.
func (w want) among(got []*finding) bool {
	re := regexp.MustCompile(w.text)
	found := false
	for _, g := range got {
		if g.line == w.line && re.MatchString(g.err.Error()) {
			g.wanted, found = true, true
		}
	}
	return found
}

var quotedRE, hereRE = regexp.MustCompile(`"(.*?)"`), regexp.MustCompile(`here: (\w+)`)

// source returns the wants of every kernel of the package's files.
func source(t *testing.T) map[string][]want {
	t.Helper()
	kernels := map[string][]want{}
	for _, name := range []string{"barriers.go", "blocks.go", "memory.go"} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				kernels[fn.Name.Name] = wants(fset, f, fn)
			}
		}
	}
	for name := range kernels {
		if cases[name] == nil {
			t.Errorf("kernel %s has no case", name)
			delete(kernels, name)
		}
	}
	return kernels
}

// wants returns the wants within a function.
func wants(fset *token.FileSet, f *ast.File, fn *ast.FuncDecl) (all []want) {
	here := map[string]string{}
	var found []want
	for _, c := range f.Comments {
		if c.Pos() < fn.Pos() || c.End() > fn.End() {
			continue
		}
		at := fset.Position(c.Pos())
		line, text := fmt.Sprintf("%s:%d", at.Filename, at.Line), c.List[len(c.List)-1].Text
		if m := hereRE.FindStringSubmatch(text); m != nil {
			here["{"+m[1]+"}"] = line
		}
		if _, quoted, ok := strings.Cut(text, "want "); ok {
			for _, m := range quotedRE.FindAllStringSubmatch(quoted, -1) {
				found = append(found, want{line, m[1]})
			}
		}
	}
	for _, w := range found {
		w.text = strings.ReplaceAll(w.text, "{}", w.line)
		for name, line := range here {
			w.text = strings.ReplaceAll(w.text, name, line)
		}
		all = append(all, w)
	}
	return all
}
