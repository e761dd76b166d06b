package progen

import (
	"fmt"
	"strings"
)

// NewMixed returns a kernel of what New's kernels have not: grids of three dimensions, slices that overlap or have room for
// more, closures that change what is read beside their call, tables next to initialisers that run code, barriers of the
// grid, fences, and atomic operations with orders by which all threads change a number.
func NewMixed(seed uint64, index int) Kernel {
	g := &mixed{r: newRandom(seed, index), token: fmt.Sprintf("k%d_", index)}
	k := Kernel{Name: g.token, Values: g.r.Uint64()}
	k.Blocks, k.Threads = [2]int{g.r.between(1, 2), g.r.between(1, 2)}, [2]int{pick(g.r, 3, 4, 8), pick(g.r, 1, 2, 3)}
	k.Deep = [2]int{g.r.between(1, 3), g.r.between(1, 3)}
	g.grid = g.r.oneIn(6)
	g.block = g.r.oneIn(3)
	k.Barriers = g.grid || g.block
	g.elem = pick(g.r, "int", "int32", "uint32", "int16", "uint8", "float32", "float64")
	g.own = g.r.between(2, 4)
	n := g.own * k.threads()
	shift := g.r.IntN(g.own)
	k.Args = []Arg{
		{Type: g.elem, Layout: g.elem, Len: n, Spare: g.r.IntN(3)},
		{Type: g.elem, Layout: g.elem, Len: n - shift, Shares: 1, From: shift},
		{Type: g.elem, Layout: g.elem, Len: g.r.between(4, 9), Spare: g.r.IntN(5)},
		{Type: "int64", Layout: "int64", Len: 6},
		{Type: "uint64", Layout: "uint64", Len: k.threads()},
	}
	g.shift = shift
	g.declarations()
	g.line("//gpu:kernel")
	g.line("func %s(t gpu.Thread, first int, a, b, in []%s, counts []int64, out []uint64) {", k.Name, g.elem)
	g.line("\town := (t.GlobalZ()*t.GridDimY()*t.BlockDimY()+t.GlobalY())*t.GridDimX()*t.BlockDimX() + t.GlobalX() + first")
	g.line("\tv, w, x, y := in[own&3], %[1]s(own), own&7, t.ThreadZ()+3*t.BlockZ()+t.BlockDimZ()", g.elem)
	g.line("\tvar local [4]%s", g.elem)
	g.line("\tp, h := &a[own*%d], uint64(cap(in)-len(in))", g.own)
	if g.block {
		g.line("\tlane, size := (t.ThreadZ()*t.BlockDimY()+t.ThreadY())*t.BlockDimX()+t.ThreadX(), t.BlockDimX()*t.BlockDimY()*t.BlockDimZ()")
		g.line("\tshared := gpu.Shared[[%d]%s](t)", k.Threads[0]*k.Threads[1]*k.Deep[1], g.elem)
		g.line("\t_, _, _ = lane, size, shared")
	}
	for range g.r.between(4, 14) {
		g.statement(0)
		if g.grid && g.r.oneIn(4) {
			g.exchange()
		}
		if g.block && g.r.oneIn(3) {
			g.pass()
		}
	}
	g.line("\tfor _, e := range local {\n\t\th = mixFloat(h, float64(e))\n\t}")
	g.line("\tout[own] = mix(mix(mixFloat(mixFloat(mixFloat(h, float64(v)), float64(w)), float64(*p)), uint64(x)), uint64(y))")
	g.line("}")
	k.Source = g.text.String()
	return k
}

// threads returns how many threads the launch has.
func (k Kernel) threads() int {
	n := k.Blocks[0] * k.Threads[0] * k.Blocks[1] * k.Threads[1]
	return n * max(1, k.Deep[0]) * max(1, k.Deep[1])
}

type mixed struct {
	r     random
	token string
	text  strings.Builder
	elem  string // of the slices
	own   int    // elements of a that are a thread's own
	shift int    // where b begins in a
	grid  bool   // its threads wait for each other
	block bool   // those of a block do
}

func (g *mixed) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

// declarations writes tables, one of them a copy of another, and beside them variables that initialisers and an
// init function change.
func (g *mixed) declarations() {
	n := func() int { return g.r.between(1, 90) }
	g.line("var %[1]scopied = %[1]stable", g.token)
	g.line("var %stable = [4]%s{%d, %d, 3: %d}", g.token, g.elem, n(), n(), n())
	g.line("var %[1]schanged = %[1]stable", g.token)
	g.line("var _ = %schange(%d)", g.token, n())
	g.line("func %[1]schange(n %[2]s) int { %[1]schanged[1] += n; return 1 }", g.token, g.elem)
	g.line("func init() { %schanged[2] = %d }", g.token, n())
}

// statement writes one of a thread by itself.
func (g *mixed) statement(depth int) {
	switch n := g.r.IntN(15); {
	case n < 2 && depth < 2:
		g.line("\tif %s {", g.condition())
		g.statement(depth + 1)
		g.line("\t} else {")
		g.statement(depth + 1)
		g.line("\t}")
	case n == 2 && depth < 2:
		g.line("\tfor i := range %s {", pick(g.r, "3", "x", "len(local)", "cap(in)"))
		g.line("\t\tx = (x + i) & 7")
		g.statement(depth + 1)
		g.line("\t}")
	case n == 3:
		g.atomic()
	case n == 4:
		g.line("\tgpu.Fence(%s)", pick(g.r, "", "gpu.Sequential", "gpu.AcquireRelease, gpu.BlockScope", "gpu.DeviceScope"))
	case n == 5:
		g.line("\tp = &%s", g.place())
		g.line("\t*p = %s", g.value())
	case n == 6:
		g.line("\tcopy(%s, %s)", g.part(), g.part())
	case n == 8 || n == 9:
		g.look()
	case n == 7:
		g.line("\t%s, %s = %s, %s", g.place(), g.place(), g.value(), g.changing())
	default:
		g.line("\t%s = %s %s %s", g.place(), g.value(), pick(g.r, "+", "-", "*"), g.changing())
	}
}

// atomic changes a number of all threads in a way whose order does not matter. No thread looks at the result.
func (g *mixed) atomic() {
	order := pick(g.r, "", ", gpu.Relaxed", ", gpu.AcquireRelease", ", gpu.Sequential", ", gpu.Release, gpu.DeviceScope", ", gpu.Acquire, gpu.SystemScope")
	i := g.r.IntN(5)
	name := [...]string{"Add", "Max", "Min", "Xor", "Or"}[i]
	g.line("\tgpu.Atomic%s(&counts[%d], int64(x*%d+y)%s)", name, i, g.r.between(1, 9), order)
}

// pass lets threads of a block read what others have written, while all variables live on.
func (g *mixed) pass() {
	g.line("\tshared[lane] = %s", g.value())
	g.line("\tt.Sync()")
	g.line("\tw += shared[(lane+%d)%%size]", g.r.IntN(9))
	g.line("\tt.Sync()")
}

// look reads an element where a comparison says that it is there, and sometimes where it does not.
func (g *mixed) look() {
	at := pick(g.r, "x", "y", "x-y", "(x+y)>>1", "(x-3)>>1", "(y-x)/2", "x*y-5", "x+y<<60", "y-x<<62>>62")
	test := pick(g.r, "uint(%s) < uint(len(in))", "%[1]s >= 0 && %[1]s < len(in)", "!(uint(%s) >= uint(len(in)))", "uint(%s) <= 3", "uint(%s-1) < 3", "uint(%s+1) > 0 && uint(%[1]s) < 4")
	if g.r.oneIn(40) {
		test = "%s < 4"
	}
	if g.r.oneIn(3) { // a number that is large without its sign may be negative
		g.line("\tif uint(%s) %s %d {", at, pick(g.r, ">", ">=", "!="), g.r.IntN(4))
		g.line("\t\tif %s < %d {\n\t\t\tv += %s(%s>>1&7)\n\t\t}", at, g.r.IntN(3), g.elem, at)
		g.line("\t\tw += %s(%s/4&15)\n\t}", g.elem, at)
		return
	}
	g.line("\tif "+test+" {", at)
	g.line("\t\tv += in[%s]", at)
	g.line("\t} else {\n\t\tw += %s(uint(%s)>>1&7)\n\t}", g.elem, at)
}

// exchange lets threads read what others have written, after a barrier of the grid.
func (g *mixed) exchange() {
	g.line("\tt.SyncGrid()")
	g.line("\tw += a[(own*%d+%d)%%len(a)]", g.own, g.r.IntN(50))
	g.line("\th += uint64(counts[%d])", g.r.IntN(5))
	g.line("\tt.SyncGrid()")
}

// condition returns one that a call in it may change.
func (g *mixed) condition() string {
	return fmt.Sprintf(pick(g.r, "x+%s < y", "y > %s", "%s&1 == 0 || x == 3", "x&3 == t.ThreadZ() && %s > 2"), g.step())
}

// step returns a call that changes x or y, and is an int.
func (g *mixed) step() string {
	return fmt.Sprintf(pick(g.r, "func() int { x += %d; return y }()", "func() int { y ^= %d; x--; return y }()", "func() int { x, y = y&7, x; return %d }()"), g.r.IntN(9))
}

// place returns an element or a variable of the thread's own.
func (g *mixed) place() string {
	switch g.r.IntN(6) {
	case 0:
		return "local[x&3]"
	case 1:
		return "w"
	case 2:
		return "v"
	case 3:
		return "*p"
	case 4:
		return fmt.Sprintf("b[own*%d+%d]", g.own, g.r.IntN(g.own-g.shift))
	default:
		return fmt.Sprintf("a[own*%d+%d]", g.own, g.r.IntN(g.own))
	}
}

// part returns a slice of the thread's own.
func (g *mixed) part() string {
	switch g.r.IntN(3) {
	case 0:
		return fmt.Sprintf("local[%d:]", g.r.IntN(3))
	case 1:
		return fmt.Sprintf("b[own*%[1]d : own*%[1]d+%[2]d]", g.own, g.own-g.shift)
	default:
		return fmt.Sprintf("a[own*%[1]d+%[2]d : own*%[1]d+%[1]d]", g.own, g.r.IntN(g.own))
	}
}

// value returns something to read.
func (g *mixed) value() string {
	switch g.r.IntN(8) {
	case 0:
		return fmt.Sprintf("%s%s[x&3]", g.token, pick(g.r, "table", "copied"))
	case 1:
		return fmt.Sprintf("in[y&%d]", 3)
	case 2:
		return fmt.Sprintf("%s(cap(%s)%%7)", g.elem, pick(g.r, "in", "a[:1:2]"))
	case 3:
		return fmt.Sprintf("%s(%s&15)", g.elem, pick(g.r, "x", "y", "(x+y)>>1", "(x-y)>>3", "t.GlobalZ()", g.step()))
	default:
		return g.place()
	}
}

// changing returns a value that a closure makes, which changes what may be read in the same statement.
func (g *mixed) changing() string {
	if g.r.oneIn(3) {
		return g.value()
	}
	return fmt.Sprintf("func() %s { %s = %s; return %s }()", g.elem, g.place(), g.value(), pick(g.r, g.place(), "v", "w"))
}
