package schema

import (
	"github.com/gopherwarp/gopherwarp/grammar/internal/machine"
	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// spaces are the languages of what is between values.
type spaces struct {
	space     *regular.Term // nothing, one space, or a new line with its indentation
	comma     *regular.Term
	colon     *regular.Term
	quote     *regular.Term
	character *regular.Term // a character of a string, in any spelling
}

// maxIndent is the largest number of spaces and tabs after a line's end. Without a bound, a model could write spaces for ever.
const maxIndent = 80

func (c *compiler) spaceTerms() spaces {
	line := c.Concat(c.Alt(c.Empty(), c.Literal("\r")), c.Literal("\n"), c.Repeat(c.Bytes(" \t"), 0, maxIndent))
	s := spaces{space: c.Alt(c.Empty(), c.Literal(" "), line), quote: c.Literal(`"`)}
	s.comma = c.Concat(s.space, c.Literal(","), s.space)
	s.colon = c.Concat(s.space, c.Literal(":"), s.space)
	hex := c.Alt(c.Range('0', '9'), c.Range('a', 'f'), c.Range('A', 'F'))
	code := c.Alt(c.Concat(c.Bytes("0123456789abcefABCEF"), hex, hex, hex), c.Concat(c.Bytes("dD"), c.Range('0', '7'), hex, hex))
	pair := c.Concat(c.Bytes("dD"), c.Bytes("89abAB"), hex, hex, c.Literal(`\u`), c.Bytes("dD"), c.Bytes("cdefCDEF"), hex, hex)
	plain := c.alphabet.Class([]rune{' ', '!', '#', '[', ']', 0x10ffff})
	s.character = c.Alt(plain, c.Concat(c.Literal(`\`), c.Alt(c.Bytes(`"\/bfnrt`), c.Concat(c.Literal("u"), c.Alt(code, pair)))))
	return s
}

// pending is a conjunction whose state has no steps yet.
type pending struct {
	what  conjunction
	start int32
}

// lower returns the state that reads the values of a conjunction.
func (c *compiler) lower(x conjunction) int32 {
	key := x.key()
	start, ok := c.starts[key]
	if !ok {
		start = c.program.Add(machine.State{})
		c.starts[key] = start
		c.queue = append(c.queue, pending{x, start})
	}
	return start
}

// lowerAll adds the steps of all states.
func (c *compiler) lowerAll() error {
	for len(c.queue) > 0 {
		p := c.queue[len(c.queue)-1]
		c.queue = c.queue[:len(c.queue)-1]
		u, err := c.expand(p.what)
		if err != nil {
			return err
		}
		for _, b := range u {
			if err := c.value(p.start, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// value adds the steps of a bundle to a state.
func (c *compiler) value(start int32, b *bundle) error {
	for t, word := range map[types]string{null: "null", no: "false", yes: "true"} {
		if b.types&t != 0 {
			c.lexeme(start, c.Literal(word), c.end)
		}
	}
	if b.types&number != 0 {
		t := b.number
		if t == nil {
			t = c.numbers
		}
		c.lexeme(start, t, c.end)
	}
	if b.types&text != 0 {
		c.lexeme(start, c.quoted(b.text), c.end)
	}
	if b.types&array != 0 {
		if err := c.array(start, &b.array); err != nil {
			return err
		}
	}
	if b.types&object != 0 {
		return c.object(start, &b.object)
	}
	return nil
}

// quoted returns the strings with a content; nil stands for any.
func (c *compiler) quoted(content *regular.Term) *regular.Term {
	if content == nil {
		content = c.Repeat(c.character, 0, regular.Unbounded)
	}
	return c.Concat(c.quote, content, c.quote)
}

// lexeme adds a step.
func (c *compiler) lexeme(from int32, t *regular.Term, to int32) {
	s := c.program.At(from)
	s.Lexemes = append(s.Lexemes, machine.Lexeme{Term: t, Next: to})
}

// call adds a call.
func (c *compiler) call(from, start, to int32) {
	s := c.program.At(from)
	s.Calls = append(s.Calls, machine.Call{Start: start, Next: to})
}

// skip adds a step over nothing.
func (c *compiler) skip(from, to int32) {
	s := c.program.At(from)
	s.Skips = append(s.Skips, to)
}

// made returns an error if the program is too large.
func (c *compiler) made() error {
	if c.program.Len() > maxStates || c.Work() > maxDerivatives {
		return ErrLimit
	}
	return nil
}
