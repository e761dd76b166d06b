package schema

import (
	"math/big"
	"slices"
)

// factor is a constraint of a schema and its negation.
type factor struct {
	positive func() (union, error)
	negative func() (union, error)
	// within, unless it is nil, replaces positive. It returns the intersection with the other constraints of the schema, which may be
	// possible where the constraint alone cannot be expressed.
	within func(others union) (union, error)
}

// keyword makes the factor of a keyword from its value and the schema that has it; nil means no constraint.
type keyword func(c *compiler, k, v *value) (*factor, error)

// keywords returns the keywords that constrain values. All others are annotations, which have no effect.
func keywords() map[string]keyword {
	return map[string]keyword{
		"$ref": reference, "$dynamicRef": never, "$recursiveRef": never,
		"allOf": allOf, "anyOf": anyOf, "oneOf": oneOf, "not": negated, "if": conditional,
		"type": typed, "enum": enumerated, "const": constant,
		"minLength": shortest, "maxLength": longest, "pattern": matching, "format": formatted,
		"minimum": lowest, "maximum": highest, "exclusiveMinimum": above, "exclusiveMaximum": below, "multipleOf": multiples, "divisibleBy": multiples,
		"items": elements, "prefixItems": elements, "minItems": fewest, "maxItems": most, "uniqueItems": distinct, "contains": containing,
		"properties": members, "patternProperties": members, "additionalProperties": members, "required": required,
		"minProperties": fewestMembers, "maxProperties": mostMembers, "propertyNames": named,
		"dependentRequired": dependent, "dependentSchemas": dependent, "dependencies": dependent,
		"unevaluatedProperties": unevaluated, "unevaluatedItems": unevaluated, "extends": never, "disallow": never,
	}
}

// together are keywords of which one factor has all; the first one that occurs makes it.
var together = [][]string{{"items", "prefixItems"}, {"properties", "patternProperties", "additionalProperties"}}

// factors returns the constraints of a schema, in the order of the text.
func (c *compiler) factors(v *value) ([]*factor, error) {
	var list []*factor
	names := v.names
	if v.field("$ref") != nil && c.refAlone {
		names = []string{"$ref"}
	}
	for i, name := range names {
		make, ok := c.keywords[name]
		if !ok || slices.ContainsFunc(together, func(g []string) bool {
			return slices.Contains(g, name) && slices.ContainsFunc(names[:i], func(n string) bool { return slices.Contains(g, n) })
		}) {
			continue
		}
		f, err := make(c, v.field(name), v)
		if err != nil {
			return nil, err
		}
		if f != nil {
			list = append(list, f)
		}
	}
	return list, nil
}

// positive returns the bundles of a schema.
func (c *compiler) positive(v *value) (union, error) {
	switch v.kind {
	case 't':
		return union{everything()}, nil
	case 'f':
		return nil, nil
	case '{':
	default:
		return nil, wrong(v, "a schema is an object or a Boolean")
	}
	factors, err := c.factors(v)
	if err != nil {
		return nil, err
	}
	result := union{everything()}
	for _, f := range factors {
		if f.within != nil {
			continue
		}
		u, err := f.positive()
		if err != nil {
			return nil, err
		}
		if result, err = c.meetAll(result, u); err != nil {
			return nil, err
		}
	}
	for _, f := range factors {
		if f.within == nil {
			continue
		}
		if result, err = f.within(result); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// negative returns the bundles of the values that do not satisfy a schema.
func (c *compiler) negative(v *value) (union, error) {
	switch v.kind {
	case 't':
		return nil, nil
	case 'f':
		return union{everything()}, nil
	case '{':
	default:
		return nil, wrong(v, "a schema is an object or a Boolean")
	}
	factors, err := c.factors(v)
	if err != nil {
		return nil, err
	}
	var result union
	for _, f := range factors {
		u, err := f.negative()
		if err != nil {
			return nil, err
		}
		if u, err = c.meetAll(u); err != nil { // removes the empty ones
			return nil, err
		}
		if result = append(result, u...); len(result) > maxBundles {
			return nil, ErrLimit
		}
	}
	return result, nil
}

// fixed returns the factor of two unions.
func fixed(positive, negative union) *factor {
	return &factor{positive: func() (union, error) { return positive, nil }, negative: func() (union, error) { return negative, nil }}
}

// oneWay returns the factor of a union whose negation is unsupported.
func oneWay(k *value, positive ...*bundle) *factor {
	return &factor{
		positive: func() (union, error) { return positive, nil },
		negative: func() (union, error) { return nil, unsupported(k, "the negation of this keyword") },
	}
}

// never is a keyword that is not supported.
func never(_ *compiler, k, _ *value) (*factor, error) { return nil, unsupported(k, "this keyword") }

// count reads a number of elements, members or characters.
func count(k *value) (int, error) {
	r, err := rational(k)
	if err != nil {
		return 0, err
	}
	if !r.IsInt() || r.Sign() < 0 {
		return 0, wrong(k, "not a number of elements")
	}
	if r.Cmp(big.NewRat(unbounded, 1)) >= 0 {
		return unbounded, nil
	}
	return int(r.Num().Int64()), nil
}

// flag reads a Boolean.
func flag(k *value) (bool, error) {
	if k.kind != 't' && k.kind != 'f' {
		return false, wrong(k, "neither true nor false")
	}
	return k.kind == 't', nil
}

// schemas reads a list of schemas.
func schemas(k *value) ([]*value, error) {
	if k.kind != '[' || len(k.list) == 0 {
		return nil, wrong(k, "not a list of schemas")
	}
	return k.list, nil
}

// nameList reads a list of strings.
func nameList(k *value) ([]string, error) {
	if k.kind != '[' {
		return nil, wrong(k, "not a list of names")
	}
	var list []string
	for _, x := range k.list {
		if x.kind != '"' {
			return nil, wrong(x, "not a name")
		}
		list = append(list, x.text)
	}
	return list, nil
}
