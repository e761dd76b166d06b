package schema

// reference is $ref.
func reference(c *compiler, k, v *value) (*factor, error) {
	to, err := c.resolve(k, v)
	if err != nil {
		return nil, err
	}
	return &factor{
		positive: func() (union, error) { return c.literal(literal{at: to}) },
		negative: func() (union, error) { return c.literal(literal{at: to, negated: true}) },
	}, nil
}

// all returns the intersection of schemas, or of their negations.
func (c *compiler) all(list []*value, negated bool) (union, error) {
	result := union{everything()}
	for _, v := range list {
		u, err := c.literal(literal{v, negated})
		if err != nil {
			return nil, err
		}
		if result, err = c.meetAll(result, u); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// any returns the union of schemas, or of their negations.
func (c *compiler) any(list []*value, negated bool) (union, error) {
	var result union
	for _, v := range list {
		u, err := c.literal(literal{v, negated})
		if err != nil {
			return nil, err
		}
		if result = append(result, u...); len(result) > maxBundles {
			return nil, ErrLimit
		}
	}
	return result, nil
}

func allOf(c *compiler, k, _ *value) (*factor, error) {
	list, err := schemas(k)
	return &factor{
		positive: func() (union, error) { return c.all(list, false) },
		negative: func() (union, error) { return c.any(list, true) },
	}, err
}

func anyOf(c *compiler, k, _ *value) (*factor, error) {
	list, err := schemas(k)
	return &factor{
		positive: func() (union, error) { return c.any(list, false) },
		negative: func() (union, error) { return c.all(list, true) },
	}, err
}

func negated(c *compiler, k, _ *value) (*factor, error) {
	return &factor{
		positive: func() (union, error) { return c.literal(literal{k, true}) },
		negative: func() (union, error) { return c.literal(literal{k, false}) },
	}, nil
}

// conditional is if, with then and else.
func conditional(c *compiler, k, v *value) (*factor, error) {
	branch := func(name string, negated bool) (union, error) {
		if x := v.field(name); x != nil {
			return c.literal(literal{x, negated})
		}
		if negated {
			return nil, nil
		}
		return union{everything()}, nil
	}
	choose := func(negated bool) func() (union, error) {
		return func() (union, error) {
			var result union
			for _, name := range []string{"then", "else"} {
				u, err := branch(name, negated)
				if err != nil {
					return nil, err
				}
				if len(u) == 0 {
					continue
				}
				condition, err := c.literal(literal{k, name == "else"})
				if err == nil {
					u, err = c.meetAll(condition, u)
				}
				if err != nil {
					return nil, err
				}
				result = append(result, u...)
			}
			return result, nil
		}
	}
	if v.field("then") == nil && v.field("else") == nil {
		return nil, nil
	}
	return &factor{positive: choose(false), negative: choose(true)}, nil
}

// oneOf is the union of its schemas if they are disjoint. Otherwise, from each schema the others that meet it are subtracted.
func oneOf(c *compiler, k, _ *value) (*factor, error) {
	list, err := schemas(k)
	if err != nil {
		return nil, err
	}
	return &factor{
		within:   func(others union) (union, error) { return c.exactlyOne(list, others) },
		negative: func() (union, error) { return c.notOne(k, list) },
	}, nil
}

// exactlyOne returns the values of a union that satisfy one of the schemas and no other.
func (c *compiler) exactlyOne(list []*value, others union) (union, error) {
	branches := make([]union, len(list))
	for i, v := range list {
		u, err := c.literal(literal{at: v})
		if err != nil {
			return nil, err
		}
		if branches[i], err = c.meetAll(others, u); err != nil {
			return nil, err
		}
	}
	var result union
	for i, u := range branches {
		for j := range branches {
			if i == j {
				continue
			}
			common, err := c.meetAll(branches[i], branches[j])
			if err != nil {
				return nil, err
			}
			if len(common) == 0 {
				continue
			}
			others, err := c.literal(literal{list[j], true})
			if err != nil {
				return nil, err
			}
			if u, err = c.meetAll(u, others); err != nil {
				return nil, err
			}
		}
		result = append(result, u...)
	}
	return result, nil
}

// notOne returns the negation of oneOf, if its schemas are disjoint.
func (c *compiler) notOne(k *value, list []*value) (union, error) {
	for i, v := range list {
		for _, w := range list[:i] {
			if common, err := c.all([]*value{v, w}, false); err != nil || len(common) > 0 {
				return nil, unsupported(k, "the negation of this keyword")
			}
		}
	}
	return c.all(list, true)
}

// dependent is dependentRequired, dependentSchemas, and dependencies, which has both.
func dependent(c *compiler, k, _ *value) (*factor, error) {
	if k.kind != '{' {
		return nil, wrong(k, "not an object")
	}
	return &factor{
		positive: func() (union, error) {
			result := union{everything()}
			for _, name := range k.names {
				u, err := c.follows(name, k.field(name))
				if err != nil {
					return nil, err
				}
				if result, err = c.meetAll(result, append(union{c.without(name), only(anything &^ object)}, u...)); err != nil {
					return nil, err
				}
			}
			return result, nil
		},
		negative: func() (union, error) { return nil, unsupported(k, "the negation of this keyword") },
	}, nil
}

// follows returns the objects with a member, and what is demanded then.
func (c *compiler) follows(name string, what *value) (union, error) {
	with := only(object)
	with.object.required = []string{name}
	if what.kind == '"' { // draft 3
		with.object.required = append(with.object.required, what.text)
		return union{with}, nil
	}
	if what.kind != '[' {
		u, err := c.literal(literal{at: what})
		if err != nil {
			return nil, err
		}
		return c.meetAll(union{with}, u)
	}
	names, err := nameList(what)
	with.object.required = append(with.object.required, names...)
	return union{with}, err
}

// without returns the bundle of the objects that do not have a member.
func (c *compiler) without(name string) *bundle {
	b := only(object)
	b.object.layers = []*layer{{names: []string{name}, fields: map[string]conjunction{name: c.never}}}
	return b
}
