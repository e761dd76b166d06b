package frontend

import (
	"fmt"
	"go/types"
	"math"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// message is a format with its arguments: numbers and booleans. Constants stand in the format
// already.
type message struct {
	format string
	types  []dtype.Type
	args   []ssa.Value
}

// formatted puts args into format, as far as they are known, and says what is wrong with
// it, if anything.
func formatted(format string, args []ssa.Value) (message, string) {
	var m message
	var out strings.Builder
	for {
		text, rest, found := strings.Cut(format, "%")
		out.WriteString(text)
		if !found {
			break
		}
		verb, tail := cutVerb(rest)
		format = tail
		if verb == "%" {
			out.WriteString("%%")
			continue
		}
		if verb == "" || strings.ContainsAny(verb, "*[") {
			return m, fmt.Sprintf("the format has %%%s, which kernels do not support", verb)
		}
		if len(args) == 0 {
			return m, fmt.Sprintf("the format has %%%s without an argument", verb)
		}
		piece, problem := m.add(verb, args[0])
		if problem != "" {
			return m, problem
		}
		out.WriteString(piece)
		args = args[1:]
	}
	if len(args) > 0 {
		return m, fmt.Sprintf("the format has no verb for %d of the arguments", len(args))
	}
	m.format = out.String()
	return m, ""
}

// cutVerb cuts the flags, the width and the letter off what is after a percent sign.
func cutVerb(s string) (verb, rest string) {
	n := len(s) - len(strings.TrimLeft(s, "+-# 0123456789.*[]"))
	for i := range s[n:] {
		if i > 0 {
			return s[:n+i], s[n+i:]
		}
	}
	return s, ""
}

// add takes the argument a of a verb and returns what stands for it in the format.
func (m *message) add(verb string, a ssa.Value) (piece, problem string) {
	letter := rune(verb[len(verb)-1])
	if s, ok := constString(a); ok {
		return quoteFormat(fmt.Sprintf("%"+verb, s)), wrongVerb(letter, "svqxX", verb, a)
	}
	typ, ok := elementOf(a.Type())
	if !ok {
		return "", fmt.Sprintf("an argument has type %s; only numbers, booleans and constant strings can be printed", types.TypeString(a.Type(), shortName))
	}
	if name := formatMethod(a.Type()); name != "" {
		return "", fmt.Sprintf("an argument has the method %s, which kernels do not call", name)
	}
	if problem := wrongVerb(letter, verbsOf(a.Type()), verb, a); problem != "" {
		return "", problem
	}
	if c, ok := a.(*ssa.Const); ok {
		return quoteFormat(fmt.Sprintf("%"+verb, constantOf(c))), ""
	}
	m.types, m.args = append(m.types, typ), append(m.args, a)
	return "%" + verb, ""
}

// addPlain adds an argument of print or println.
func (m *message) addPlain(a ssa.Value) (problem string) {
	if s, ok := constString(a); ok {
		m.format += quoteFormat(s)
		return ""
	}
	typ, ok := elementOf(a.Type().Underlying())
	if !ok {
		return fmt.Sprintf("an argument has type %s; only numbers, booleans and constant strings can be printed", types.TypeString(a.Type(), shortName))
	}
	if c, ok := a.(*ssa.Const); ok {
		m.format += quoteFormat(fmt.Sprint(constantOf(ssa.NewConst(c.Value, c.Type().Underlying()))))
		return ""
	}
	m.format += "%v"
	m.types, m.args = append(m.types, typ), append(m.args, a)
	return ""
}

// constantOf returns the number or boolean c as package fmt would be given it, but for the width
// of integers, which it does not show.
func constantOf(c *ssa.Const) any {
	t, _ := irType(c.Type())
	bits := constBits(t, c.Value)
	switch e, _ := smallFloat(c.Type()); e {
	case dtype.Float16:
		return dtype.F16(bits)
	case dtype.BFloat16:
		return dtype.BF16(bits)
	case dtype.Float8E4M3:
		return dtype.F8E4M3(bits)
	case dtype.Float8E5M2:
		return dtype.F8E5M2(bits)
	}
	switch {
	case t.Kind == ir.KindI1:
		return bits != 0
	case t.Kind == ir.KindF32:
		return math.Float32frombits(uint32(bits))
	case t.Kind == ir.KindF64:
		return math.Float64frombits(uint64(bits))
	case isUnsigned(c.Type()):
		return uint64(bits) << (64 - t.Bits()) >> (64 - t.Bits())
	}
	return bits
}

func verbsOf(t types.Type) string {
	_, small := smallFloat(t)
	switch {
	case small:
		return "veEfFgGxXb"
	case isInteger(t):
		return "vdboOxXcqU"
	case isFloat(t):
		return "veEfFgGxXb"
	}
	return "vt"
}

func wrongVerb(letter rune, allowed, verb string, a ssa.Value) string {
	if strings.ContainsRune(allowed, letter) {
		return ""
	}
	return fmt.Sprintf("the format has %%%s for an argument of type %s", verb, types.TypeString(a.Type(), shortName))
}

// formatMethod returns the method of t by which package fmt would print it, but for types
// whose values the host prints.
func formatMethod(t types.Type) string {
	if _, ok := smallFloat(t); ok {
		return ""
	}
	set := types.NewMethodSet(t)
	for _, name := range []string{"Format", "Error", "String"} {
		if set.Lookup(nil, name) != nil {
			return name
		}
	}
	return ""
}

// quoteFormat returns a format that prints s.
func quoteFormat(s string) string { return strings.ReplaceAll(s, "%", "%%") }
