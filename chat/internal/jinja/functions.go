package jinja

import "slices"

// function returns a global function of Jinja, or nil.
func function(name string) callable {
	switch name {
	case "range":
		return builtin(numbers)
	case "namespace":
		return builtin(func(r *run, a arguments) Value { return &namespace{r.newDict(a)} })
	case "dict":
		return builtin(func(r *run, a arguments) Value { return r.newDict(a) })
	case "joiner":
		return builtin(joiner)
	case "cycler":
		return builtin(newCycler)
	}
	return nil
}

// integer returns an argument that must be an integer.
func (r *run) integer(v Value, what string) int64 {
	n, ok := numeric(v).(int64)
	if !ok {
		r.fail("%s is a value of type %s, not an integer", what, kindOf(v))
	}
	return n
}

// numbers is the function range.
func numbers(r *run, a arguments) Value {
	n := len(a.list)
	if n == 0 || n > 3 {
		r.fail("range needs one to three integers")
	}
	var v [3]int64
	for i, x := range a.list {
		v[i] = r.integer(x, "an argument of range")
	}
	begin, end, by := v[0], v[1], v[2]
	switch n {
	case 1:
		begin, end, by = 0, begin, 1
	case 2:
		by = 1
	}
	if by == 0 {
		r.fail("the step of range is 0")
	}
	var size uint64 // of unsigned numbers, the differences do not overflow
	switch {
	case by > 0 && begin < end:
		size = (uint64(end)-uint64(begin)-1)/uint64(by) + 1
	case by < 0 && begin > end:
		size = (uint64(begin)-uint64(end)-1)/-uint64(by) + 1
	}
	if size > mostElements {
		r.fail("range has more than %d elements", mostElements)
	}
	r.elements(int(size), 0)
	items := make([]Value, size)
	for i := range items {
		items[i] = begin + int64(i)*by
	}
	return &List{items: items}
}

// newDict returns a dictionary with the elements of another one, or of a list of pairs, and with named arguments.
func (r *run) newDict(a arguments) *Dict {
	d := NewDict()
	r.update(d, a)
	return d
}

// update sets keys of a dictionary.
func (r *run) update(d *Dict, a arguments) {
	switch from := a.get(0, "", nil).(type) {
	case nil:
	case *Dict:
		for _, key := range slices.Clone(from.keys) {
			v, _ := from.get(key)
			r.put(d, key, v)
		}
	default:
		for _, pair := range r.iterate(from) {
			p := r.iterate(pair)
			if len(p) != 2 {
				r.fail("a dictionary needs pairs of keys and values")
			}
			r.put(d, p[0], p[1])
		}
	}
	for _, name := range sortedNames(a.named) {
		r.put(d, name, a.named[name])
	}
}

// joiner returns a function that returns nothing at the first call, and then a separator.
func joiner(_ *run, a arguments) Value {
	separator := a.get(0, "sep", ", ")
	called := false
	return builtin(func(*run, arguments) Value {
		if !called {
			called = true
			return ""
		}
		return separator
	})
}

// cycler is an object that returns its items in turn.
type cycler struct {
	items []Value
	at    int
}

func newCycler(r *run, a arguments) Value {
	if len(a.list) == 0 {
		r.fail("cycler needs values")
	}
	return &cycler{items: a.list}
}

// method returns a method of a value, or nil.
func method(x Value, name string) Value {
	switch x := x.(type) {
	case string:
		if m := stringMethod(name); m != nil {
			return builtin(func(r *run, a arguments) Value { return m(r, x, a) })
		}
	case *List:
		if m := listMethod(name); m != nil {
			return builtin(func(r *run, a arguments) Value { return m(r, x, a) })
		}
	case *Dict:
		if m := dictMethod(name); m != nil {
			return builtin(func(r *run, a arguments) Value { return m(r, x, a) })
		}
	case *cycler:
		return x.attribute(name)
	}
	return nil
}

func (c *cycler) attribute(name string) Value {
	switch name {
	case "current":
		return c.items[c.at]
	case "next":
		return builtin(func(*run, arguments) Value {
			v := c.items[c.at]
			c.at = (c.at + 1) % len(c.items)
			return v
		})
	case "reset":
		return builtin(func(*run, arguments) Value {
			c.at = 0
			return nil
		})
	}
	return nil
}

// listMethod returns a method of lists, or nil.
func listMethod(name string) func(*run, *List, arguments) Value {
	switch name {
	case "append":
		return func(r *run, l *List, a arguments) Value { return r.insert(l, len(l.items), a.get(0, "", nil)) }
	case "insert":
		return func(r *run, l *List, a arguments) Value {
			n := int64(len(l.items))
			at := r.integer(a.get(0, "", nil), "the index")
			if at < 0 {
				at += n
			}
			return r.insert(l, int(max(0, min(at, n))), a.get(1, "", nil))
		}
	case "extend":
		return func(r *run, l *List, a arguments) Value {
			more := r.iterate(a.get(0, "", nil))
			r.elements(len(more), len(l.items)+len(more))
			l.items = append(slices.Clip(l.items), more...)
			return nil
		}
	case "pop":
		return func(r *run, l *List, a arguments) Value {
			i, ok := index(a.get(0, "", int64(-1)), len(l.items))
			if !ok {
				r.fail("pop from a list without this element")
			}
			v := l.items[i]
			r.elements(len(l.items), 0)
			l.items = slices.Delete(slices.Clone(l.items), i, i+1)
			return v
		}
	case "index":
		return func(r *run, l *List, a arguments) Value {
			i := slices.IndexFunc(l.items, func(v Value) bool { return r.equal(v, a.get(0, "", nil)) })
			if i < 0 {
				r.fail("the list does not contain the value")
			}
			return int64(i)
		}
	case "count":
		return func(r *run, l *List, a arguments) Value {
			n := int64(0)
			for _, v := range l.items {
				if r.spend(1); r.equal(v, a.get(0, "", nil)) {
					n++
				}
			}
			return n
		}
	}
	return nil
}

// insert inserts an element into a list.
func (r *run) insert(l *List, at int, v Value) Value {
	if l.tuple {
		r.fail("a tuple cannot be changed")
	}
	r.elements(1, len(l.items)+1)
	if at == len(l.items) {
		l.items = append(l.items, v)
		return nil
	}
	r.elements(len(l.items), 0)
	l.items = slices.Insert(slices.Clone(l.items), at, v)
	return nil
}

// dictMethod returns a method of dictionaries, or nil.
func dictMethod(name string) func(*run, *Dict, arguments) Value {
	switch name {
	case "items":
		return func(r *run, d *Dict, _ arguments) Value { return r.pairs(d) }
	case "keys":
		return func(r *run, d *Dict, _ arguments) Value {
			r.elements(len(d.keys), 0)
			return &List{items: slices.Clone(d.keys)}
		}
	case "values":
		return func(r *run, d *Dict, _ arguments) Value {
			r.elements(len(d.keys), 0)
			l := &List{}
			for _, key := range d.keys {
				v, _ := d.get(key)
				l.items = append(l.items, v)
			}
			return l
		}
	case "get":
		return func(_ *run, d *Dict, a arguments) Value { return d.find(a.get(0, "", nil), a.get(1, "default", nil)) }
	case "copy":
		return func(r *run, d *Dict, _ arguments) Value { return r.newDict(arguments{list: []Value{d}}) }
	case "update":
		return func(r *run, d *Dict, a arguments) Value {
			r.update(d, a)
			return nil
		}
	case "setdefault":
		return func(r *run, d *Dict, a arguments) Value {
			key := a.get(0, "", nil)
			if !isKey(key) || d.find(key, d) == d {
				r.put(d, key, a.get(1, "default", nil))
			}
			return d.find(key, nil)
		}
	case "pop":
		return func(r *run, d *Dict, a arguments) Value {
			key := a.get(0, "", nil)
			if v := d.find(key, d); v != d {
				r.spend(len(d.keys))
				d.remove(key)
				return v
			}
			if len(a.list) < 2 {
				r.fail("pop of a key that the dictionary does not have")
			}
			return a.list[1]
		}
	}
	return nil
}

// find returns the value of a key, or a default.
func (d *Dict) find(key, otherwise Value) Value {
	if isKey(key) {
		if v, ok := d.get(key); ok {
			return v
		}
	}
	return otherwise
}

// pairs returns the keys of a dictionary with their values.
func (r *run) pairs(d *Dict) *List {
	r.elements(3*len(d.keys), len(d.keys))
	l := &List{}
	for _, key := range d.keys {
		v, _ := d.get(key)
		l.items = append(l.items, &List{items: []Value{key, v}, tuple: true})
	}
	return l
}
