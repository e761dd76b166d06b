package schema

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/grammar/internal/pattern"
	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// typed is type.
func typed(c *compiler, k, _ *value) (*factor, error) {
	list := []*value{k}
	if k.kind == '[' {
		list = k.list
	}
	var t types
	integers := false
	for _, x := range list {
		switch x.text {
		case "null":
			t |= null
		case "boolean":
			t |= boolean
		case "integer":
			integers = true
		case "number":
			t |= number
		case "string":
			t |= text
		case "array":
			t |= array
		case "object":
			t |= object
		default:
			return nil, wrong(x, "not the name of a type")
		}
	}
	with, without := only(t), only(anything&^t)
	if integers && t&number == 0 {
		with.types |= number
		with.number, without.number = c.integers, c.And(c.decimals, c.Not(c.whole))
	}
	return fixed(union{with}, union{without}), nil
}

// enumerated is enum.
func enumerated(c *compiler, k, _ *value) (*factor, error) {
	if k.kind != '[' {
		return nil, wrong(k, "not a list")
	}
	return c.among(k, k.list)
}

// constant is const.
func constant(c *compiler, k, _ *value) (*factor, error) { return c.among(k, []*value{k}) }

// among returns the factor of a list of values.
func (c *compiler) among(k *value, list []*value) (*factor, error) {
	with, without := only(0), everything()
	var numbers, others, texts []*regular.Term
	var composed union
	for _, v := range list {
		switch v.kind {
		case 'n':
			with.types |= null
		case 'f':
			with.types |= no
		case 't':
			with.types |= yes
		case '0':
			r, err := rational(v)
			if err != nil {
				return nil, err
			}
			spelled, all := c.spellings(v, r)
			numbers, others = append(numbers, spelled), append(others, all)
		case '"':
			texts = append(texts, c.alphabet.Spell(v.text))
		case '[':
			composed = append(composed, c.elementwise(v))
		case '{':
			composed = append(composed, c.memberwise(v))
		}
	}
	without.types &^= with.types
	if len(numbers) > 0 {
		with.types |= number
		with.number, without.number = c.Alt(numbers...), c.And(c.decimals, c.Not(c.Alt(others...)))
	}
	if len(texts) > 0 {
		with.types |= text
		with.text, without.text = c.Alt(texts...), c.And(c.alphabet.Text, c.Not(c.Alt(texts...)))
	}
	if len(composed) > 0 {
		return oneWay(k, append(composed, with)...), nil
	}
	return fixed(union{with}, union{without}), nil
}

// elementwise returns the bundle of one array.
func (c *compiler) elementwise(v *value) *bundle {
	b := only(array)
	b.array.least, b.array.most, b.array.rest = len(v.list), len(v.list), c.never
	for _, x := range v.list {
		b.array.prefix = append(b.array.prefix, c.constant(x))
	}
	return b
}

// memberwise returns the bundle of one object.
func (c *compiler) memberwise(v *value) *bundle {
	b := only(object)
	l := &layer{names: v.names, fields: map[string]conjunction{}, extra: c.never}
	for name, x := range v.fields {
		l.fields[name] = c.constant(x)
	}
	b.object.required, b.object.layers = v.names, []*layer{l}
	return b
}

// constant returns the conjunction that one value satisfies.
func (c *compiler) constant(v *value) conjunction {
	if c.constants[v] == nil {
		c.synthetic++
		c.constants[v] = &value{id: -c.synthetic, path: v.path, base: v.base, kind: '{', names: []string{"const"}, fields: map[string]*value{"const": v}}
	}
	return conjunction{{at: c.constants[v]}}
}

// textual returns the factor of a constraint for strings.
func (c *compiler) textual(t *regular.Term) *factor {
	with, without := everything(), only(text)
	with.text, without.text = t, c.And(c.alphabet.Text, c.Not(t))
	return fixed(union{with}, union{without})
}

func shortest(c *compiler, k, _ *value) (*factor, error) {
	n, err := count(k)
	if err != nil || n == 0 {
		return nil, err
	}
	return c.lengths(k, n, regular.Unbounded)
}

func longest(c *compiler, k, _ *value) (*factor, error) {
	n, err := count(k)
	if err != nil {
		return nil, err
	}
	return c.lengths(k, 0, n)
}

// lengths returns the factor of the strings with least to most characters.
func (c *compiler) lengths(_ *value, least, most int) (*factor, error) {
	with, without := everything(), only(text)
	with.text = c.Repeat(c.alphabet.Any, int32(least), int32(most))
	if least > 0 {
		without.text = c.Repeat(c.alphabet.Any, 0, int32(least-1))
	} else {
		without.text = c.Repeat(c.alphabet.Any, int32(most+1), regular.Unbounded)
	}
	return fixed(union{with}, union{without}), nil
}

// matching is pattern.
func matching(c *compiler, k, _ *value) (*factor, error) {
	t, err := c.pattern(k, k.text)
	if err != nil {
		return nil, err
	}
	return c.textual(t), nil
}

// pattern returns the term of a regular expression.
func (c *compiler) pattern(k *value, expression string) (*regular.Term, error) {
	if t, ok := c.patterns[expression]; ok {
		return t, nil
	}
	if k.kind != '"' && k.kind != '{' {
		return nil, wrong(k, "not a regular expression")
	}
	t, err := pattern.ECMA(c.alphabet, expression)
	if errors.Is(err, pattern.ErrUnsupported) {
		return nil, unsupported(k, err.Error())
	}
	c.patterns[expression] = t
	return t, err
}

// formatted is format. A format that the specification does not define is an annotation.
func formatted(c *compiler, k, _ *value) (*factor, error) {
	if k.text == "regex" {
		return nil, unsupported(k, "the format regex")
	}
	expression, ok := c.formats[k.text]
	if !ok {
		return nil, nil
	}
	t, err := c.pattern(k, expression)
	if err != nil {
		return nil, err
	}
	with := everything()
	with.text = t
	return oneWay(k, with), nil
}
