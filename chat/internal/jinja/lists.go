package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// path returns x.a.b for the attribute "a.b". Parts that are numbers are indices.
func (r *run) path(x, attribute Value) Value {
	if attribute == nil {
		return x
	}
	name, ok := attribute.(string)
	if !ok {
		return r.item(x, attribute)
	}
	for _, part := range strings.Split(name, ".") {
		r.spend(1)
		if i, err := strconv.ParseInt(part, 10, 64); err == nil {
			x = r.item(x, i)
		} else {
			x = r.item(x, part)
		}
	}
	return x
}

// attributes returns an attribute of each element.
func (r *run) attributes(list []Value, attribute Value) []Value {
	if attribute == nil {
		return list
	}
	r.elements(len(list), 0)
	values := make([]Value, len(list))
	for i, x := range list {
		values[i] = r.path(x, attribute)
	}
	return values
}

// mapped is the filter map, with an attribute or a filter.
func (r *run) mapped(list []Value, a arguments) Value {
	r.elements(len(list), 0)
	values := make([]Value, len(list))
	attribute, ok := a.named["attribute"]
	for i, x := range list {
		r.spend(1)
		switch {
		case ok:
			values[i] = r.path(x, attribute)
			if _, undefined := values[i].(Undefined); undefined {
				values[i] = a.get(len(a.list), "default", values[i])
			}
		case len(a.list) > 0:
			values[i] = r.apply(r.str(a.list[0]), x, arguments{a.list[1:], a.named})
		default:
			r.fail("map needs a filter or an attribute")
		}
	}
	return &List{items: values}
}

// chosen is the filters select, reject, selectattr and rejectattr.
func (r *run) chosen(name string, list []Value, a arguments) Value {
	var attribute Value
	if strings.HasSuffix(name, "attr") {
		if len(a.list) == 0 {
			r.fail("%s needs an attribute", name)
		}
		attribute, a.list = a.list[0], a.list[1:]
	}
	want := strings.HasPrefix(name, "select")
	l := &List{}
	for _, x := range list {
		r.spend(1)
		v := r.path(x, attribute)
		ok := truthy(v)
		if len(a.list) > 0 {
			ok = r.test(r.str(a.list[0]), v, arguments{a.list[1:], a.named})
		}
		if ok == want {
			r.elements(1, len(l.items)+1)
			l.items = append(l.items, x)
		}
	}
	return l
}

// ordered applies a filter that compares the elements of a sequence.
func (r *run) ordered(name string, x Value, a arguments) Value {
	switch name {
	case "dictsort":
		d, ok := x.(*Dict)
		if !ok {
			r.fail("dictsort of a value of type %s", kindOf(x))
		}
		by := int64(0)
		if a.get(1, "by", "key") == "value" {
			by = 1
		}
		return r.sorted(r.pairs(d).items, by, !truthy(a.get(0, "case_sensitive", false)), truthy(a.get(2, "reverse", false)))
	case "sort":
		return r.sorted(r.copied(x), a.get(2, "attribute", nil), !truthy(a.get(1, "case_sensitive", false)), truthy(a.get(0, "reverse", false)))
	case "groupby":
		return r.groups(x, a)
	case "unique":
		return r.unique(r.iterate(x), a)
	}
	fold := !truthy(a.get(0, "case_sensitive", false))
	list := r.sorted(r.copied(x), a.get(1, "attribute", nil), fold, false).items
	if name == "min" {
		return element(list, 0)
	}
	return element(list, len(list)-1)
}

// sorted sorts a list of its own by an attribute, and without regard to the case of letters if fold is set.
func (r *run) sorted(list []Value, attribute Value, fold, reverse bool) *List {
	keys := r.sortKeys(list, attribute, fold)
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		c, ok := r.order(keys[i], keys[j])
		if !ok {
			r.fail("values of the types %s and %s have no order", kindOf(keys[i]), kindOf(keys[j]))
		}
		if reverse {
			return -c
		}
		return c
	})
	r.elements(2*len(list), len(list))
	l := &List{items: make([]Value, len(list))}
	for i, from := range order {
		l.items[i] = list[from]
	}
	return l
}

// sortKeys returns what the elements of a list are compared by.
func (r *run) sortKeys(list []Value, attribute Value, fold bool) []Value {
	r.elements(len(list), 0)
	keys := make([]Value, len(list))
	names, several := attribute.(string)
	for i, x := range list {
		if several && strings.Contains(names, ",") {
			l := &List{}
			for _, name := range strings.Split(names, ",") {
				l.items = append(l.items, r.folded(r.path(x, strings.TrimSpace(name)), fold))
			}
			keys[i] = l
			continue
		}
		keys[i] = r.folded(r.path(x, attribute), fold)
	}
	return keys
}

// folded returns a string in lower case if fold is set, and other values as they are.
func (r *run) folded(v Value, fold bool) Value {
	if s, ok := v.(string); ok && fold {
		return r.caseOf("lower", s)
	}
	return v
}

// groups is the filter groupby.
func (r *run) groups(x Value, a arguments) Value {
	attribute, fold := a.get(0, "attribute", nil), !truthy(a.get(2, "case_sensitive", false))
	list := r.sorted(r.copied(x), attribute, fold, false).items
	keys := r.sortKeys(list, attribute, fold)
	groups := &List{}
	for i, x := range list {
		if i > 0 && r.equal(keys[i], keys[i-1]) {
			last := groups.items[len(groups.items)-1].(*List).items[1].(*List)
			last.items = append(last.items, x)
			continue
		}
		r.elements(3, len(groups.items)+1)
		groups.items = append(groups.items, &List{items: []Value{r.path(x, attribute), NewList(x)}, tuple: true})
	}
	return groups
}

// unique returns the elements of a list without those that equal an earlier one.
func (r *run) unique(list []Value, a arguments) Value {
	keys := r.sortKeys(list, a.get(1, "attribute", nil), !truthy(a.get(0, "case_sensitive", false)))
	seen := NewDict()
	l := &List{}
	for i, x := range list {
		if !isKey(keys[i]) {
			r.fail("unique of a value of type %s", kindOf(keys[i]))
		}
		if _, ok := seen.get(keys[i]); !ok {
			r.put(seen, keys[i], nil)
			l.items = append(l.items, x)
		}
	}
	return l
}

func (r *run) sum(list []Value, a arguments) Value {
	total := a.get(1, "start", int64(0))
	for _, x := range r.attributes(list, a.get(0, "attribute", nil)) {
		r.spend(1)
		total = arithmetic{"+", constant{total}, constant{x}}.eval(r, nil)
	}
	return total
}

// parts is the filters batch, which returns lists of n elements, and slice, which returns n lists.
func (r *run) parts(name string, list []Value, a arguments) Value {
	n := int(max(0, min(r.integer(a.get(0, "", nil), "the number of elements"), mostElements+1)))
	if n == 0 {
		r.fail("%s needs a positive number", name)
	}
	fill := a.get(1, "fill_with", nil)
	count := n
	if name == "batch" {
		count = (len(list) + n - 1) / n
	}
	r.elements(0, count)
	rows := make([]Value, 0, count)
	add := func(row []Value, size int) {
		r.elements(size+2, 0)
		row = slices.Clone(row)
		for fill != nil && len(row) < size {
			row = append(row, fill)
		}
		rows = append(rows, &List{items: row})
	}
	if name == "batch" {
		for row := range slices.Chunk(list, n) {
			add(row, n)
		}
		return &List{items: rows}
	}
	each, longer := len(list)/n, len(list)%n
	for i := range n {
		size := each
		if i < longer {
			size++
		}
		most := size
		if longer > 0 && i >= longer {
			most++
		}
		add(list[:size], most)
		list = list[size:]
	}
	return &List{items: rows}
}
