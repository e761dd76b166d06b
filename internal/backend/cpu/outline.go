package cpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A loop is moved to a separate function if the number of variables that it takes is within these
// limits. Go has 13 registers for them on amd64.
const (
	maxOutlined = 24
	minOutlined = 6
)

// outline writes the loop over a row of a region's threads as a separate function and returns its call.
// Go's compiler allocates the registers to all variables of a function, so variables of the rest of the
// twin would displace those of the loop.
func (e *emitter) outline(g *layout.Region, lines []line) []line {
	if g.Leaves || e.assigns || e.leftBefore(g) || e.Warps && !e.loops(g) {
		return lines
	}
	outer := e.outerNames(lines)
	if len(outer) > maxOutlined || len(outer) < minOutlined && len(e.List) == 1 {
		return lines
	}
	key := [2]any{"function", g}
	if e.names[key] == "" {
		e.names[key] = e.o.Declare(e.o.Func + "Row")
	}
	name := e.names[key]
	var params []string
	for _, o := range outer {
		params = append(params, o+" "+e.types[o])
	}
	result, faults := "", slices.ContainsFunc(lines, func(l line) bool { return l.text == "return" })
	if faults {
		result = " (ok bool)"
	}
	at := firstPlace(lines)
	e.functions = append(e.functions, line{}, line{text: fmt.Sprintf("// %s is what a row of threads does in %s.", name, e.o.Func)})
	e.functions = append(e.functions, line{text: fmt.Sprintf("func %s(%s)%s {", name, strings.Join(params, ", "), result), pos: at})
	for _, l := range lines {
		if l.text == "return" {
			l.text = "return false"
		}
		e.functions = append(e.functions, l)
	}
	if faults {
		e.functions = append(e.functions, line{text: "return true"})
	}
	e.functions = append(e.functions, line{text: "}"})
	call := fmt.Sprintf("%s(%s)", name, strings.Join(outer, ", "))
	if !faults {
		return []line{{text: call, pos: at}}
	}
	return []line{{text: fmt.Sprintf("if !%s {", call), pos: at}, {text: "return"}, {text: "}"}}
}

// outerNames returns the variables of the launch and the block that stand in lines, in the order
// in which they come, those after all others that only faults show.
func (e *emitter) outerNames(lines []line) []string {
	var names []string
	first := map[string]int{}
	for name := range e.types {
		for i, l := range lines {
			if !usesWord([]line{l}, name) {
				continue
			}
			if _, found := first[name]; !found {
				names = append(names, name)
			}
			first[name] = i
			if !e.isFault(l) {
				break
			}
			first[name] += len(lines)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(first[a], first[b]), strings.Compare(a, b)) })
	return names
}

// isFault reports whether l is the call that records a fault.
func (e *emitter) isFault(l line) bool {
	name := e.names["blocks"]
	return strings.HasPrefix(l.text, name+".Fault(") || strings.HasPrefix(l.text, name+".OutOfRange(")
}

// firstPlace returns the first position of lines.
func firstPlace(lines []line) ir.Pos {
	for _, l := range lines {
		if l.pos.Known() {
			return l.pos
		}
	}
	return ir.Pos{}
}
