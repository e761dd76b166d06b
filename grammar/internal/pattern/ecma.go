package pattern

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// Limits of expressions.
const (
	maxLength = 20000 // bytes
	maxDepth  = 100   // groups
	maxTimes  = 1 << 20
)

// ECMA returns the texts in which an expression of ECMA-262 matches somewhere.
func ECMA(a *Alphabet, expression string) (*regular.Term, error) {
	if len(expression) > maxLength || !utf8.ValidString(expression) {
		return nil, fmt.Errorf("%w: %d bytes", ErrUnsupported, len(expression))
	}
	p := parser{rest: expression}
	n, err := p.alternatives(0)
	if err == nil && p.rest != "" {
		err = p.fail("unmatched )")
	}
	if err != nil {
		return nil, fmt.Errorf("%w (in %q)", err, expression)
	}
	t, err := a.search(n)
	if err != nil {
		return nil, fmt.Errorf("%w (in %q)", err, expression)
	}
	return t, nil
}

// parser reads an expression.
type parser struct{ rest string }

func (p *parser) fail(what string) error { return fmt.Errorf("%w: %s", ErrUnsupported, what) }

// take consumes a prefix and reports whether it was there.
func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// rune consumes a character.
func (p *parser) rune() rune {
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	return r
}

// alternatives reads up to the end of a group.
func (p *parser) alternatives(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail("too many groups within groups")
	}
	n := &node{operation: either}
	for {
		x, err := p.sequence(depth)
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, x)
		if !p.take("|") {
			return n, nil
		}
	}
}

// sequence reads up to the end of an alternative.
func (p *parser) sequence(depth int) (*node, error) {
	n := &node{operation: joined}
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
		x, err := p.atom(depth)
		if err != nil {
			return nil, err
		}
		if x, err = p.quantified(x); err != nil {
			return nil, err
		}
		n.list = append(n.list, x)
	}
	return n, nil
}

// atom reads what a quantifier may follow, or an assertion.
func (p *parser) atom(depth int) (*node, error) {
	switch r := p.rune(); r {
	case '^':
		return &node{operation: begin}, nil
	case '$':
		return &node{operation: end}, nil
	case '.':
		return &node{ranges: complement([]rune{'\n', '\n', '\r', '\r', 0x2028, 0x2029})}, nil
	case '(':
		return p.group(depth)
	case '[':
		return p.set()
	case '\\':
		return p.escaped()
	case '*', '+', '?':
		return nil, p.fail("nothing to repeat")
	default:
		return &node{ranges: []rune{r, r}}, nil
	}
}

// group reads a group.
func (p *parser) group(depth int) (*node, error) {
	operation := joined
	switch {
	case p.take("?:"):
	case p.take("?="):
		operation = ahead
	case p.take("?!"):
		operation = except
	case p.take("?<="), p.take("?<!"):
		return nil, p.fail("a lookbehind")
	case p.take("?<"), p.take("?P<"):
		at := strings.IndexByte(p.rest, '>')
		if at <= 0 {
			return nil, p.fail("an incomplete name")
		}
		p.rest = p.rest[at+1:]
	case p.take("?"):
		return nil, p.fail("an unknown kind of group")
	}
	n, err := p.alternatives(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.fail("a missing )")
	}
	return &node{operation: operation, list: []*node{n}}, nil
}

// quantified reads the quantifier of an atom, if there is one. Greed has no meaning here.
func (p *parser) quantified(x *node) (*node, error) {
	least, most := int32(1), int32(1)
	switch {
	case p.take("*"):
		least, most = 0, regular.Unbounded
	case p.take("+"):
		most = regular.Unbounded
	case p.take("?"):
		least = 0
	default:
		var ok bool
		if least, most, ok = p.times(); !ok {
			return x, nil
		}
	}
	p.take("?")
	if most != regular.Unbounded && most > maxTimes || least > maxTimes || least > most {
		return nil, p.fail("a repetition of so many times")
	}
	if p.rest != "" && strings.IndexByte("*+?", p.rest[0]) >= 0 {
		return nil, p.fail("a quantifier after a quantifier")
	}
	return &node{operation: looped, list: []*node{x}, least: least, most: most}, nil
}

// times reads {n}, {n,} or {n,m}. Other braces are characters.
func (p *parser) times() (least, most int32, ok bool) {
	inside, found := strings.CutPrefix(p.rest, "{")
	at := strings.IndexByte(inside, '}')
	if !found || at < 1 {
		return 0, 0, false
	}
	low, high, comma := strings.Cut(inside[:at], ",")
	n, err := strconv.ParseUint(low, 10, 30)
	if err != nil {
		return 0, 0, false
	}
	m := n
	if comma && high == "" {
		m = regular.Unbounded
	} else if comma {
		if m, err = strconv.ParseUint(high, 10, 30); err != nil {
			return 0, 0, false
		}
	}
	p.rest = inside[at+1:]
	return int32(n), int32(m), true
}

// escaped reads what follows a backslash outside of a set.
func (p *parser) escaped() (*node, error) {
	if p.rest != "" && (p.rest[0] == 'b' || p.rest[0] == 'B' || '1' <= p.rest[0] && p.rest[0] <= '9' || p.rest[0] == 'k') {
		return nil, p.fail(`\` + p.rest[:1])
	}
	ranges, err := p.escape()
	return &node{ranges: ranges}, err
}

// Classes of characters, as ranges.
var (
	digits = []rune{'0', '9'}
	word   = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	space  = []rune{'\t', '\r', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff}
)

// escape reads what follows a backslash and returns the characters that it stands for.
func (p *parser) escape() ([]rune, error) {
	if p.rest == "" {
		return nil, p.fail("a backslash at the end")
	}
	r := p.rune()
	switch r {
	case 'd':
		return digits, nil
	case 'D':
		return complement(digits), nil
	case 'w':
		return word, nil
	case 'W':
		return complement(word), nil
	case 's':
		return space, nil
	case 'S':
		return complement(space), nil
	case 'x':
		return p.hex(2)
	case 'u':
		return p.unicode()
	case 'p', 'P':
		return p.property(r == 'P')
	}
	if at := strings.IndexRune("tnvfr0", r); at >= 0 {
		r = rune("\t\n\v\f\r\x00"[at])
		return []rune{r, r}, nil
	}
	if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return nil, p.fail(`\` + string(r))
	}
	return []rune{r, r}, nil
}

// hex reads n hexadecimal digits.
func (p *parser) hex(n int) ([]rune, error) {
	if len(p.rest) < n {
		return nil, p.fail("an incomplete number of a character")
	}
	v, err := strconv.ParseUint(p.rest[:n], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return nil, p.fail("an incomplete number of a character")
	}
	p.rest = p.rest[n:]
	return []rune{rune(v), rune(v)}, nil
}

// unicode reads the number of a character: XXXX or {X...}; two surrogates are one character.
func (p *parser) unicode() ([]rune, error) {
	if p.take("{") {
		at := strings.IndexByte(p.rest, '}')
		if at < 1 || at > 6 {
			return nil, p.fail("an incomplete number of a character")
		}
		r, err := p.hex(at)
		p.take("}")
		return r, err
	}
	r, err := p.hex(4)
	if err != nil || r[0] < 0xd800 || r[0] > 0xdfff {
		return r, err
	}
	if p.take(`\u`) {
		if low, err := p.hex(4); err == nil && r[0] < 0xdc00 && 0xdc00 <= low[0] && low[0] <= 0xdfff {
			pair := 0x10000 + (r[0]-0xd800)<<10 + low[0] - 0xdc00
			return []rune{pair, pair}, nil
		}
	}
	return nil, p.fail("half of a surrogate pair")
}

// property reads the name of a class of Unicode's.
func (p *parser) property(negated bool) ([]rune, error) {
	at := strings.IndexByte(p.rest, '}')
	if !p.take("{") || at < 0 {
		return nil, p.fail(`an incomplete \p`)
	}
	name := p.rest[:at-1]
	p.rest = p.rest[at:]
	if _, value, ok := strings.Cut(name, "="); ok {
		name = value
	}
	if long, ok := categories[name]; ok {
		name = long
	}
	table, ok := unicode.Categories[name]
	if !ok {
		if table, ok = unicode.Scripts[name]; !ok {
			return nil, p.fail(`\p{` + name + "}")
		}
	}
	ranges := tableRanges(table)
	if negated {
		ranges = complement(ranges)
	}
	return ranges, nil
}

// categories are long names of Unicode's categories.
var categories = map[string]string{
	"Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Mark": "M", "Number": "N", "Decimal_Number": "Nd",
	"Punctuation": "P", "Symbol": "S", "Separator": "Z", "Other": "C", "Control": "Cc",
}

// tableRanges returns the ranges of a table.
func tableRanges(t *unicode.RangeTable) []rune {
	var list []rune
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			list = append(list, lo, hi)
			return
		}
		for r := lo; r <= hi; r += stride {
			list = append(list, r, r)
		}
	}
	for _, r := range t.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range t.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return list
}

// set reads the rest of a set in brackets.
func (p *parser) set() (*node, error) {
	negated := p.take("^")
	var list []rune
	for !p.take("]") {
		if p.rest == "" {
			return nil, p.fail("a missing ]")
		}
		low, err := p.member()
		if err != nil {
			return nil, err
		}
		if len(p.rest) < 2 || p.rest[0] != '-' || p.rest[1] == ']' {
			list = append(list, low...)
			continue
		}
		p.take("-")
		high, err := p.member()
		if err != nil {
			return nil, err
		}
		if len(low) != 2 || low[0] != low[1] || len(high) != 2 || high[0] != high[1] { // a class: the hyphen is a character
			list = append(append(append(list, low...), '-', '-'), high...)
			continue
		}
		if low[0] > high[0] {
			return nil, p.fail("a range that ends before it begins")
		}
		list = append(list, low[0], high[0])
	}
	if negated {
		list = complement(list)
	}
	return &node{ranges: list}, nil
}

// member reads a member of a set.
func (p *parser) member() ([]rune, error) {
	if p.take(`\b`) {
		return []rune{'\b', '\b'}, nil
	}
	if p.take(`\`) {
		return p.escape()
	}
	r := p.rune()
	return []rune{r, r}, nil
}

// complement returns the ranges of all other characters.
func complement(ranges []rune) []rune {
	pairs := make([][2]rune, 0, len(ranges)/2)
	for i := 0; i+1 < len(ranges); i += 2 {
		pairs = append(pairs, [2]rune{ranges[i], ranges[i+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	var list []rune
	next := rune(0)
	for _, p := range pairs {
		if p[0] > next {
			list = append(list, next, p[0]-1)
		}
		next = max(next, p[1]+1)
	}
	if next <= utf8.MaxRune {
		list = append(list, next, utf8.MaxRune)
	}
	return list
}
