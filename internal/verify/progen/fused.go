package progen

import (
	"fmt"
	"strings"
)

// NewFused returns a kernel of sums of products, in which a compiler may fuse multiplications and additions. Beside each float
// it computes an error bound: how far the float may be from the exact result of the same operations, however they are fused.
// The bounds are running error bounds (Higham, Accuracy and Stability of Numerical Algorithms, section 3.3), of magnitudes
// that depend on the arguments only. No float decides about a jump, an index or an integer.
func NewFused(seed uint64, index int) Kernel {
	g := &fused{r: newRandom(seed, index), elem: "float32", unit: "0x1p-24"}
	if g.r.oneIn(3) {
		g.elem, g.unit = "float64", "0x1p-53"
	}
	k := Kernel{Name: fmt.Sprintf("k%d_", index), Values: g.r.Uint64(), Barriers: g.r.oneIn(3)}
	k.Blocks, k.Threads = [2]int{g.r.between(1, 2), 1}, [2]int{pick(g.r, 7, 32, 40), 1}
	if k.Barriers {
		k.Threads[0], g.exchanges = 32, true
	}
	n := k.Blocks[0] * k.Threads[0] * fusedVariables
	k.Args = []Arg{
		{Type: g.elem, Layout: g.elem, Len: g.r.between(8, 20)}, {Type: g.elem, Layout: g.elem},
		{Type: g.elem, Layout: g.elem, Len: n, Bound: 3}, {Type: "float64", Layout: "float64", Len: n},
	}
	g.line("func %saxpy(a, x, y %s) %[2]s { return a*x + y }", k.Name, g.elem)
	g.line("//gpu:kernel\nfunc %s(t gpu.Thread, first int, in []%s, c %[2]s, out []%[2]s, bounds []float64) {", k.Name, g.elem)
	g.line("\tn := t.GlobalX() + first\n\tvar v [%d]%s\n\tvar b [%[1]d]bounded\n\t_ = n", fusedVariables, g.elem)
	if g.exchanges {
		g.line("\tshared, errs := gpu.Shared[[32]%s](t), gpu.Shared[[32]bounded](t)\n\t_, _ = shared, errs", g.elem)
	}
	for i := range fusedVariables {
		g.assign(fmt.Sprint(i), g.leaf())
	}
	g.axpy = k.Name + "axpy"
	g.statements(0, g.r.between(4, 10))
	g.line("\tfor i := range v {\n\t\tout[%[1]d*n+i], bounds[%[1]d*n+i] = v[i], b[i].err\n\t}\n}", fusedVariables)
	k.Source = g.text.String()
	return k
}

// fusedVariables is how many floats a thread has.
const fusedVariables = 4

// fused is a kernel of NewFused that is being written.
type fused struct {
	r         random
	text      strings.Builder
	elem      string // the type of its floats
	unit      string // the unit roundoff of that type
	axpy      string // the name of a function
	exchanges bool   // threads exchange floats
}

// A bounded expression is a float and, as another expression, its bounds.
type boundedExpr struct{ value, bound string }

func (g *fused) line(format string, args ...any) { fmt.Fprintf(&g.text, format+"\n", args...) }

// assign sets a variable and its bounds at once: the expressions may have it as an operand.
func (g *fused) assign(variable string, e boundedExpr) {
	g.line("\tv[%s], b[%[1]s] = %s, %s", variable, e.value, e.bound)
}

// variable returns the index of a variable that every thread knows, or finds.
func (g *fused) variable() string {
	return pick(g.r, "0", "1", "2", "3", "0", "1", "2", "3", "n&3", "(n+1)&3")
}

// leaf returns a float that is exact.
func (g *fused) leaf() boundedExpr {
	x := fmt.Sprintf("tame(in[(n*%d+%d)%%len(in)])", g.r.between(1, 5), g.r.IntN(9))
	switch g.r.IntN(5) {
	case 0:
		x = "tame(c)"
	case 1:
		x = fmt.Sprintf("%s(n&%d)", g.elem, g.r.between(1, 15))
	case 2:
		x = fmt.Sprintf("%s(%d.%d)", g.elem, g.r.IntN(5), g.r.IntN(100))
	}
	return boundedExpr{x, fmt.Sprintf("exact(float64(%s))", x)}
}

// operand returns a variable, or rarely something exact.
func (g *fused) operand() boundedExpr {
	if g.r.oneIn(5) {
		return g.leaf()
	}
	i := g.variable()
	return boundedExpr{"v[" + i + "]", "b[" + i + "]"}
}

// expr returns an expression of sums and products.
func (g *fused) expr(depth int) boundedExpr {
	if depth == 0 {
		return g.operand()
	}
	x, y := g.expr(depth-1), g.expr(g.r.IntN(depth))
	plus, times := fmt.Sprintf("%s.plus(%s, %s)", x.bound, y.bound, g.unit), fmt.Sprintf("%s.times(%s, %s)", x.bound, y.bound, g.unit)
	switch g.r.IntN(12) {
	case 0, 1, 2:
		return boundedExpr{"(" + x.value + " + " + y.value + ")", plus}
	case 3, 4:
		return boundedExpr{"(" + x.value + " - " + y.value + ")", plus}
	case 5:
		return boundedExpr{g.elem + "(" + x.value + " * " + y.value + ")", times} // never fused by Go's rules
	case 6:
		return boundedExpr{"-(" + x.value + ")", x.bound}
	case 7:
		by := g.r.between(3, 9)
		return boundedExpr{fmt.Sprintf("(%s / %d)", x.value, by), fmt.Sprintf("%s.times(exact(1.0/%d), 2*%s)", x.bound, by, g.unit)}
	case 8:
		return boundedExpr{pick(g.r, "min", "max") + "(" + x.value + ", " + y.value + ")", fmt.Sprintf("%s.either(%s)", x.bound, y.bound)}
	}
	return boundedExpr{"(" + x.value + " * " + y.value + ")", times}
}

// sum returns what is most often written: a product and something else.
func (g *fused) sum() boundedExpr {
	x, y, z := g.operand(), g.operand(), g.expr(g.r.IntN(2))
	form := pick(g.r, "%s*%s + %s", "%s*%s - %s", "%[3]s - %[1]s*%[2]s", "-(%s * %s) + %s", "%[3]s + %[1]s*%[2]s", g.axpy+"(%s, %s, %s)")
	return boundedExpr{fmt.Sprintf(form, x.value, y.value, z.value), fmt.Sprintf("%s.times(%s, %s).plus(%s, %[3]s)", x.bound, y.bound, g.unit, z.bound)}
}

func (g *fused) statements(depth, n int) {
	for range n {
		g.statement(depth)
	}
}

// statement writes assignments, which all threads of a block make together unless they are in a condition.
func (g *fused) statement(depth int) {
	switch n := g.r.IntN(10); {
	case n == 0 && depth < 2:
		g.line("\tfor i := range %s {\n\t_ = i", pick(g.r, "2", "3", "n&3"))
		g.assign("i&3", g.sum())
		g.statements(2, g.r.IntN(2))
		g.line("\t}")
	case n == 1 && depth < 2:
		g.line("\tif n&%d == 0 {", g.r.between(1, 3))
		g.statements(2, g.r.between(1, 2))
		g.line("\t} else {")
		g.statements(2, g.r.IntN(3))
		g.line("\t}")
	case n == 2 && depth == 0 && g.exchanges:
		g.exchange()
	case n < 5:
		g.assign(g.variable(), g.expr(2))
	default:
		g.assign(g.variable(), g.sum())
	}
}

// exchange adds what another thread has, which that thread may have computed as a product.
func (g *fused) exchange() {
	e := g.expr(1)
	g.line("\t{\n\t\te, own := %s, %s", e.value, e.bound)
	if other := g.r.between(1, 31); g.r.oneIn(2) {
		g.line("\t\tshared[t.ThreadX()], errs[t.ThreadX()] = e, own\n\t\tt.Sync()")
		g.line("\t\te += shared[t.ThreadX()^%d]\n\t\town = own.plus(errs[t.ThreadX()^%[1]d], %[2]s)\n\t\tt.Sync()", other, g.unit)
	} else {
		g.line("\t\te += gpu.ShuffleXor(t, e, %d)", other)
		g.line("\t\town = own.plus(bounded{gpu.ShuffleXor(t, own.size, %d), gpu.ShuffleXor(t, own.err, %[1]d)}, %s)", other, g.unit)
	}
	g.line("\t\tv[0], b[0] = e, own\n\t}")
}
