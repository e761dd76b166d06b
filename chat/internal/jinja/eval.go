package jinja

import "math"

func (c constant) eval(*run, *scope) Value     { return c.value }
func (v variable) eval(_ *run, s *scope) Value { return s.get(v.name) }

// all evaluates expressions.
func (r *run) all(list []expression, s *scope) []Value {
	r.elements(len(list), 0)
	values := make([]Value, len(list))
	for i, e := range list {
		values[i] = r.eval(e, s)
	}
	return values
}

// eval evaluates an expression within another one.
func (r *run) eval(e expression, s *scope) Value {
	r.enter()
	v := e.eval(r, s)
	r.leave()
	return v
}

func (q sequence) eval(r *run, s *scope) Value { return &List{r.all(q.items, s), q.tuple} }

func (d dictionary) eval(r *run, s *scope) Value {
	dict := NewDict()
	for i, key := range d.keys {
		r.put(dict, r.eval(key, s), r.eval(d.values[i], s))
	}
	return dict
}

func (a *attribute) eval(r *run, s *scope) Value { return r.attribute(r.eval(a.of, s), a.name) }

// attribute returns x.name: an attribute or a method, or otherwise an item.
func (r *run) attribute(x Value, name string) Value {
	switch x := x.(type) {
	case Undefined:
		r.fail("%q is undefined", x.Name)
	case *iteration:
		return x.attribute(name)
	case *namespace:
		if v, ok := x.get(name); ok {
			return v
		}
	case *macro:
		if name == "name" {
			return x.name
		}
	}
	if m := method(x, name); m != nil {
		return m
	}
	if d, ok := x.(*Dict); ok {
		if v, ok := d.get(name); ok {
			return v
		}
	}
	return Undefined{name}
}

func (i *item) eval(r *run, s *scope) Value { return r.item(r.eval(i.of, s), r.eval(i.key, s)) }

// item returns x[key]: an item, or otherwise an attribute or a method.
func (r *run) item(x, key Value) Value {
	switch x := x.(type) {
	case Undefined:
		r.fail("%q is undefined", x.Name)
	case *Dict:
		if isKey(key) {
			if v, ok := x.get(key); ok {
				return v
			}
		}
	case *List:
		if i, ok := index(key, len(x.items)); ok {
			return x.items[i]
		}
	case string:
		if i, ok := key.(int64); ok {
			return r.character(x, i)
		}
	}
	if name, ok := key.(string); ok {
		return r.attribute(x, name)
	}
	return Undefined{r.quoted(key)}
}

// quoted returns the beginning of a value, for a message.
func (r *run) quoted(v Value) string {
	s := r.repr(v)
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// index returns the index of an element of n, also if it counts from the end.
func index(v Value, n int) (int, bool) {
	i, ok := v.(int64)
	if b, isBool := v.(bool); isBool {
		i, ok = toInt(b), true
	}
	if i < 0 {
		i += int64(n)
	}
	return int(i), ok && i >= 0 && i < int64(n)
}

// character returns a character of a string.
func (r *run) character(s string, i int64) Value {
	runes := r.runes(s)
	if at, ok := index(i, len(runes)); ok {
		return string(runes[at])
	}
	return Undefined{"an index out of range"}
}

// runes returns the characters of a string.
func (r *run) runes(s string) []rune {
	r.bytes(times(len(s), 4), 0)
	return []rune(s)
}

func (c *slice) eval(r *run, s *scope) Value {
	x := r.eval(c.of, s)
	part := func(e expression, otherwise int) int {
		if e == nil {
			return otherwise
		}
		switch v := r.eval(e, s).(type) {
		case nil:
			return otherwise
		case int64:
			return int(max(min(v, mostAllocated), -mostAllocated))
		default:
			r.fail("a slice with an index of type %s", kindOf(v))
			return 0
		}
	}
	step := part(c.step, 1)
	if step == 0 {
		r.fail("the step of a slice is 0")
	}
	begin, end := 0, math.MaxInt
	if step < 0 {
		begin, end = math.MaxInt, math.MinInt
	}
	begin, end = part(c.begin, begin), part(c.end, end)
	switch x := x.(type) {
	case string:
		runes := r.runes(x)
		list := pick(runes, begin, end, step)
		r.bytes(len(list), 0)
		return string(list)
	case *List:
		r.elements(len(x.items), 0)
		return &List{pick(x.items, begin, end, step), x.tuple}
	case Undefined:
		r.fail("%q is undefined", x.Name)
	}
	r.fail("a slice of a value of type %s", kindOf(x))
	return nil
}

// pick returns the elements of a slice, as Python counts them.
func pick[T any](list []T, begin, end, step int) (picked []T) {
	n := len(list)
	place := func(i int) int {
		if i < 0 && i > math.MinInt {
			i = max(i+n, -1)
			if step > 0 {
				i = max(i, 0)
			}
		}
		if step < 0 {
			return max(min(i, n-1), -1)
		}
		return min(i, n)
	}
	begin, end = place(begin), place(end)
	for i := begin; step > 0 && i < end || step < 0 && i > end; i += step {
		picked = append(picked, list[i])
	}
	return picked
}

func (i *invocation) eval(r *run, s *scope) Value {
	f := r.eval(i.function, s)
	return r.call(f, i.arguments(r, s))
}

// call calls a function.
func (r *run) call(f Value, a arguments) Value {
	r.spend(1)
	switch f := f.(type) {
	case callable:
		return f.call(r, a)
	case Undefined:
		r.fail("%q is undefined", f.Name)
	}
	r.fail("a value of type %s is no function", kindOf(f))
	return nil
}

// arguments evaluates the arguments of a call.
func (o *operands) arguments(r *run, s *scope) arguments {
	a := arguments{list: r.all(o.list, s)}
	if o.spread != nil {
		more := r.iterate(r.eval(o.spread, s))
		r.elements(len(more), 0)
		a.list = append(a.list, more...)
	}
	if o.names == nil && o.spreadNamed == nil {
		return a
	}
	a.named = map[string]Value{}
	for i, name := range o.names {
		a.named[name] = r.eval(o.values[i], s)
	}
	if o.spreadNamed == nil {
		return a
	}
	d, ok := r.eval(o.spreadNamed, s).(*Dict)
	if !ok {
		r.fail("what follows ** is no dictionary")
	}
	r.elements(len(d.keys), 0)
	for _, key := range d.keys {
		name, ok := key.(string)
		if !ok {
			r.fail("the name of an argument is no string")
		}
		a.named[name], _ = d.get(key)
	}
	return a
}

func (f *filtered) eval(r *run, s *scope) Value {
	x := r.eval(f.of, s)
	return r.apply(f.name, x, f.arguments(r, s))
}

func (t *tested) eval(r *run, s *scope) Value {
	x := r.eval(t.of, s)
	return r.test(t.name, x, t.arguments(r, s))
}

func (n negated) eval(r *run, s *scope) Value { return !truthy(r.eval(n.of, s)) }

func (l logical) eval(r *run, s *scope) Value {
	if v := r.eval(l.left, s); truthy(v) == l.or {
		return v
	}
	return r.eval(l.right, s)
}

func (c conditional) eval(r *run, s *scope) Value {
	switch {
	case truthy(r.eval(c.condition, s)):
		return r.eval(c.then, s)
	case c.otherwise != nil:
		return r.eval(c.otherwise, s)
	}
	return Undefined{"the value of an if without else"}
}

func (c concatenation) eval(r *run, s *scope) Value {
	b := builder{w: &r.work}
	for _, e := range c.items {
		b.write(r.str(r.eval(e, s)))
	}
	return b.String()
}

func (c comparison) eval(r *run, s *scope) Value {
	left := r.eval(c.first, s)
	for i, op := range c.ops {
		right := r.eval(c.rest[i], s)
		if !r.compare(op, left, right) {
			return false
		}
		left = right
	}
	return true
}
