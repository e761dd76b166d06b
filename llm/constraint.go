package llm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/grammar"
)

// vocabulary returns the tokens for grammars. It is made when the first text needs it.
func (m *Model) vocabulary() *grammar.Vocabulary {
	m.vocabularyOnce.Do(func() {
		ends := make([]int32, 0, len(m.ends))
		for id := range m.ends {
			ends = append(ends, id)
		}
		m.vocabularyMade = grammar.NewVocabulary(m.tokenizer, ends)
	})
	return m.vocabularyMade
}

// constrained reports whether the choice in a row depends on the token before it, so that the host must know that one first.
func (e *engine) constrained() bool {
	for _, q := range e.rows {
		if q.matcher != nil && !q.leaving {
			return true
		}
	}
	return false
}

// constrain uploads the masks of the rows for the next step.
func (e *engine) constrain() error {
	for row, q := range e.rows {
		if q.matcher == nil || q.leaving {
			continue
		}
		if err := e.sampler.restrict(row, q); err != nil {
			return err
		}
	}
	return nil
}

// restrict uploads the mask for the next token of a sequence.
func (p *sampler) restrict(row int, q *sequence) error {
	words := (p.vocabulary + 31) / 32
	mask := make([]uint32, words)
	copy(mask, q.mask)
	return device.UploadTo(p.stream, p.masks.Slice(row*words, (row+1)*words), mask)
}

// constrain begins a text of a grammar. The error matches grammar.ErrStuck.
func (q *sequence) constrain(g *grammar.Grammar, v *grammar.Vocabulary) error {
	q.matcher, q.mask = g.NewMatcher(v), make([]uint32, v.Words())
	return q.matcher.Mask(q.mask)
}

// follow appends a token to what the grammar has seen, and sets the mask for the next one. The error matches grammar.ErrStuck.
func (q *sequence) follow(id int32) error {
	if q.matcher == nil {
		return nil
	}
	if err := q.matcher.Accept(id); err != nil || q.matcher.Ended() {
		return err
	}
	return q.matcher.Mask(q.mask)
}
