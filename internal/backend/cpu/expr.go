package cpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// expr is a Go expression and how strongly its operator binds: the precedence of the language's
// specification, 6 for a unary operator, 7 for an operand.
type expr struct {
	text string
	prec int
}

func operand(format string, args ...any) expr { return expr{fmt.Sprintf(format, args...), 7} }

// at returns the text, in parentheses where an operator of the given precedence would cut it.
func (x expr) at(prec int) string {
	if x.prec < prec {
		return "(" + x.text + ")"
	}
	return x.text
}

// precedence of the binary operators.
var precedence = map[string]int{
	"*": 5, "/": 5, "%": 5, "<<": 5, ">>": 5, "&": 5,
	"+": 4, "-": 4, "|": 4, "^": 4,
	"==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
	"&&": 2, "||": 1,
}

func binary(op string, x, y expr) expr {
	p := precedence[op]
	return expr{x.at(p) + " " + op + " " + y.at(p+1), p}
}

// sum returns x+n.
func sum(x expr, n int64) expr {
	switch {
	case n == 0:
		return x
	case n < 0:
		return binary("-", x, operand("%d", -n))
	}
	return binary("+", x, operand("%d", n))
}

func convert(typ string, x expr) expr { return operand("%s(%s)", typ, x.text) }

// not returns the negation of a condition.
func not(x expr) expr {
	if rest, ok := strings.CutPrefix(x.text, "!"); ok && x.prec == 6 {
		return expr{rest, 7}
	}
	return expr{"!" + x.at(6), 6}
}

// typeName returns the Go type of values of type t; integers have a sign unless asked otherwise.
func (e *emitter) typeName(t *ir.Type, unsigned bool) string {
	var name string
	switch t.Kind {
	case ir.KindI1:
		return "bool"
	case ir.KindI8:
		name = "int8"
	case ir.KindI16:
		name = "int16"
	case ir.KindI32:
		name = "int32"
	case ir.KindI64:
		name = "int"
	case ir.KindF32:
		return "float32"
	case ir.KindF64:
		return "float64"
	case ir.KindPtr:
		return e.unsafe("Pointer")
	case ir.KindArray:
		return fmt.Sprintf("[%d]%s", t.Len, e.typeName(t.Elem, false))
	case ir.KindStruct:
		var fields []string
		for i, f := range t.Fields {
			fields = append(fields, fmt.Sprintf("f%d %s", i, e.typeName(f, false)))
		}
		return "struct{ " + strings.Join(fields, "; ") + " }"
	default:
		panic(fmt.Sprintf("BUG: cpu: a value of type %v", t))
	}
	if unsigned {
		return "u" + name
	}
	return name
}

// literal returns the constant v; as an unsigned number where asked for.
func (e *emitter) literal(v *ir.Value, unsigned bool) expr {
	switch t := v.Type; {
	case t.Kind == ir.KindI1:
		return operand("%t", v.Imm&1 == 1)
	case t.IsPtr():
		return operand("%s(nil)", e.unsafe("Pointer"))
	case t.IsInt() && unsigned:
		return operand("%d", uint64(layout.Truncated(v))<<(64-t.Bits())>>(64-t.Bits()))
	case t.IsInt():
		return number(layout.Truncated(v))
	case t.Kind == ir.KindF32:
		return e.float32Literal(uint32(v.Imm))
	}
	x := math.Float64frombits(uint64(v.Imm))
	if isPlain(x) {
		return signed(strconv.FormatFloat(x, 'g', -1, 64))
	}
	return operand("%s.Float64frombits(%#x)", e.imported("math"), uint64(v.Imm))
}

func (e *emitter) float32Literal(bits uint32) expr {
	x := math.Float32frombits(bits)
	if isPlain(float64(x)) {
		return signed(strconv.FormatFloat(float64(x), 'g', -1, 32))
	}
	return operand("%s.Float32frombits(%#x)", e.imported("math"), bits)
}

// isPlain reports whether a literal of Go has the value x.
func isPlain(x float64) bool {
	return x == x && !math.IsInf(x, 0) && !(x == 0 && math.Signbit(x))
}

func number(n int64) expr { return signed(strconv.FormatInt(n, 10)) }

func signed(text string) expr {
	if text[0] == '-' {
		return expr{text, 6}
	}
	return expr{text, 7}
}
