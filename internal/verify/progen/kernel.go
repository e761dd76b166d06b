package progen

import (
	"fmt"
	"strings"
)

// Kernel is a kernel with all that it needs but the functions that all kernels share.
type Kernel struct {
	Name     string // of the function; all its other names begin with it
	Source   string // declarations
	Blocks   [2]int // along x and y, of the launch that the parameters are made for
	Threads  [2]int // of a block
	Deep     [2]int // blocks, and threads of a block, along z; or zeros
	Shared   int    // bytes of dynamic shared memory
	Cluster  int    // blocks of a cluster, where the launch says it, or 0
	Barriers bool   // threads wait for each other
	Alone    bool   // a thread does the same in a launch of its own
	Args     []Arg  // after the first two parameters, the thread and first
	Values   uint64 // the seed of the arguments' values
	Imports  []Import
	Lines    bool // faults are compared by line: Go does not define which operand of a statement faults first
	Fields   bool // the arguments are the fields of one parameter, a struct with slices
	Prints   bool // with print or println, which native execution writes to standard error: what is printed is not compared
}

// Import is a package that the source imports besides those that all kernels have.
type Import struct{ Name, Path string }

// Arg is an argument: a value, a slice of Len values, or a tensor map, which comes before all others.
type Arg struct {
	Type   string // as a Go expression
	Layout string // the scalar types that it is made of: "[3]{int8 float32}"
	Len    int    // 0 for a value
	Spare  int    // elements between the length and the capacity
	Shares int    // the number of the slice, counted from 1, whose memory this one is a part of, or 0
	From   int    // where it begins in there

	Aligned bool // it starts at a multiple of 16 bytes, whatever the code counts on
	Map     *Map // what the tensor map is of, or nil
	Bound   int  // the number of the slice, counted from 1, with the errors that this one's floats may have, or 0
}

// Map is a tensor map of a slice of numbers.
type Map struct {
	Slice int    // the number of the slice, counted from 1
	Size  [3]int // elements along x, y and z
	Box   [2]int // elements of a tile along x and y
}

// gen is a kernel that is being written.
type gen struct {
	r      random
	text   []byte
	indent int
	names  int
	token  string // what names begin with

	types      []*typ
	functions  []function
	procedures []function
	scope      scope
	tables     []variable
	counters   []counter
	shared     []slice

	loops     []string // labels
	trips     int      // how often the innermost loop's body may run
	depth     int
	budget    int
	result    *typ // of the function
	second    *typ // of a function with two results
	prints    bool
	warps     bool // warps are full
	plane     bool // the grid has two dimensions
	mayReturn bool
	inClosure bool
	faulty    bool // operations may fault
	risk      int  // those of the statement
	quiet     bool // they must not
	larges    int  // large arrays
	hash      bool // there is a variable that all others go into
}

// New returns a kernel. It depends on nothing but seed and index.
func New(seed uint64, index int) Kernel { return write(newRandom(seed, index), index) }

// Shapes returns the names of all shapes of kernels. That of New's is "".
func Shapes() []string { return []string{"", "lanes", "mixed", "blocks", "fused"} }

// Shape returns the function that makes kernels of a shape, or nil if no shape has that name.
func Shape(name string) func(seed uint64, index int) Kernel {
	switch name {
	case "":
		return New
	case "lanes":
		return NewLanes
	case "mixed":
		return NewMixed
	case "blocks":
		return NewBlocks
	case "fused":
		return NewFused
	}
	return nil
}

// FromBytes returns a kernel whose choices bytes make, for as long as there are some: bytes that
// differ little make kernels that differ little. Its name depends on index.
func FromBytes(choices []byte, index int) Kernel { return write(newChosen(choices), index) }

func write(r random, index int) Kernel {
	g := &gen{r: r, trips: 1, token: fmt.Sprintf("k%d_", index)}
	k := Kernel{Name: g.token, Values: g.r.Uint64()}
	k.Blocks, k.Threads = [2]int{g.r.between(1, 3), 1}, [2]int{pick(g.r, 1, 7, 16, 32, 32, 33, 40), 1}
	if g.plane = g.r.oneIn(6); g.plane {
		k.Blocks, k.Threads = [2]int{g.r.between(1, 2), g.r.between(1, 2)}, pick(g.r, [2]int{16, 2}, [2]int{8, 4}, [2]int{5, 3}, [2]int{2, 19})
	}
	for range g.r.IntN(3) {
		g.structType()
	}
	for range g.r.between(1, 3) {
		g.arrayType()
	}
	for range g.r.IntN(3) {
		g.table()
	}
	for range g.r.IntN(3) {
		g.pure()
	}
	for range g.r.IntN(3) {
		g.procedure()
	}
	if g.faulty = g.r.oneIn(4); !g.faulty && !g.plane && g.r.oneIn(5) {
		g.elements(&k)
	} else {
		g.kernel(&k)
	}
	k.Source = string(g.text)
	return k
}

// table writes a package-level variable that nothing changes.
func (g *gen) table() {
	t := arrayOf(pick(g.r, 2, 4, 5, 8), pick(g.r, append(integers, floats...)...))
	name := g.token + g.name("table")
	g.tables = append(g.tables, variable{text: name, typ: t, constant: true})
	if g.r.oneIn(3) {
		g.computed(name, t)
		return
	}
	var items []string
	for range t.length {
		items = append(items, g.literal(t.elem))
	}
	g.line("var %s = %s{%s}", name, t.name, strings.Join(items, ", "))
}

// computed writes a table that a function makes.
func (g *gen) computed(name string, t *typ) {
	g.scope = scope{}
	g.declare("id", typeInt, false)
	g.declare("i", typeInt, false)
	g.line("var %s = %sOf(%d)", name, name, g.r.IntN(100))
	g.line("func %sOf(id int) (x %s) {", name, t.name)
	g.line("\tfor i := range x {")
	g.line("\t\tx[i] = %s", g.expr(t.elem, 4))
	if g.r.oneIn(2) {
		g.line("\t\tx[(i+id)%%len(x)] -= x[i]")
	}
	g.line("\t}")
	g.line("\treturn x")
	g.line("}")
}

// declareTables makes the tables known in a function.
func (g *gen) declareTables() { g.scope.places = append(g.scope.places, g.tables...) }

// kernel writes the kernel function.
func (g *gen) kernel(k *Kernel) {
	g.scope = scope{}
	g.declareTables()
	k.Barriers = g.r.oneIn(3)
	g.prints = g.r.oneIn(6)
	if g.warps = k.Barriers && k.Threads[0]*k.Threads[1]%32 == 0; g.warps {
		g.faulty = false // a warp of one thread has nobody to exchange values with
	}
	params := append([]string{"t gpu.Thread", "first int"}, g.params(k)...)
	if len(k.Args)%2 == 0 || g.r.oneIn(3) {
		params = append(params, "hash []uint64")
		k.Args = append(k.Args, Arg{Type: "uint64", Layout: "uint64", Len: k.Blocks[0] * k.Threads[0] * k.Blocks[1] * k.Threads[1]})
	}
	names := params[2:]
	if k.Fields = k.Values%4 == 0; k.Fields {
		params = append(params[:2:2], g.fields(k, names))
	}
	g.line("//gpu:kernel")
	if !g.faulty && g.r.oneIn(4) { // else a thread may be launched alone
		g.line("//gpu:block %d,%d", k.Threads[0], k.Threads[1])
	}
	g.line("func %s(%s) {", k.Name, strings.Join(params, ", "))
	where := "t.GlobalX()"
	if g.plane {
		where = "t.GlobalY()*t.GridDimX()*t.BlockDimX() + t.GlobalX()"
	}
	g.line("\tid := %s + first", where)
	g.line("\town := id")
	g.line("\t_ = own")
	g.declare("id", typeInt, true)
	g.indent++
	if k.Fields {
		g.fromFields(names)
	}
	overlaps := len(k.Args)%3 == 0
	if overlaps {
		g.line("t.StartNext()")
		g.line("t.AwaitPrevious()")
	}
	if g.hash = strings.HasPrefix(names[len(names)-1], "hash "); g.hash {
		g.line("var h uint64")
	}
	if k.Barriers {
		g.withBarriers(k)
	} else {
		k.Alone = true
		g.mayReturn = true
		g.statements(g.r.between(4, 14))
	}
	if overlaps {
		g.line("t.AwaitPrevious() // changes nothing, but the compiler does not know that")
	}
	g.results()
	g.indent--
	g.line("}")
}

// fields declares a struct with a field for each of the parameters, which are names with types, and returns the parameter
// that takes their place.
func (g *gen) fields(k *Kernel, params []string) string {
	name := k.Name + "Fields"
	g.line("type %s struct {", name)
	for _, p := range params {
		g.line("\t%s", p)
	}
	g.line("}")
	return "all " + name
}

// fromFields declares variables for the fields of the parameter.
func (g *gen) fromFields(params []string) {
	for _, p := range params {
		name, _, _ := strings.Cut(p, " ")
		g.line("%[1]s := all.%[1]s", name)
		g.line("_ = %s", name)
	}
}

func (g *gen) statements(n int) {
	for range n {
		g.budget = 8
		g.statement()
	}
}

// withBarriers writes statements and, between them, phases with barriers.
func (g *gen) withBarriers(k *Kernel) {
	if g.plane {
		g.line("lane, size := t.ThreadY()*t.BlockDimX()+t.ThreadX(), t.BlockDimX()*t.BlockDimY()")
	} else {
		g.line("lane, size := t.ThreadX(), t.BlockDimX()")
	}
	g.line("_, _ = lane, size")
	g.declare("lane", typeInt, true)
	g.declare("size", typeInt, true)
	for range g.r.between(1, 2) {
		t, name := g.anyType(), g.name("shared")
		if t.size() > 40 {
			t = typeInt32
		}
		g.line("%s := gpu.Shared[[40]%s](t)", name, t.name)
		g.line("_ = %s", name)
		g.shared = append(g.shared, slice{text: name, elem: t})
	}
	if g.r.oneIn(3) {
		t, name := g.r.scalarType(), g.name("dynamic")
		g.line("%s := gpu.DynamicShared[%s](t)", name, t.name)
		g.line("_ = %s", name)
		g.shared = append(g.shared, slice{text: name, elem: t})
		k.Shared = 40 * 8
	}
	for range g.r.between(1, 4) {
		g.statements(g.r.between(1, 5))
		g.uniform()
	}
}

// results stores all scalar variables that are still known, so that nothing is for naught.
func (g *gen) results() {
	for _, s := range g.scope.slices {
		if !s.writable || s.own == 0 {
			continue
		}
		for _, p := range g.scope.places {
			if p.typ == s.elem && g.r.oneIn(2) {
				g.line("%s[own*%d+%d] = %s", s.text, s.own, g.r.IntN(s.own), p.text)
			}
		}
	}
	if g.hash {
		for _, p := range g.scope.places {
			g.mixed(p, 2)
		}
		g.line("hash[own] = h")
	}
}

// mixed has a place go into the hash, or parts of it.
func (g *gen) mixed(p variable, parts int) {
	switch {
	case p.text == "h" || p.constant && p.typ.kind >= array:
	case p.typ.integer():
		g.line("h = mix(h, uint64(%s))", p.text)
	case p.typ.kind == boolean:
		g.line("h = mixBool(h, %s)", p.text)
	case p.typ.kind == float:
		g.line("h = mixFloat(h, float64(%s))", p.text)
	case p.typ.kind == half:
		g.line("h = mixFloat(h, float64(%s.Float32()))", p.text)
	case p.typ.kind == array:
		for range min(parts, p.typ.length) {
			g.mixed(variable{text: fmt.Sprintf("%s[%d]", p.text, g.r.IntN(p.typ.length)), typ: p.typ.elem}, 1)
		}
	default:
		for i, f := range p.typ.fields {
			g.mixed(variable{text: fmt.Sprintf("%s.F%d", p.text, i), typ: f}, 1)
		}
	}
}

// params writes the parameters: values, slices that all threads read, slices of which
// each thread has a part, counters for all.
func (g *gen) params(k *Kernel) []string {
	var params []string
	add := func(name string, t *typ, n int) {
		brackets := ""
		if n > 0 {
			brackets = "[]"
		}
		params = append(params, name+" "+brackets+t.name)
		k.Args = append(k.Args, Arg{Type: t.name, Layout: t.layout(), Len: n})
	}
	for range g.r.between(1, 3) {
		name, t := g.name("a"), g.anyType()
		add(name, t, 0)
		g.declare(name, t, false)
	}
	for range g.r.between(1, 3) {
		s := slice{text: g.name("in"), elem: g.anyType(), least: g.r.between(1, 20)}
		add(s.text, s.elem, s.least)
		g.scope.slices = append(g.scope.slices, s)
	}
	for range g.r.between(1, 3) {
		s := slice{text: g.name("out"), elem: g.anyType(), own: g.r.between(1, 4), writable: true}
		add(s.text, s.elem, s.own*k.Blocks[0]*k.Threads[0]*k.Blocks[1]*k.Threads[1])
		g.scope.slices = append(g.scope.slices, s)
	}
	if g.r.oneIn(3) {
		s := slice{text: g.name("sum"), elem: pick(g.r, typeInt32, typeUint32, typeInt64, typeUint64, typeInt, typeInt8, typeUint16)}
		add(s.text, s.elem, g.r.between(1, 8))
		g.counters = append(g.counters, counter{s, pick(g.r, "Add", "Sub", "Min", "Max", "And", "Or", "Xor")})
	}
	return params
}
