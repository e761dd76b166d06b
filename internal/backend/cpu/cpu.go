package cpu

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const gpuPath = "github.com/gopherwarp/gopherwarp/gpu"

// Options are the parameters of Emit.
type Options struct {
	Func     string                     // the function's name
	Params   []driver.Param             // of the kernel
	Pos      ir.Pos                     // of the kernel
	Declares func(name string) bool     // reports whether a name of Go means something else in the package
	Package  func(path string) string   // returns the name by which the file knows a package
	Declare  func(wanted string) string // returns a name that nothing else in the package has
	Vector   *VectorOptions             // nil for no vector code
}

// VectorOptions are the package and names of vector code. It is in a separate package, because packages
// that use cgo cannot contain Go assembly.
type VectorOptions struct {
	Path    string                     // of the package
	Declare func(wanted string) string // returns a name that nothing else in it has
}

// VectorCode is a function in Go's assembly language.
type VectorCode struct {
	Declaration string // in Go, without a body
	Text        string
}

// paramName returns what the scalar v of the parameter block is called.
func (o *Options) paramName(v *ir.Value) string {
	for _, p := range o.Params {
		at := int(v.Imm) - p.Offset
		name := strings.ReplaceAll(p.Name, ".", "_") // of a field
		switch {
		case at < 0 || at >= p.Size:
		case p.Elem > 0:
			return name + [...]string{"", "Len", "Cap"}[at/8]
		case int(v.Type.Size()) == p.Size:
			return name
		default:
			return fmt.Sprintf("%s%d", name, at)
		}
	}
	return fmt.Sprintf("arg%d", v.Imm)
}

// Twin is a Go function that runs blocks of a kernel.
type Twin struct {
	Text    string       // its declaration, and those of its tables
	Imports []string     // paths
	Lines   int          // of the text, directives apart
	Vectors []VectorCode // that it calls
	Scalar  []string     // why pieces of it have no vector code
	Split   bool         // the threads wait for each other: the body is in several loops
}

// Emit returns the twin of f. All values of f must be scalar, its calls inlined, and Verify must accept it; Emit
// modifies f. An error describes in the user's terms why there is no twin; the kernel's threads then need
// separate stacks.
func Emit(f *ir.Func, o Options) (t *Twin, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = r
		default:
			panic(r)
		}
	}()
	if err := meetsSimply(f); err != nil {
		return nil, err
	}
	ids := layout.Compact(f)
	layout.Prepare(f)
	r, err := layout.Divide(f)
	if err != nil {
		return nil, err
	}
	e := &emitter{Placement: layout.NewPlacement(r, f), f: f, o: o, ids: ids, names: map[any]string{}, called: make([]string, f.NumValues()), taken: map[string]bool{}}
	e.reserve()
	e.inline, e.array = layout.FindInline(e.Placement), e.Arrays()
	e.findMemory()
	e.vectors = e.vectorKernel()
	entry, ok := e.kernelGraph()
	if !ok {
		return nil, errors.New("a loop has two entries")
	}
	text, err := e.write(entry)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(e.imports, func(_, name string) bool { return !usesWord([]line{{text: text}}, name) }) // swept
	return &Twin{Text: text, Vectors: e.vectorCode(), Scalar: e.vectors.Why, Imports: slices.Sorted(maps.Keys(e.imports)), Lines: strings.Count(text, "\n") - strings.Count(text, "//line "), Split: len(r.List) > 1}, nil
}

// meetsSimply reports operations at which threads wait for each other, barriers and what warps exchange apart.
func meetsSimply(f *ir.Func) error {
	warps := layout.MeetsInWarps(f)
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op.Convergent() && (!layout.Waits(v) || warps && layout.Votes(v)) {
				return refuseAt(v, "%s", v.Op)
			}
			if v.Lanes() != nil {
				return refuseAt(v, "%s of some lanes", v.Op)
			}
		}
	}
	return nil
}

// reserve names the parameters as the kernel does, and everything else clear of them.
func (e *emitter) reserve() {
	for _, name := range strings.Fields(builtin) {
		e.taken[name] = true
	}
	for _, path := range [...]string{gpuPath, dtypePath, "math", "math/bits", "unsafe"} {
		e.taken[e.o.Package(path)] = true
	}
	for _, p := range e.f.Params {
		e.nameOf(p)
	}
}

// builtin are the names of Go that the text uses, and its keywords.
const builtin = `bool int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 byte min max clear true false nil range
break case chan const continue default defer else fallthrough for func go goto if import interface map package return select struct switch type var`

// maxRuns is more than any kernel has needed.
const maxRuns = 12

// write writes the text until nothing new is found out about it.
func (e *emitter) write(entry *layout.Node) (string, error) {
	e.known = newFacts()
	for run := range maxRuns {
		e.informed = run > 0
		lines := e.run(entry)
		if reflect.DeepEqual(e.known, e.found) {
			p, err := sweep(e.tableText(), lines)
			if err != nil {
				return "", fmt.Errorf("BUG: cpu: %s: the twin does not parse: %w", e.f.Name, err)
			}
			return p.format()
		}
		e.known = e.found
	}
	return "", fmt.Errorf("BUG: cpu: %s: the twin's text does not settle", e.f.Name)
}

// run writes the function.
func (e *emitter) run(entry *layout.Node) []line {
	e.found, e.imports, e.labels = newFacts(), map[string]string{}, 0
	maps.Copy(e.found.hoisted, e.known.hoisted)
	e.launch, e.extra, e.tables, e.functions = nil, nil, nil, nil
	e.types = map[string]string{}
	e.made = map[*ir.Value]*scope{}
	e.out = &writer{}
	e.root0 = &scope{}
	e.out.scope = e.root0
	c := &blockCoder{emitter: e}
	body := e.out.capture(func() {
		e.outer = e.out.scope
		if e.Warps {
			c.machine()
			return
		}
		c.flow = newFlow(e.out, c)
		c.flow.tree(entry, nil)
	})
	if e.out.gotos > 0 && c.flowGotos() {
		e.found.gotos[nil] = true
	}
	for u := range e.found.used {
		e.found.used[use{v: u.v}] = true
	}
	return e.function(body)
}

// flowGotos reports whether the block's own code jumps.
func (c *blockCoder) flowGotos() bool { return c.flow != nil && len(c.flow.jumped) > 0 }

// function puts the function together.
func (e *emitter) function(body []line) []line {
	pointer := e.unsafe("Pointer")
	lines := []line{
		{text: fmt.Sprintf("// %s runs blocks of the kernel %s.", e.o.Func, e.f.Name)},
		{text: "//"}, // as gofmt has it before a directive
		{text: fmt.Sprintf("func %s(%s *%s.Blocks, %s %s) {", e.o.Func, e.word("blocks"), e.imported(gpuPath), e.word("args"), pointer), pos: e.o.Pos},
	}
	for _, p := range e.f.Params {
		if name := e.nameOf(p); e.found.words[name] {
			at := e.word("args")
			if p.Imm != 0 {
				at = fmt.Sprintf("%s(%s, %d)", e.unsafe("Add"), at, p.Imm)
			}
			lines = append(lines, line{text: fmt.Sprintf("%s := *(*%s)(%s)", name, e.typeName(p.Type, false), at)})
		}
	}
	if e.found.words[e.name("shared", "shared")] {
		lines = append(lines, line{text: fmt.Sprintf("%s := %s.Shared(%d)", e.word("shared"), e.word("blocks"), e.memory.size)})
	}
	lines = append(lines, e.triple("d", "Dim")...)
	lines = append(lines, e.triple("g", "Grid")...)
	if lanes := e.name("lanes", "lanes"); e.found.words[lanes] {
		lines = append(lines, line{text: fmt.Sprintf("%s := %s.Lanes()", lanes, e.word("blocks"))})
	}
	lines = append(lines, e.launch...)
	if e.found.words[e.name("next", "next")] {
		lines = append(lines, line{text: e.word("next") + ":"})
	}
	lines = append(lines, line{text: fmt.Sprintf("for %s.Next() {", e.word("blocks")), pos: e.o.Pos})
	lines = append(lines, e.triple("b", "Index")...)
	if e.found.words[e.name("live", "live")] {
		lines = append(lines, line{text: fmt.Sprintf("%s := %s.Threads()", e.word("live"), e.word("blocks"))})
	}
	lines = append(lines, e.variables(nil)...)
	lines = append(lines, e.extra...)
	lines = append(lines, body...)
	lines = append(lines, line{text: "}"}, line{text: "}"})
	return append(lines, e.functions...)
}

// triple declares those of three variables that are used.
func (e *emitter) triple(letter, method string) []line {
	var names []string
	any := false
	for _, axis := range [...]string{"x", "y", "z"} {
		name := e.name(letter+axis, letter+axis)
		if !e.found.words[name] {
			name = "_"
		}
		any = any || name != "_"
		names = append(names, name)
	}
	if !any {
		return nil
	}
	return []line{{text: fmt.Sprintf("%s := %s.%s()", strings.Join(names, ", "), e.word("blocks"), method)}}
}

func (e *emitter) tableText() string {
	var b strings.Builder
	for _, t := range e.tables {
		fmt.Fprintf(&b, "var %s = [...]uint64{", t.Name)
		for i, w := range t.Words {
			if i%4 == 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%#x, ", w)
		}
		b.WriteString("\n}\n\n")
	}
	return b.String()
}
