package schema

// elements is prefixItems with items, and items with additionalItems, as it was before draft 2020-12.
func elements(c *compiler, k, v *value) (*factor, error) {
	items, prefix := v.field("items"), v.field("prefixItems")
	if items != nil && items.kind == '[' {
		items, prefix = v.field("additionalItems"), items
	}
	with := everything()
	a := &with.array
	var negations union
	if prefix != nil {
		if prefix.kind != '[' {
			return nil, wrong(prefix, "not a list of schemas")
		}
		for i, x := range prefix.list {
			a.prefix = append(a.prefix, of(x))
			b := only(array)
			b.array.least = i + 1
			b.array.prefix = append(make([]conjunction, i), negation(x))
			negations = append(negations, b)
		}
	}
	if items == nil || trivial(items) {
		return fixed(union{with}, negations), nil
	}
	a.rest = of(items)
	switch {
	case items.kind == 'f':
		b := only(array)
		b.array.least = len(a.prefix) + 1
		negations = append(negations, b)
	case len(a.prefix) > 0:
		return oneWay(k, with), nil
	default:
		b := only(array)
		b.array.contains = []contains{{element: negation(items), least: 1, most: unbounded, at: k}}
		negations = append(negations, b)
	}
	return fixed(union{with}, negations), nil
}

// sizes returns the factor of arrays or objects of least to most elements, of a keyword.
func sizes(t types, k *value, least, most int) *factor {
	bundleOf := func(b *bundle, least, most int) union {
		if least > most {
			return nil
		}
		if t == array {
			b.array.least, b.array.most = least, most
		} else {
			b.object.least, b.object.most, b.object.fewest = least, most, k
		}
		return union{b}
	}
	negative := bundleOf(only(t), 0, least-1)
	if most < unbounded {
		negative = append(negative, bundleOf(only(t), most+1, unbounded)...)
	}
	return fixed(bundleOf(everything(), least, most), negative)
}

func fewest(_ *compiler, k, _ *value) (*factor, error) {
	n, err := count(k)
	return sizes(array, k, n, unbounded), err
}

func most(_ *compiler, k, _ *value) (*factor, error) {
	n, err := count(k)
	return sizes(array, k, 0, n), err
}

// distinct is uniqueItems.
func distinct(_ *compiler, k, _ *value) (*factor, error) {
	unique, err := flag(k)
	if err != nil || !unique {
		return nil, err
	}
	with := everything()
	with.array.unique = k
	return oneWay(k, with), nil
}

// containing is contains, with minContains and maxContains.
func containing(_ *compiler, k, v *value) (*factor, error) {
	x := contains{element: of(k), other: negation(k), least: 1, most: unbounded, at: k}
	for name, n := range map[string]*int{"minContains": &x.least, "maxContains": &x.most} {
		if f := v.field(name); f != nil {
			var err error
			if *n, err = count(f); err != nil {
				return nil, err
			}
		}
	}
	with := everything()
	if x.least == 0 && x.most == unbounded {
		return nil, nil
	}
	if len(x.element) == 0 { // every element counts
		with.array.least, with.array.most = x.least, x.most
	} else {
		with.array.contains = []contains{x}
	}
	if x.least != 1 || x.most != unbounded {
		return oneWay(k, with), nil
	}
	without := only(array)
	without.array.rest = negation(k)
	return fixed(union{with}, union{without}), nil
}
