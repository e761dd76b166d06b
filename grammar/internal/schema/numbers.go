package schema

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// maxDigits is the largest number of digits before or after the point of a bound.
const maxDigits = 400

// rational reads a number.
func rational(k *value) (*big.Rat, error) {
	if k.kind != '0' {
		return nil, wrong(k, "not a number")
	}
	if at := strings.IndexAny(k.text, "eE"); at >= 0 {
		if e, err := strconv.Atoi(k.text[at+1:]); err != nil || e > maxDigits || e < -maxDigits {
			return nil, unsupported(k, "a number of so many digits")
		}
	}
	r, ok := new(big.Rat).SetString(k.text)
	if !ok || len(k.text) > maxDigits {
		return nil, unsupported(k, "a number of so many digits")
	}
	return r, nil
}

// decimalOf returns the digits of a number before and after the point. JSON has no other numbers, so that they are finitely many.
func decimalOf(r *big.Rat) (whole, fraction string) {
	places, _ := r.FloatPrec()
	whole, fraction, _ = strings.Cut(new(big.Rat).Abs(r).FloatString(places), ".")
	return whole, fraction
}

// spellings returns one or two spellings of a number, and all without exponents.
func (c *compiler) spellings(v *value, r *big.Rat) (some, all *regular.Term) {
	whole, fraction := decimalOf(r)
	sign := ""
	if r.Sign() < 0 {
		sign = "-"
	}
	zeros := c.Repeat(c.Literal("0"), 0, regular.Unbounded)
	if fraction == "" {
		some = c.Literal(sign + whole)
		all = c.Concat(some, c.Alt(c.Empty(), c.Concat(c.Literal("."), c.Literal("0"), zeros)))
	} else {
		some = c.Literal(sign + whole + "." + fraction)
		all = c.Concat(some, zeros)
	}
	if r.Sign() == 0 {
		all = c.Alt(all, c.Concat(c.Literal("-"), all))
	}
	return c.Alt(some, c.Literal(v.text)), all
}

// greater returns the decimals without a sign that are greater than a bound, or equal to it. The bound is not negative.
func (c *compiler) greater(bound *big.Rat, equal bool) *regular.Term {
	whole, fraction := decimalOf(bound)
	digit := c.Range('0', '9')
	tail := c.Repeat(digit, 0, regular.Unbounded)
	point := c.Alt(c.Empty(), c.Concat(c.Literal("."), digit, tail))
	list := []*regular.Term{c.Concat(c.Range('1', '9'), c.Repeat(digit, int32(len(whole)), regular.Unbounded), point)}
	for i := range len(whole) { // more at a digit before the point
		if whole[i] < '9' {
			n := int32(len(whole) - i - 1)
			list = append(list, c.Concat(c.Literal(whole[:i]), c.Range(whole[i]+1, '9'), c.Repeat(digit, n, n), point))
		}
	}
	if whole == "0" { // the loop has added numbers of one digit
		list[0] = c.Concat(c.Range('1', '9'), tail, point)
	}
	for i := range len(fraction) { // more at a digit after the point
		if fraction[i] < '9' {
			list = append(list, c.Concat(c.Literal(whole+"."+fraction[:i]), c.Range(fraction[i]+1, '9'), tail))
		}
	}
	longer := c.Concat(tail, c.Range('1', '9'), tail) // more after the last digit
	if fraction != "" {
		list = append(list, c.Concat(c.Literal(whole+"."+fraction), longer))
	} else {
		list = append(list, c.Concat(c.Literal(whole+"."), longer))
	}
	if equal {
		zeros := c.Repeat(c.Literal("0"), 0, regular.Unbounded)
		exact := c.Concat(c.Literal(whole+"."+fraction), zeros)
		if fraction == "" {
			exact = c.Concat(c.Literal(whole), c.Alt(c.Empty(), c.Concat(c.Literal("."), c.Literal("0"), zeros)))
		}
		list = append(list, exact)
	}
	return c.Alt(list...)
}

// atLeast returns the decimals that are greater than a bound, or equal to it.
func (c *compiler) atLeast(bound *big.Rat, equal bool) *regular.Term {
	minus := c.Literal("-")
	if bound.Sign() < 0 { // all without a sign, and those with one whose absolute value is not greater than that of the bound
		small := c.And(c.unsigned, c.Not(c.greater(new(big.Rat).Neg(bound), !equal)))
		return c.Alt(c.unsigned, c.Concat(minus, small))
	}
	t := c.And(c.unsigned, c.greater(bound, equal))
	if bound.Sign() == 0 && equal {
		t = c.Alt(t, c.Concat(minus, c.zero))
	}
	return t
}

// bound returns the factor of a bound.
func (c *compiler) bound(k *value, upper, equal bool) (*factor, error) {
	r, err := rational(k)
	if err != nil {
		return nil, err
	}
	inside := c.atLeast(r, equal != upper)
	outside := c.And(c.decimals, c.Not(inside))
	if upper {
		inside, outside = outside, inside
	}
	with, without := everything(), only(number)
	with.number, without.number = inside, outside
	return fixed(union{with}, union{without}), nil
}

// exclusive reports whether a bound is exclusive by draft 4's form of a keyword.
func exclusive(v *value, name string) bool {
	k := v.field(name)
	return k != nil && k.kind == 't'
}

func lowest(c *compiler, k, v *value) (*factor, error) {
	return c.bound(k, false, !exclusive(v, "exclusiveMinimum"))
}

func highest(c *compiler, k, v *value) (*factor, error) {
	return c.bound(k, true, !exclusive(v, "exclusiveMaximum"))
}

func above(c *compiler, k, _ *value) (*factor, error) {
	if k.kind == 't' || k.kind == 'f' {
		return nil, nil
	}
	return c.bound(k, false, false)
}

func below(c *compiler, k, _ *value) (*factor, error) {
	if k.kind == 't' || k.kind == 'f' {
		return nil, nil
	}
	return c.bound(k, true, false)
}

// multiples is multipleOf.
func multiples(c *compiler, k, _ *value) (*factor, error) {
	r, err := rational(k)
	if err != nil {
		return nil, err
	}
	if r.Sign() <= 0 {
		return nil, wrong(k, "not a positive number")
	}
	places, _ := r.FloatPrec()
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	if places > 18 || !scaled.Num().IsInt64() || scaled.Num().Int64() > 1<<40 {
		return nil, unsupported(k, "multiples of this number")
	}
	t := c.And(c.unsigned, c.Multiple(scaled.Num().Int64(), int8(places)))
	signed := c.Alt(t, c.Concat(c.Literal("-"), t))
	with, without := everything(), only(number)
	with.number, without.number = signed, c.And(c.decimals, c.Not(signed))
	return fixed(union{with}, union{without}), nil
}
