package progen

import "fmt"

// half returns an expression of a 16-bit float type.
func (g *gen) half(t *typ, depth int) string {
	switch g.r.IntN(4) {
	case 0:
		return g.choose(t, depth)
	case 1:
		return g.leaf(t)
	}
	return fmt.Sprintf("%sFrom32(float32(%s))", t.name, g.value(pick(g.r, floats...), depth))
}

// length returns the length or the capacity of a slice, sometimes.
func (g *gen) length() (string, bool) {
	if len(g.scope.slices) == 0 || !g.r.oneIn(4) {
		return "", false
	}
	return pick(g.r, "len", "len", "cap") + "(" + pick(g.r, g.scope.slices...).text + ")", true
}

// fromSlice returns an array made of a slice that is long enough.
func (g *gen) fromSlice(t *typ) (string, bool) {
	if t.kind != array || !g.r.oneIn(2) {
		return "", false
	}
	for _, s := range g.scope.slices {
		if s.elem != t.elem || s.own < t.length {
			continue
		}
		part := fmt.Sprintf("%s[own*%d : own*%d+%d]", s.text, s.own, s.own, s.own)
		return pick(g.r, t.name+"("+part+")", "*(*"+t.name+")("+part+")"), true
	}
	return "", false
}

// mathematics returns a call of a function of package math that is the same code on every machine, or exact.
func (g *gen) mathematics(t *typ, depth int) string {
	x := func() string { return "float64(" + g.value(t, depth) + ")" }
	text := ""
	switch g.r.IntN(13) {
	case 9:
		text = g.singles(depth)
	case 0:
		text = "copysign(" + x() + ", " + x() + ")"
	case 1:
		text = pick(g.r, "math.Max(", "math.Min(", "math.Dim(") + x() + ", " + x() + ")"
	case 2:
		text = "math.Mod(" + x() + ", " + x() + ")"
	case 3:
		text = "math.Cbrt(" + x() + ")"
	case 4:
		text = pick(g.r, "math.Atan(", "math.Tanh(") + x() + ")"
	case 5:
		text = fmt.Sprintf("math.Ldexp(%s, int(%s)%%100)", x(), g.simple())
	case 6:
		text = pick(g.r, "fraction(", "integral(") + x() + ")"
	case 7:
		text = "math.Float64frombits(" + g.value(typeUint64, depth) + ")"
	case 8:
		text = "math.Float32frombits(" + g.value(typeUint32, depth) + ")"
	default:
		text = pick(g.r, "math.Round(", "math.Sqrt(", "math.Abs(") + x() + ")"
	}
	return t.name + "(" + text + ")"
}

// singles returns a call of a function of package math32.
func (g *gen) singles(depth int) string {
	x := func() string { return "float32(" + g.value(typeFloat32, depth-1) + ")" }
	switch g.r.IntN(4) {
	case 0:
		return "math32." + pick(g.r, "Pow(", "Atan2(", "Hypot(", "Mod(", "Dim(") + x() + ", " + x() + ")"
	case 1:
		return "math32." + pick(g.r, "Floor(", "Round(", "Trunc(", "Sqrt(", "Rsqrt(") + x() + ")"
	}
	return "math32." + pick(g.r, "Exp(", "Exp2(", "Expm1(", "Log(", "Log2(", "Log1p(", "Sin(", "Cos(", "Tan(", "Tanh(", "Sinh(", "Asin(", "Atan(", "Cbrt(", "Erf(") + x() + ")"
}

// generic returns a call of a generic function, or a field of a generic type.
func (g *gen) generic(t *typ, depth int) string {
	u := g.r.scalarType()
	switch g.r.IntN(4) {
	case 0:
		return fmt.Sprintf("(pair[%s, %s]{%s, %s}).swap().Y", t.name, u.name, g.value(t, depth), g.value(u, depth))
	case 1:
		return fmt.Sprintf("fold[%s, %s[%s]]([3]%s{%s, %s})", t.name, pick(g.r, "sum", "middle"), t.name, t.name, g.value(t, depth), g.value(t, depth))
	case 2:
		if s, ok := g.ownSlice(t); ok {
			return pick(g.r, "total", "greatest") + "(" + s + ")"
		}
	}
	return g.choose(t, depth)
}

// word returns an integer that a function of the standard library or of package gpu makes.
func (g *gen) word(t *typ, depth int) string {
	a, b := func() string { return g.value(typeUint64, depth) }, func() string { return g.value(typeUint32, depth) }
	text := ""
	switch g.r.IntN(7) {
	case 0:
		text = fmt.Sprintf("bits.RotateLeft64(%s, int(%s))", a(), g.simple())
	case 1:
		text = fmt.Sprintf("bits.RotateLeft32(%s, %d)", b(), g.r.IntN(70)-35)
	case 2:
		text = pick(g.r, "productHigh(", "carry(", "borrow(") + a() + ", " + a() + ")"
	case 3:
		text = fmt.Sprintf("gpu.Philox4x32([4]uint32{%s, 1, uint32(id)}, [2]uint32{%s})[%s]", b(), b(), g.inRange(4))
	case 4:
		text = "bitsOf64(" + g.value(typeFloat64, depth) + ")"
	case 5:
		text = "bitsOf32(" + g.value(typeFloat32, depth) + ")"
	default:
		text = pick(g.r, "bits.Len8(", "bits.OnesCount8(", "bits.Reverse8(") + "uint8(" + b() + "))"
	}
	return t.name + "(" + text + ")"
}

// forward writes a goto that leaves statements out.
func (g *gen) forward() {
	label := g.name("G")
	g.line("{")
	g.inBlock(func() {
		g.line("if %s {", g.value(typeBool, 2))
		g.line("\tgoto %s", label)
		g.line("}")
		g.line("{")
		g.block(g.r.between(1, 3))
		g.line("}")
	})
	g.line("%s:", label)
	g.inBlock(g.assign)
	g.line("}")
}

// backward writes a loop of goto.
func (g *gen) backward() {
	label, n, rounds := g.name("G"), g.name("n"), g.trip()
	g.line("%s := 0", n)
	g.declare(n, typeInt, true)
	g.line("%s:", label)
	g.line("{")
	g.trips *= rounds
	g.block(g.r.between(1, 3))
	g.trips /= rounds
	g.line("}")
	g.line("if %s++; %s < %d && %s {", n, n, rounds, g.value(typeBool, 1))
	g.line("\tgoto %s", label)
	g.line("}")
}

// numbers are the types of operations of warps, atomics those of atomic operations.
var (
	numbers = []*typ{typeInt, typeInt32, typeInt64, typeUint, typeUint32, typeUint64}
	atomics = append([]*typ{typeInt8, typeInt16, typeUint8, typeUint16}, numbers...)
)

// ownAtomic changes an element that no other thread knows of by an atomic operation whose result counts.
func (g *gen) ownAtomic() {
	var found []slice
	for _, s := range g.scope.slices {
		if s.own > 0 && containsType(atomics, s.elem) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		g.opAssign()
		return
	}
	s := pick(g.r, found...)
	t, name := s.elem, g.name("v")
	at, x := "&"+s.text+"["+g.sliceIndex(s)+"]", g.expr(s.elem, 2)
	order := pick(g.r, "", "", ", gpu.Sequential", ", gpu.AcquireRelease, gpu.SystemScope", ", gpu.Relaxed, gpu.BlockScope")
	switch g.r.IntN(6) {
	case 0:
		g.line("%s, %sok := gpu.AtomicCompareAndSwap(%s, %s, %s%s)", name, name, at, x, g.expr(t, 1), order)
		g.line("_ = %sok", name)
		g.declare(name+"ok", typeBool, false)
	case 1:
		g.line("gpu.AtomicStore(%s, %s)", at, x)
		g.line("%s := gpu.AtomicLoad(%s)", name, at)
	case 2:
		g.goAtomic(t, name, at, x)
	default:
		g.line("%s := gpu.Atomic%s(%s, %s%s)", name, pick(g.r, "Add", "Sub", "Min", "Max", "And", "Or", "Xor", "Exchange"), at, x, order)
	}
	g.line("_ = %s", name)
	g.declare(name, t, false)
}

// goAtomic does it by package sync/atomic.
func (g *gen) goAtomic(t *typ, name, at, x string) {
	suffix := map[*typ]string{typeInt32: "Int32", typeInt64: "Int64", typeUint32: "Uint32", typeUint64: "Uint64"}[t]
	if suffix == "" {
		g.line("%s := gpu.AtomicExchange(%s, %s)", name, at, x)
		return
	}
	g.line("%s := atomic.%s%s(%s, %s)", name, pick(g.r, "Add", "Swap", "And", "Or"), suffix, at, x)
}

func containsType(list []*typ, t *typ) bool {
	for _, u := range list {
		if u == t {
			return true
		}
	}
	return false
}

// assert writes an assertion, or a panic with a number, in kernels that may fault.
func (g *gen) assert() {
	if !g.faulty {
		g.assign()
		return
	}
	if g.r.oneIn(2) {
		g.line("gpu.Assert(%s, \"an assertion\")", g.value(typeBool, 2))
		return
	}
	g.line("if %s {", g.value(typeBool, 2))
	g.line("\tpanic(%s)", g.leaf(pick(g.r, integers...)))
	g.line("}")
}
