package schema

import "slices"

// members is properties, patternProperties and additionalProperties.
func members(c *compiler, k, v *value) (*factor, error) {
	l := &layer{fields: map[string]conjunction{}}
	var negations union
	if properties := v.field("properties"); properties != nil {
		if properties.kind != '{' {
			return nil, wrong(properties, "not an object")
		}
		l.names = properties.names
		for _, name := range l.names {
			x := properties.field(name)
			l.fields[name] = of(x)
			b := only(object)
			b.object.required = []string{name}
			b.object.layers = []*layer{{names: []string{name}, fields: map[string]conjunction{name: negation(x)}}}
			negations = append(negations, b)
		}
	}
	if patterns := v.field("patternProperties"); patterns != nil {
		if patterns.kind != '{' {
			return nil, wrong(patterns, "not an object")
		}
		for _, expression := range patterns.names {
			t, err := c.pattern(patterns, expression)
			if err != nil {
				return nil, err
			}
			l.patterns = append(l.patterns, patterned{t, of(patterns.field(expression))})
		}
	}
	if extra := v.field("additionalProperties"); extra != nil {
		l.extra = of(extra)
	}
	with := everything()
	with.object.layers = []*layer{l}
	if len(l.patterns) > 0 || len(l.extra) > 0 {
		return oneWay(k, with), nil
	}
	return fixed(union{with}, negations), nil
}

func required(c *compiler, k, v *value) (*factor, error) {
	if k.kind == 't' || k.kind == 'f' { // draft 3, in which it is about the member that has it
		return nil, nil
	}
	names, err := nameList(k)
	if err != nil {
		return nil, err
	}
	with := everything()
	with.object.required = names
	var negations union
	for _, name := range names {
		negations = append(negations, c.without(name))
	}
	return fixed(union{with}, negations), nil
}

func fewestMembers(_ *compiler, k, _ *value) (*factor, error) {
	n, err := count(k)
	return sizes(object, k, n, unbounded), err
}

func mostMembers(_ *compiler, k, _ *value) (*factor, error) {
	n, err := count(k)
	return sizes(object, k, 0, n), err
}

// named is propertyNames.
func named(c *compiler, k, _ *value) (*factor, error) {
	if trivial(k) {
		return nil, nil
	}
	return &factor{
		positive: func() (union, error) {
			u, err := c.apart(of(k))
			if err != nil {
				return nil, err
			}
			with := everything()
			names := c.None()
			for _, b := range u {
				if b.types&text == 0 {
					continue
				}
				if b.text == nil {
					return union{with}, nil
				}
				names = c.Alt(names, b.text)
			}
			with.object.names = append(with.object.names, names)
			return union{with}, nil
		},
		negative: func() (union, error) { return nil, unsupported(k, "the negation of this keyword") },
	}, nil
}

// unevaluated is unevaluatedProperties and unevaluatedItems. Beside no other keyword that applies schemas to the same value, they are
// additionalProperties and items.
func unevaluated(c *compiler, k, v *value) (*factor, error) {
	if trivial(k) {
		return nil, nil
	}
	beside := []string{"$ref", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies", "contains"}
	if slices.ContainsFunc(v.names, func(name string) bool { return slices.Contains(beside, name) }) {
		return nil, unsupported(k, "this keyword beside others that apply schemas")
	}
	copied := *v
	copied.fields = map[string]*value{}
	for name, x := range v.fields {
		copied.fields[name] = x
	}
	if k == v.field("unevaluatedItems") {
		if v.field("items") != nil {
			return nil, unsupported(k, "this keyword beside items")
		}
		copied.fields["items"] = k
		return elements(c, k, &copied)
	}
	if v.field("additionalProperties") == nil {
		copied.fields["additionalProperties"] = k
	}
	return members(c, k, &copied)
}
