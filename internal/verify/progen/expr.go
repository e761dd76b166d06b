package progen

import (
	"fmt"
	"strings"
)

// expr returns an expression of type t that may be a constant.
func (g *gen) expr(t *typ, depth int) string {
	if t.number() && g.r.oneIn(5) {
		return g.literal(t)
	}
	return g.value(t, depth)
}

// value returns an expression of type t that is not a constant: Go computes those exactly and
// refuses the ones that do not fit.
func (g *gen) value(t *typ, depth int) string {
	if depth <= 0 || g.r.oneIn(6) {
		return g.leaf(t)
	}
	if t.number() && g.r.oneIn(9) { // a constant, though not for the language
		return "same(" + g.literal(t) + ")"
	}
	switch t.kind {
	case boolean:
		return g.boolean(depth - 1)
	case float:
		return g.float(t, depth-1)
	case signed, unsigned:
		return g.integer(t, depth-1)
	case half:
		return g.half(t, depth-1)
	case array, structure:
		return g.composite(t, depth-1)
	}
	panic("BUG: progen: kind of " + t.name)
}

// leaf returns a variable, a part of one, an element of a slice, or a conversion of one of another type.
func (g *gen) leaf(t *typ) string {
	if g.r.oneIn(3) {
		if text, ok := g.element(t); ok {
			return text
		}
	}
	if p, ok := g.find(is(t), false); ok {
		return p.text
	}
	switch t.kind {
	case boolean:
		return "(" + g.leaf(typeInt) + " > 3)"
	case half:
		return t.name + "From32(float32(" + g.leaf(typeInt) + "))"
	case float:
		return t.name + "(" + g.leaf(typeInt) + ")"
	case signed, unsigned:
		if text, ok := g.length(); ok {
			return t.name + "(" + text + ")"
		}
		return t.name + "(" + g.leaf(typeInt) + ")"
	}
	return g.composite(t, 0)
}

// element returns an element of a slice of type t.
func (g *gen) element(t *typ) (string, bool) {
	var found []string
	for _, s := range g.scope.slices {
		if s.elem == t {
			found = append(found, s.text+"["+g.sliceIndex(s)+"]")
		}
		if s.elem.kind == structure {
			for i, f := range s.elem.fields {
				if f == t {
					found = append(found, fmt.Sprintf("%s[%s].F%d", s.text, g.sliceIndex(s), i))
				}
			}
		}
	}
	if len(found) == 0 {
		return "", false
	}
	return pick(g.r, found...), true
}

// literal returns a constant of type t.
func (g *gen) literal(t *typ) string {
	if t.kind == float {
		return t.name + "(" + pick(g.r, "0", "1", "-1", "0.5", "1.5", "2.5", "-0.5", "3.25", "-7.75", "0.1", "3", "1e10", "-1e-10", "123456.789", "1e30", "1e-30", "2.5e-38", "0x1p-127", "0x1p127", "0x1p24", "16777217") + ")"
	}
	low, high := int64(0), int64(1)<<(t.bits-1)-1
	if t.kind == signed {
		low = -high - 1
	}
	n := pick(g.r, 0, 1, 2, 3, 5, 7, 8, 10, 100, int64(g.r.IntN(1000)), g.r.Int64()>>g.r.IntN(63), low, high, high-1, low+1)
	switch g.r.IntN(12) {
	case 0: // at the edges of other types, and where floats round
		n = pick[int64](g.r, 127, 128, 255, 256, 1<<15, 1<<16-1, 1<<24+1, 1<<31-1, 1<<31, 1<<32-1, 1<<32, 1<<33-1, 1<<53+1, 1<<62+1<<38+1)
	case 1:
		n = -int64(g.r.IntN(50))
	}
	if t.bits < 64 && n > high {
		n &= high
	}
	n = min(max(n, low), high)
	if t.kind == unsigned && g.r.oneIn(8) { // the upper half of the numbers without sign
		return fmt.Sprintf("%s(%d)", t.name, uint64(n)+uint64(high)+1)
	}
	return fmt.Sprintf("%s(%d)", t.name, n)
}

func (g *gen) composite(t *typ, depth int) string {
	if !g.r.oneIn(4) {
		if p, ok := g.find(is(t), false); ok {
			return p.text
		}
	}
	if text, ok := g.fromSlice(t); ok {
		return text
	}
	var parts []string
	if t.kind == array {
		for range t.length {
			parts = append(parts, g.expr(t.elem, depth))
		}
	}
	for _, f := range t.fields {
		parts = append(parts, g.expr(f, depth))
	}
	return t.name + "{" + strings.Join(parts, ", ") + "}"
}

func (g *gen) boolean(depth int) string {
	switch g.r.IntN(9) {
	case 5:
		f := pick(g.r, floats...)
		return fmt.Sprintf("%s(float64(%s))", pick(g.r, "math.IsNaN", "negative", "infinite"), g.value(f, depth))
	case 0:
		return "!(" + g.value(typeBool, depth) + ")"
	case 1:
		return "(" + g.value(typeBool, depth) + " && " + g.value(typeBool, depth) + ")"
	case 2:
		return "(" + g.value(typeBool, depth) + " || " + g.value(typeBool, depth) + ")"
	case 3:
		return "(" + g.value(typeBool, depth) + pick(g.r, " == ", " != ") + g.value(typeBool, depth) + ")"
	case 4:
		if a, ok := g.find(func(t *typ) bool { return !t.scalar() && t.comparable() }, false); ok {
			return "(" + a.text + pick(g.r, " == ", " != ") + "(" + g.value(a.typ, 1) + "))"
		}
	}
	t := pick(g.r, integers...)
	if g.r.oneIn(3) {
		t = pick(g.r, floats...)
	}
	return "(" + g.value(t, depth) + pick(g.r, " < ", " <= ", " > ", " >= ", " == ", " != ") + g.expr(t, depth) + ")"
}

func (g *gen) float(t *typ, depth int) string {
	x := func() string { return g.value(t, depth) }
	switch g.r.IntN(22) {
	case 13:
		op := pick(g.r, " + ", " - ", " * ", " / ")
		return fmt.Sprintf("%s(float32(float64(float32(%s))%sfloat64(%s)))", t.name, x(), op, pick(g.r, "0.1", "3", "1e-3", "7.3", "0.5"))
	case 12:
		return t.name + "(" + pick(g.r, "minusZero()", "math.NaN()", "math.Inf(1)", "math.Inf(-1)", "minusZero()") + ")"
	case 9:
		return g.mathematics(t, depth)
	case 10:
		return g.generic(t, depth)
	case 11:
		if p, ok := g.find(func(t *typ) bool { return t.kind == half }, false); ok {
			return t.name + "(" + p.text + ".Float32())"
		}
		return g.leaf(t)
	case 8:
		return fmt.Sprintf("%s(dtype.%sFrom32(float32(%s)).Float32())", t.name, pick(g.r, "F16", "BF16", "F16", "BF16", "F8E4M3", "F8E5M2"), x())
	case 0:
		return "(-" + x() + ")"
	case 1:
		return pick(g.r, "min", "max") + "(" + x() + ", " + g.expr(t, depth) + ")"
	case 2:
		return t.name + "(math." + pick(g.r, "Sqrt", "Abs", "Floor", "Ceil", "Trunc", "RoundToEven") + "(float64(" + x() + ")))"
	case 3:
		return t.name + "(" + g.value(pick(g.r, integers...), depth) + ")"
	case 4:
		return t.name + "(" + g.value(pick(g.r, floats...), depth) + ")"
	case 5:
		return g.call(t, depth)
	case 6:
		return g.choose(t, depth)
	case 7:
		return fmt.Sprintf("%s(math.FMA(float64(%s), float64(%s), float64(%s)))", t.name, x(), x(), x())
	default:
		return "(" + x() + pick(g.r, " + ", " - ", " * ", " / ") + g.expr(t, depth) + ")"
	}
}

func (g *gen) integer(t *typ, depth int) string {
	x := func() string { return g.value(t, depth) }
	switch g.r.IntN(23) {
	case 12:
		return g.generic(t, depth)
	case 13:
		return g.word(t, depth)
	case 0:
		return pick(g.r, "(-", "(^") + x() + ")"
	case 1:
		if g.r.oneIn(4) {
			return pick(g.r, "min", "max") + "(" + x() + ", " + g.expr(t, depth) + ", " + x() + ")"
		}
		return pick(g.r, "min", "max") + "(" + x() + ", " + g.expr(t, depth) + ")"
	case 2, 3:
		return g.quotient(t, depth)
	case 4, 5:
		return g.shift(t, depth)
	case 6, 7:
		return t.name + "(" + g.value(pick(g.r, integers...), depth) + ")"
	case 8:
		f := pick(g.r, floats...)
		return fmt.Sprintf("%sOf%s(%s)", t.name, f.name, g.value(f, depth))
	case 9:
		return g.call(t, depth)
	case 10:
		return g.choose(t, depth)
	case 11:
		return g.bits(t, depth)
	default:
		return "(" + x() + pick(g.r, " + ", " - ", " * ", " & ", " | ", " ^ ", " &^ ") + g.expr(t, depth) + ")"
	}
}

// quotient returns a division or a remainder, rarely by what may be zero.
func (g *gen) quotient(t *typ, depth int) string {
	by := "(" + g.value(t, depth) + " | 1)"
	if g.r.oneIn(4) {
		by = fmt.Sprintf("%s(%d)", t.name, pick(g.r, 1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 14, 16, 28, 100, 107, 127))
		if g.r.oneIn(3) {
			by = g.divisor(t)
		}
	} else if g.mayFault() {
		by = g.value(t, depth)
	}
	return "(" + g.value(t, depth) + pick(g.r, " / ", " % ") + by + ")"
}

// divisor returns a constant that is not 0, of any size.
func (g *gen) divisor(t *typ) string {
	n := g.r.Int64()>>(64-t.bits)>>g.r.IntN(t.bits-1) | 1
	if g.r.oneIn(2) {
		n += n & (1<<(t.bits-2) - 1) // even
	}
	if n &= 1<<(t.bits-1) - 1; n == 0 {
		n = 2
	}
	if t.kind == unsigned {
		if g.r.oneIn(4) {
			return fmt.Sprintf("%s(%d)", t.name, uint64(n)+uint64(1)<<(t.bits-1))
		}
	} else if g.r.oneIn(3) {
		n = -n
	}
	return fmt.Sprintf("%s(%d)", t.name, n)
}

// shift returns a shift by any count, rarely by one that may be negative.
func (g *gen) shift(t *typ, depth int) string {
	by := fmt.Sprint(g.r.IntN(t.bits + 2))
	switch {
	case g.r.oneIn(3):
		by = g.value(pick(g.r, integers...), depth) + " & " + pick(g.r, "7", "15", "31", "63", "127")
	case g.r.oneIn(2):
		u := pick(g.r, integers...)
		if u.kind == unsigned || g.mayFault() {
			by = g.value(u, depth)
		}
	}
	return "(" + g.value(t, depth) + pick(g.r, " << ", " >> ") + "(" + by + "))"
}

func (g *gen) bits(t *typ, depth int) string {
	x := pick(g.r, typeUint32, typeUint64, typeUint8, typeUint16)
	f := pick(g.r, "LeadingZeros", "TrailingZeros", "OnesCount", "Len", "Reverse")
	if x.bits >= 16 && g.r.oneIn(5) {
		f = "ReverseBytes"
	}
	return fmt.Sprintf("%s(bits.%s%d(%s))", t.name, f, x.bits, g.value(x, depth))
}

// choose calls a generic function.
func (g *gen) choose(t *typ, depth int) string {
	return fmt.Sprintf("choose(%s, %s, %s)", g.value(typeBool, depth), g.value(t, depth), g.value(t, depth))
}

// call calls one of the kernel's functions that return t, or is a variable.
func (g *gen) call(t *typ, depth int) string {
	for _, f := range g.functions {
		if f.result == t && f.second == nil && !g.r.oneIn(3) {
			return f.call(g.values(f.params, min(depth, 1)))
		}
	}
	return g.leaf(t)
}

// mayFault reports whether an operation that may fault may be written: in few kernels, and
// once in a statement, because Go leaves open which of two faults comes first.
func (g *gen) mayFault() bool {
	if !g.faulty || g.risk > 0 || !g.r.oneIn(3) {
		return false
	}
	g.risk++
	return true
}

// arrayIndex returns an index of an array of length n.
func (g *gen) arrayIndex(n int) string {
	if !g.quiet && g.mayFault() {
		return g.simple()
	}
	return g.inRange(n)
}

// inRange returns an index that is less than n.
func (g *gen) inRange(n int) string {
	switch {
	case g.quiet || g.r.oneIn(3):
		return fmt.Sprint(g.r.IntN(n))
	case n&(n-1) == 0:
		return fmt.Sprintf("%s&%d", g.simple(), n-1)
	}
	return fmt.Sprintf("uint(%s)%%%d", g.simple(), n)
}

// simple returns an integer variable, for an index.
func (g *gen) simple() string {
	g.quiet = true
	defer func() { g.quiet = false }()
	if p, ok := g.find(isInteger, false); ok {
		return p.text
	}
	return "id"
}

// sliceIndex returns an index of a slice: one of the thread's own elements, where
// threads write it.
func (g *gen) sliceIndex(s slice) string {
	if s.own == 1 {
		return "own"
	}
	if s.own > 0 {
		return fmt.Sprintf("own*%d+int(%s)", s.own, g.inRange(s.own))
	}
	if g.mayFault() {
		return g.simple()
	}
	return fmt.Sprintf("uint(%s)%%uint(len(%s))", g.simple(), s.text)
}
