package jinja

import (
	"math"
	"strings"
)

func (n sign) eval(r *run, s *scope) Value {
	switch v := numeric(r.eval(n.of, s)).(type) {
	case int64:
		if n.op == "-" {
			return -v
		}
		return v
	case float64:
		if n.op == "-" {
			return -v
		}
		return v
	default:
		r.fail("%s of a value of type %s", n.op, kindOf(v))
		return nil
	}
}

// numeric returns a bool as a number, and other values as they are.
func numeric(v Value) Value {
	if b, ok := v.(bool); ok {
		return toInt(b)
	}
	return v
}

func (a arithmetic) eval(r *run, s *scope) Value {
	left := r.eval(a.left, s)
	right := r.eval(a.right, s)
	if v, ok := r.combine(a.op, left, right); ok {
		return v
	}
	x, y := numeric(left), numeric(right)
	if m, ok := x.(int64); ok {
		if n, ok := y.(int64); ok {
			return r.integers(a.op, m, n)
		}
	}
	f, fine := toFloat(x)
	g, too := toFloat(y)
	if !fine || !too {
		for _, v := range []Value{left, right} {
			if u, ok := v.(Undefined); ok {
				r.fail("%q is undefined", u.Name)
			}
		}
		r.fail("%s of values of the types %s and %s", a.op, kindOf(left), kindOf(right))
	}
	return r.floats(a.op, f, g)
}

// toFloat returns a number as a floating-point number.
func toFloat(v Value) (float64, bool) {
	switch v := numeric(v).(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// combine applies an operator to strings and lists, and reports whether it can.
func (r *run) combine(op string, left, right Value) (Value, bool) {
	switch x := left.(type) {
	case string:
		switch y := right.(type) {
		case string:
			if op == "+" {
				r.bytes(len(x)+len(y), 0)
				return x + y, true
			}
		case int64, bool:
			if op == "*" {
				return r.repeat(x, numeric(y).(int64)), true
			}
		}
		if op == "%" {
			return r.percent(x, right), true
		}
	case *List:
		switch y := right.(type) {
		case *List:
			if op == "+" && x.tuple == y.tuple {
				r.elements(len(x.items)+len(y.items), 0)
				return &List{append(append(make([]Value, 0, len(x.items)+len(y.items)), x.items...), y.items...), x.tuple}, true
			}
		case int64, bool:
			if op == "*" {
				return r.repeatList(x, numeric(y).(int64)), true
			}
		}
	case int64, bool:
		switch right.(type) {
		case string, *List:
			if op == "*" {
				return r.combine(op, right, left)
			}
		}
	}
	return nil, false
}

// count returns how many times a string or a list is repeated.
func count(n int64) int { return int(max(0, min(n, mostAllocated+1))) }

func (r *run) repeat(s string, n int64) string {
	r.bytes(times(len(s), count(n)), 0)
	if s == "" {
		return ""
	}
	return strings.Repeat(s, count(n))
}

func (r *run) repeatList(l *List, n int64) *List {
	size := times(len(l.items), count(n))
	r.elements(size, 0)
	items := make([]Value, 0, size)
	for len(items) < size {
		items = append(items, l.items...)
	}
	return &List{items, l.tuple}
}

// integers applies an operator to integers. Python's have no limit; here, larger ones are an error.
func (r *run) integers(op string, m, n int64) Value {
	var v int64
	ok := true
	switch op {
	case "+":
		v = m + n
		ok = (v > m) == (n > 0)
	case "-":
		v = m - n
		ok = (v < m) == (n > 0)
	case "*":
		v = m * n
		ok = m == 0 || v/m == n && (m != -1 || n != math.MinInt64)
	case "**":
		if n < 0 {
			return r.floats(op, float64(m), float64(n))
		}
		v, ok = power(m, n)
	case "/":
		return r.floats(op, float64(m), float64(n))
	default:
		if n == 0 {
			r.fail("division by zero")
		}
		ok = n != -1 || m != math.MinInt64
		q, rest := m/n, m%n
		if rest != 0 && (rest < 0) != (n < 0) {
			q, rest = q-1, rest+n
		}
		v = q
		if op == "%" {
			v = rest
		}
	}
	if !ok {
		r.fail("the result of %d %s %d has more than 64 bits", m, op, n)
	}
	return v
}

// power returns m to the power of n, and reports whether it has at most 64 bits.
func power(m, n int64) (int64, bool) {
	if m == 0 || m == 1 || m == -1 {
		if n == 0 || m == -1 && n%2 == 0 {
			return 1, true
		}
		return m, true
	}
	v := int64(1)
	for ; n > 0; n-- {
		next := v * m
		if next/m != v {
			return 0, false
		}
		v = next
	}
	return v, true
}

// floats applies an operator to floating-point numbers.
func (r *run) floats(op string, x, y float64) Value {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		return math.Pow(x, y)
	}
	if y == 0 {
		r.fail("division by zero")
	}
	switch op {
	case "/":
		return x / y
	case "//":
		return math.Floor(x / y)
	}
	rest := math.Mod(x, y)
	if rest != 0 && (rest < 0) != (y < 0) {
		rest += y
	}
	return rest
}

// compare applies an operator of comparison.
func (r *run) compare(op string, left, right Value) bool {
	switch op {
	case "==":
		return r.equal(left, right)
	case "!=":
		return !r.equal(left, right)
	case "in":
		return r.contains(right, left)
	case "not in":
		return !r.contains(right, left)
	}
	c, ok := r.order(left, right)
	if !ok {
		r.fail("%s between values of the types %s and %s", op, kindOf(left), kindOf(right))
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// equal reports whether two values are equal.
func (r *run) equal(x, y Value) bool {
	switch x := x.(type) {
	case string:
		y, ok := y.(string)
		r.read(len(x))
		return ok && x == y
	case nil:
		return y == nil
	case Undefined:
		_, ok := y.(Undefined)
		return ok
	case *List:
		y, ok := y.(*List)
		if !ok || x.tuple != y.tuple || len(x.items) != len(y.items) {
			return false
		}
		r.enter()
		defer r.leave()
		for i := range x.items {
			if r.spend(1); !r.equal(x.items[i], y.items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		y, ok := y.(*Dict)
		return ok && r.equalDicts(x, y)
	case *namespace, *iteration, *macro:
		return x == y
	}
	if f, ok := toFloat(x); ok {
		g, ok := toFloat(y)
		m, isInt := numeric(x).(int64)
		if n, both := numeric(y).(int64); isInt && both {
			return m == n
		}
		return ok && f == g
	}
	return false
}

func (r *run) equalDicts(x, y *Dict) bool {
	if len(x.keys) != len(y.keys) {
		return false
	}
	r.enter()
	defer r.leave()
	for _, key := range x.keys {
		r.spend(1)
		v, _ := x.get(key)
		if w, ok := y.get(key); !ok || !r.equal(v, w) {
			return false
		}
	}
	return true
}

// order compares two values, and reports whether they have an order.
func (r *run) order(x, y Value) (int, bool) {
	r.spend(1)
	switch x := x.(type) {
	case string:
		if y, ok := y.(string); ok {
			r.read(min(len(x), len(y)))
			return strings.Compare(x, y), true
		}
	case *List:
		if y, ok := y.(*List); ok && x.tuple == y.tuple {
			return r.orderLists(x.items, y.items)
		}
	}
	m, isInt := numeric(x).(int64)
	if n, both := numeric(y).(int64); isInt && both {
		return sizeOrder(m, n), true
	}
	f, ok := toFloat(x)
	g, also := toFloat(y)
	return sizeOrder(f, g), ok && also
}

func sizeOrder[T int64 | float64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (r *run) orderLists(x, y []Value) (int, bool) {
	r.enter()
	defer r.leave()
	for i := range min(len(x), len(y)) {
		if !r.equal(x[i], y[i]) {
			return r.order(x[i], y[i])
		}
	}
	return len(x) - len(y), true
}

// contains reports whether a string, a list or a dictionary contains a value.
func (r *run) contains(x, v Value) bool {
	switch x := x.(type) {
	case string:
		part, ok := v.(string)
		if !ok {
			r.fail("a string cannot contain a value of type %s", kindOf(v))
		}
		r.read(len(x))
		return strings.Contains(x, part)
	case *Dict:
		if !isKey(v) {
			return false
		}
		_, ok := x.get(v)
		return ok
	case *List:
		for _, e := range x.items {
			if r.spend(1); r.equal(e, v) {
				return true
			}
		}
		return false
	case Undefined:
		return false
	}
	r.fail("in with a value of type %s", kindOf(x))
	return false
}

// iterate returns the elements of a value: those of a list, the keys of a dictionary, the characters of a string.
func (r *run) iterate(v Value) []Value {
	switch v := v.(type) {
	case *List:
		return v.items
	case *Dict:
		return v.keys
	case string:
		runes := r.runes(v)
		r.elements(len(runes), 0)
		r.allocate(len(runes) * bytesPerElement)
		list := make([]Value, len(runes))
		for i, c := range runes {
			list[i] = string(c)
		}
		return list
	case Undefined:
		return nil
	}
	r.fail("a value of type %s is no sequence", kindOf(v))
	return nil
}
