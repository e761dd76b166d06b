package schema

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/grammar/internal/machine"
	"github.com/gopherwarp/gopherwarp/grammar/internal/pattern"
	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// Limits of a compilation.
const (
	maxBundles     = 512    // of a schema
	maxWork        = 200000 // intersections of bundles
	maxStates      = 200000 // of the program
	maxDerivatives = 4 << 20
	maxTerms       = 1 << 17
)

// compiler compiles one schema.
type compiler struct {
	*regular.Store
	alphabet *pattern.Alphabet
	keywords map[string]keyword
	formats  map[string]string
	patterns map[string]*regular.Term
	document
	refAlone bool // members beside $ref have no effect

	expansions map[string]*expansion
	inside     map[literal]bool // that are being expanded
	depth      int
	work       int
	constants  map[*value]*value // schemas of values
	synthetic  int
	never      conjunction // that no value satisfies

	terms
	program *machine.Program
	starts  map[string]int32
	queue   []pending
	spaces
	end int32
}

// terms are languages of spelled numbers.
type terms struct {
	unsigned *regular.Term // decimals without sign and exponent
	decimals *regular.Term // decimals without exponent
	numbers  *regular.Term // all that JSON has
	integers *regular.Term
	whole    *regular.Term // decimals whose value is an integer
	zero     *regular.Term // decimals without sign whose value is 0
}

// Compile compiles a schema. The errors match those of this package.
func Compile(data []byte) (*machine.Machine, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	s := regular.NewStore(maxTerms)
	c := &compiler{
		Store: s, alphabet: pattern.NewAlphabet(s, pattern.JSON), keywords: keywords(), formats: formats(), patterns: map[string]*regular.Term{},
		expansions: map[string]*expansion{}, inside: map[literal]bool{}, constants: map[*value]*value{},
		program: machine.NewProgram(s), starts: map[string]int32{},
	}
	c.never = conjunction{{at: &value{id: 0, kind: 'f'}}}
	c.terms = c.numberTerms()
	c.index(root)
	c.refAlone = olderThan2019(root)
	c.spaces = c.spaceTerms()
	c.end = c.program.Add(machine.State{End: true})
	start := c.lower(of(root))
	if err := c.lowerAll(); err != nil {
		return nil, err
	}
	m, err := c.program.Start(start, machine.Options{Units: []*regular.Term{c.alphabet.Any, c.character}})
	if err != nil {
		return nil, ErrEmpty
	}
	return m, nil
}

// numberTerms returns the languages of numbers.
func (c *compiler) numberTerms() terms {
	digit, minus := c.Range('0', '9'), c.Alt(c.Empty(), c.Literal("-"))
	more := c.Repeat(digit, 0, regular.Unbounded)
	whole := c.Alt(c.Literal("0"), c.Concat(c.Range('1', '9'), more))
	fraction := c.Alt(c.Empty(), c.Concat(c.Literal("."), digit, more))
	zeros := c.Alt(c.Empty(), c.Concat(c.Literal(".0"), c.Repeat(c.Literal("0"), 0, regular.Unbounded)))
	exponent := c.Concat(c.Bytes("eE"), c.Alt(c.Empty(), c.Bytes("+-")), digit, more)
	t := terms{unsigned: c.Concat(whole, fraction), integers: c.Concat(minus, whole), whole: c.Concat(minus, whole, zeros), zero: c.Concat(c.Literal("0"), zeros)}
	t.decimals = c.Concat(minus, t.unsigned)
	t.numbers = c.Concat(t.decimals, c.Alt(c.Empty(), exponent))
	return t
}

// replace replaces texts by others.
func replace(s string, oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(s) }
