package jinja

import "strings"

// test applies a test to a value.
func (r *run) test(name string, x Value, a arguments) bool {
	switch name {
	case "defined", "undefined":
		_, is := x.(Undefined)
		return is == (name == "undefined")
	case "none":
		return x == nil
	case "true":
		return x == true
	case "false":
		return x == false
	case "boolean", "integer", "float", "number", "string", "mapping", "iterable", "sequence", "callable":
		return hasKind(name, x)
	case "odd":
		return r.integer(x, "the number")&1 == 1
	case "even":
		return r.integer(x, "the number")&1 == 0
	case "divisibleby":
		return r.integers("%", r.integer(x, "the number"), r.integer(a.get(0, "num", nil), "the divisor")) == int64(0)
	case "upper":
		return r.consists("isupper", r.str(x)) == true
	case "lower":
		return r.consists("islower", r.str(x)) == true
	case "sameas":
		y := a.get(0, "other", nil)
		return kindOf(x) == kindOf(y) && r.equal(x, y)
	}
	if op := comparisonOf(name); op != "" {
		return r.compare(op, x, a.get(0, "", nil))
	}
	r.fail("there is no test %q", name)
	return false
}

// comparisonOf returns the operator that a test stands for, or "".
func comparisonOf(name string) string {
	for _, names := range [...]string{"== eq equalto", "!= ne", "< lt lessthan", "<= le", "> gt greaterthan", ">= ge", "in in"} {
		if op, others, _ := strings.Cut(names, " "); name == op || strings.Contains(" "+others+" ", " "+name+" ") {
			return op
		}
	}
	return ""
}

// hasKind reports whether a value is of a kind.
func hasKind(name string, x Value) bool {
	switch x.(type) {
	case bool:
		return name == "boolean" || name == "number" // as in Python, but it is no integer
	case int64:
		return name == "integer" || name == "number"
	case float64:
		return name == "float" || name == "number"
	case string:
		return name == "string" || name == "iterable" || name == "sequence"
	case *List:
		return name == "iterable" || name == "sequence"
	case *Dict:
		return name == "mapping" || name == "iterable" || name == "sequence"
	case Undefined:
		return name == "iterable" || name == "sequence"
	case callable:
		return name == "callable"
	}
	return false
}
