package progen

import (
	"fmt"
	"strings"
)

// NewLanes returns a kernel of control flow: branches that threads take alike and others, loops that they
// leave together and one by one, jumps, on numbers of 32 and 64 bits; in an eighth of them threads fault, in another they
// wait for each other, half of which exchange values in warps, in another they read near their own numbers. It is for vector code,
// whose lanes are threads, and which most of New's kernels are too motley for.
func NewLanes(seed uint64, index int) Kernel {
	g := &lanes{r: newRandom(seed, index), token: fmt.Sprintf("k%d_", index), faults: index%8 == 7, waits: index%8 == 3, warps: index%16 == 3, near: index%8 == 5, short: index%16 == 5}
	k := Kernel{Name: g.token, Values: g.r.Uint64(), Barriers: g.waits}
	k.Blocks, k.Threads = [2]int{g.r.between(1, 3), 1}, [2]int{pick(g.r, 16, 32, 40, 100), pick(g.r, 1, 1, 2)}
	if g.warps {
		k.Threads = [2]int{pick(g.r, 32, 32, 96), 1}
	}
	threads := k.Blocks[0] * k.Threads[0] * k.Threads[1]
	params := "t gpu.Thread, first int"
	for _, t := range laneTypes {
		params += fmt.Sprintf(", u%[1]s %[2]s, in%[1]s, out%[1]s []%[2]s", t.letter, t.name)
		k.Args = append(k.Args, Arg{Type: t.name, Layout: t.name}, Arg{Type: t.name, Layout: t.name, Len: 16}, Arg{Type: t.name, Layout: t.name, Len: threads})
	}
	if g.near {
		n := 4*threads + 16
		if g.short {
			n = pick(g.r, threads/2, threads-3, threads)
		}
		for _, t := range laneTypes {
			params += fmt.Sprintf(", near%s []%s", t.letter, t.name)
			k.Args = append(k.Args, Arg{Type: t.name, Layout: t.name, Len: n})
		}
	}
	g.line("//gpu:kernel")
	if g.warps { // whose pieces are vector code where the compiler knows that blocks are rows
		g.line("//gpu:block %d", k.Threads[0])
	}
	g.line("func %s(%s) {", k.Name, params)
	g.line("\town := t.ThreadY()*t.GridDimX()*t.BlockDimX() + t.GlobalX() + first")
	for _, t := range laneTypes {
		g.line("\tvar a%[1]s, b%[1]s, c%[1]s %[2]s = %[2]s(own), in%[1]s[own&15], u%[1]s", t.letter, t.name)
	}
	g.line("\tvar p, q = own&1 != 0, ui < 3")
	for i := range laneCounters {
		g.line("\tvar n%[1]d int\n\t_ = n%[1]d", i)
	}
	if g.r.oneIn(3) { // before the first branch, from which code may start over
		g.line("\touti[own] += ini[own&15]")
	}
	g.budget = g.r.between(6, 60)
	if g.waits {
		g.line("\tshared, local := gpu.Shared[[200]int32](t), t.ThreadY()*t.BlockDimX()+t.ThreadX()\n\t_, _ = shared, local")
		g.pieces(0)
	} else {
		g.block(0, 6)
	}
	g.stores()
	g.line("\t_, _ = p, q")
	g.line("}")
	k.Source = g.text.String()
	return k
}

// pieces writes what threads do between barriers, which they come to together, in loops that they leave together.
func (g *lanes) pieces(depth int) {
	for range g.r.between(2, 4) {
		if depth < 2 && g.r.oneIn(3) && g.counters < laneCounters {
			n := g.counter()
			g.line("\tfor %[1]s = 0; %[1]s < %[2]s; %[1]s++ {", n, pick(g.r, "3", "ui&3", "t.BlockX()+1"))
			g.pieces(depth + 1)
			g.line("\t}")
		} else {
			g.line("\t{")
			g.block(depth+1, 6)
			g.line("\t}")
		}
		w := pick(g.r, "a", "b")
		if g.warps && g.r.oneIn(2) {
			g.exchange(w)
			continue
		}
		g.line("\tshared[local] = %sw\n\tt.Sync()\n\t%[1]sw += shared[local^1]\n\tt.Sync()", w)
	}
}

// exchange writes that the threads of a warp exchange one of their variables.
func (g *lanes) exchange(variable string) {
	x := variable + pick(g.r, laneTypes[:]...).letter
	switch g.r.IntN(6) {
	case 0:
		g.line("\t%[1]s += gpu.Shuffle(t, %[1]s, int(%[2]sw&31))", x, variable)
	case 1:
		g.line("\t%[1]sw += gpu.WarpReduceAdd(t, %[1]sw)", variable)
	default:
		g.line("\t%[1]s += gpu.%[2]s(t, %[1]s, %[3]d)", x, pick(g.r, "ShuffleXor", "ShuffleUp", "ShuffleDown"), g.r.between(1, 31))
	}
}

// laneTypes are those of variables: a and b of each differ between threads at first, c does not.
var laneTypes = [...]struct{ letter, name string }{{"i", "int"}, {"w", "int32"}, {"v", "uint32"}, {"f", "float32"}, {"d", "float64"}}

const laneCounters = 24

type lanes struct {
	r        random
	token    string
	faults   bool // threads may
	near     bool // threads read what is near their own numbers
	short    bool // and look before whether it is there
	waits    bool // threads wait for each other, and none returns before
	warps    bool // and those of a warp exchange values
	text     strings.Builder
	budget   int
	counters int
	labels   int
	loops    []string // labels of those around
	targets  []string // labels that are after in a block around
}

func (g *lanes) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

// block writes statements. A jump may lead from anywhere in it to its middle or its end.
func (g *lanes) block(depth, n int) {
	label := ""
	if g.r.oneIn(3) {
		g.labels++
		label = fmt.Sprintf("G%d", g.labels)
		g.targets = append(g.targets, label)
		g.line("\tif %s {\n\tgoto %s\n\t}", g.condition(), label)
	}
	for range g.r.between(1, n) {
		if g.budget--; g.budget > 0 {
			g.statement(depth)
		}
	}
	if label != "" {
		g.targets = g.targets[:len(g.targets)-1]
		g.line("%s:", label)
		g.assign()
	}
}

func (g *lanes) statement(depth int) {
	switch n := g.r.IntN(20); {
	case n < 6 || depth > 4:
		g.assign()
	case n < 12:
		g.line("\tif %s {", g.condition())
		g.block(depth+1, 4)
		if g.r.oneIn(2) {
			g.line("\t} else {")
			g.block(depth+1, 4)
		}
		g.line("\t}")
	case n < 15 && g.counters < laneCounters:
		g.loop(depth)
	case n == 15 && len(g.loops) > 0:
		g.line("\tif %s {\n\t%s %s\n\t}", g.condition(), pick(g.r, "break", "continue"), pick(g.r, g.loops...))
	case n == 16 && len(g.targets) > 0:
		g.line("\tif %s {\n\tgoto %s\n\t}", g.condition(), pick(g.r, g.targets...))
	case n == 17 && !g.waits:
		g.line("\tif %s {", g.condition())
		g.stores()
		g.line("\treturn\n\t}")
	case n >= 18 && g.short:
		g.look(depth)
	case n == 18:
		t := pick(g.r, laneTypes[:]...)
		g.line("\tout%s[own] %s %s", t.letter, pick(g.r, "=", "+=", "-="), g.value(t.letter))
	case n == 19 && g.faults:
		g.fault(depth)
	default:
		g.line("\t%s = %s", pick(g.r, "p", "q"), g.condition())
	}
}

// fault writes what some threads, or none, do last: an index is out of range at once, or in a loop that has no end of its own.
func (g *lanes) fault(depth int) {
	t := pick(g.r, laneTypes[:]...).letter
	g.line("\tif %s && %s {", g.condition(), g.condition())
	if g.counters == laneCounters || g.r.oneIn(3) {
		g.line("\ta%[1]s += in%[1]s[%[2]s]", t, pick(g.r, "own|16", "ui+16", "n0-5"))
	} else {
		n := g.counter()
		g.line("\tfor %[2]s = 0; ; %[2]s++ {\n\ta%[1]s += in%[1]s[%[2]s]", t, n)
		if g.r.oneIn(2) {
			g.block(depth+1, 3)
		}
		g.line("\t}")
	}
	g.line("\t}")
}

// look reads what may be after the end of a slice, before it, or, rarely, what is not there.
func (g *lanes) look(depth int) {
	t := pick(g.r, laneTypes[:]...).letter
	at := g.place() + pick(g.r, "", "-3", "-17")
	to := pick(g.r, "uint(%[1]s) < uint(len(near%[2]s))", "%[1]s >= 0 && %[1]s < len(near%[2]s)", "!(%[1]s < 0 || len(near%[2]s) <= %[1]s)")
	if g.r.oneIn(20) {
		to = "%[1]s < len(near%[2]s)+%[1]s && p"
	}
	g.line("\tif "+to+" {", at, t)
	g.line("\ta%[1]s += near%[1]s[%[2]s]", t, at)
	g.block(depth+1, 2)
	g.line("\t}")
}

// loop writes a loop of few rounds, which are as many for all threads or not.
func (g *lanes) loop(depth int) {
	n := g.counter()
	g.labels++
	label := fmt.Sprintf("L%d", g.labels)
	g.line("\t%s = 0\n%s:", n, label)
	if limit := pick(g.r, "3", "ui&3", "own&3", "t.BlockX()+1", "ai&3"); g.r.oneIn(2) {
		g.line("\tfor ; %s < %s; %s++ {", n, limit, n)
	} else {
		g.line("\tfor %s {\n\tif %s++; %s > 4 {\n\tbreak %s\n\t}", g.condition(), n, n, label)
	}
	g.loops = append(g.loops, label)
	g.line("\tif ai == 77 {\n\tcontinue %s\n\t}", label)
	g.block(depth+1, 4)
	g.loops = g.loops[:len(g.loops)-1]
	g.line("\t}")
}

// condition returns one that is the same for all threads, or for some, or for none in particular.
func (g *lanes) condition() string {
	t := pick(g.r, laneTypes[:]...).letter
	compare := pick(g.r, "<", "<=", "==", "!=", ">")
	switch {
	case g.near && g.r.oneIn(8): // numbers that wrap around, or where they would
		at := fmt.Sprintf(pick(g.r, "%s-5", "%s+9223372036854775790", "-9223372036854775800-(%s)", "(%s)*(1<<59)", "%s+ui<<60"), g.place())
		return pick(g.r, at+" "+compare+" 3", fmt.Sprintf("uint(%s) %s uint(%s)", at, compare, pick(g.r, "9", "len(neari)", "ui")))
	case g.near && g.r.oneIn(3):
		return fmt.Sprintf("%s %s %s", g.place(), compare, pick(g.r, g.place(), "20", "ui", "t.BlockX()*16", "len(neari)"))
	}
	switch g.r.IntN(8) {
	case 0, 1:
		return fmt.Sprintf("u%s %s %d", t, compare, g.r.IntN(4))
	case 2:
		return fmt.Sprintf("t.BlockX() %s 1", compare)
	case 3:
		return fmt.Sprintf("own&%d %s %d", g.r.IntN(8), compare, g.r.IntN(4))
	case 4:
		return pick(g.r, "p", "q", "!p", "p != q")
	case 5:
		return fmt.Sprintf("%s %s %d", g.counted(), compare, g.r.IntN(4))
	default:
		return fmt.Sprintf("%s %s %s", g.value(t), compare, g.value(t))
	}
}

// assign gives a variable a new value.
func (g *lanes) assign() {
	t := pick(g.r, laneTypes[:]...)
	to, x := pick(g.r, "a", "b", "c")+t.letter, pick(g.r, "a", "b", "c")+t.letter
	switch integer := t.letter == "i" || t.letter == "w" || t.letter == "v"; {
	case integer && g.r.oneIn(4):
		x = fmt.Sprintf("%s(%s)", t.name, g.value(pick(g.r, "i", "w", "v")))
	case integer && g.r.oneIn(4):
		x = fmt.Sprintf("%s %s %d", x, pick(g.r, "<<", ">>"), g.r.IntN(9))
	case integer:
		x = fmt.Sprintf("%s %s %s", x, pick(g.r, "+", "-", "*", "&", "|", "^"), g.value(t.letter))
	case g.r.oneIn(4):
		x = fmt.Sprintf("%s(%s)", t.name, g.value(pick(g.r, "i", "w", "f", "d")))
	default:
		x = fmt.Sprintf("%s(%s %s %s)", t.name, g.value(t.letter), pick(g.r, "+", "-", "*", "/"), x)
	}
	g.line("\t%s = %s", to, x)
}

func (g *lanes) value(letter string) string {
	if g.near && !g.short && g.r.oneIn(3) {
		return fmt.Sprintf("near%s[%s]", letter, g.place())
	}
	switch g.r.IntN(10) {
	case 0:
		return fmt.Sprintf("in%s[%s&15]", letter, pick(g.r, "ai", "bi", "ci", "own", "n0"))
	case 1:
		return fmt.Sprintf("%d", g.r.IntN(9))
	case 2:
		return "u" + letter
	default:
		return pick(g.r, "a", "b", "c") + letter
	}
}

// counter returns a counter that no loop has yet, and counted one that some loop may have.
func (g *lanes) counter() string {
	g.counters++
	return fmt.Sprintf("n%d", g.counters-1)
}

func (g *lanes) counted() string { return fmt.Sprintf("n%d", g.r.IntN(max(1, g.counters))) }

// place returns an index of what is near the thread's number, or that of its block. Most grow along the threads, by as much
// from each to the next.
func (g *lanes) place() string {
	n := g.counted()
	return fmt.Sprintf("%s+%s", pick(g.r, "own", "own", "own*2", "own*3", "own+own/32", "t.GlobalX()", "t.ThreadX()*2", "t.BlockX()*t.BlockDimX()", "(own>>1)"),
		pick(g.r, "0", "1", "2", "7", "13", n, n+"*2", "ui&7", "(own&1)*3"))
}

// stores leaves all that variables hold. Integers are added to what is there, which code that starts over does again.
func (g *lanes) stores() {
	for _, t := range laneTypes {
		to := "+="
		if t.letter == "f" || t.letter == "d" { // a NaN would hide all that is added to it
			to = "="
		}
		g.line("\tout%[1]s[own] %[2]s a%[1]s + b%[1]s - c%[1]s", t.letter, to)
	}
}
