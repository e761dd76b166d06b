package schema

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/grammar/internal/machine"
	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// maxUnique is the largest number of values of which arrays may have each once. There is a state for each set of them.
const maxUnique = 10

// uniqueArray adds the steps of arrays without equal elements, of which there are few.
func (c *compiler) uniqueArray(start int32, a *arrays) error {
	values, err := c.few(a)
	if err != nil {
		return err
	}
	used := make([]int32, 1<<len(values)) // the state before an element, by the set of those that were
	for i := range used {
		used[i] = c.program.Add(machine.State{})
	}
	c.lexeme(start, c.Concat(c.Literal("["), c.space), used[0])
	if a.least == 0 {
		c.lexeme(used[0], c.Literal("]"), c.end)
	}
	for set := range used {
		n := bits.OnesCount(uint(set))
		if n >= a.most {
			continue
		}
		for i, t := range values {
			if set>>i&1 != 0 {
				continue
			}
			if n+1 >= a.least {
				c.lexeme(used[set], c.Concat(t, c.space, c.Literal("]")), c.end)
			}
			c.lexeme(used[set], c.Concat(t, c.comma), used[set|1<<i])
		}
	}
	return c.made()
}

// few returns the elements of an array, if they are few scalars.
func (c *compiler) few(a *arrays) ([]*regular.Term, error) {
	refuse := unsupported(a.unique, "unique elements that are not a few strings, Booleans or null")
	if len(a.prefix) > 0 || len(a.contains) > 0 {
		return nil, refuse
	}
	u, err := c.expand(a.rest)
	if err != nil {
		return nil, err
	}
	words := map[string]bool{}
	for _, b := range u {
		if b.types&(number|array|object) != 0 || b.types&text != 0 && b.text == nil {
			return nil, refuse
		}
		for t, word := range map[types]string{null: "null", no: "false", yes: "true"} {
			if b.types&t != 0 {
				words[word] = true
			}
		}
		if b.types&text != 0 && !c.words(c.quoted(b.text), "", words) {
			return nil, refuse
		}
	}
	if len(words) > maxUnique {
		return nil, refuse
	}
	var list []*regular.Term
	for word := range words {
		list = append(list, c.Literal(word))
	}
	return list, nil
}

// words adds the texts of a language to a set, and reports whether they are few.
func (c *compiler) words(t *regular.Term, begin string, to map[string]bool) bool {
	if t.Nullable() {
		to[begin] = true
	}
	if len(to) > maxUnique || len(begin) > 200 {
		return false
	}
	for b := range 256 {
		if d := c.Derive(t, byte(b)); c.Alive(d) && !c.words(d, begin+string([]byte{byte(b)}), to) {
			return false
		}
	}
	return true
}
