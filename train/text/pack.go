package text

import "math/rand/v2"

// A Pack is a sequence of whole texts.
type Pack struct {
	Tokens  []int32
	Lengths []int   // the number of tokens of each text; in a preference, the chosen text precedes the rejected text
	Labels  []int32 // for each token, the next token of its text, or -1 if there is none or the model does not learn it
	Learned int     // the number of labels that are not -1
	Pairs   int     // the number of preferences
}

// Packs returns the texts in packs of at most Options.Length tokens. The texts are in a random order, which
// epoch and seed determine. Each pack takes as many of the next texts as fit.
func (d *Data) Packs(epoch, seed uint64) []Pack {
	var list []Pack
	var p Pack
	for _, i := range rand.New(rand.NewPCG(seed, epoch)).Perm(len(d.Examples)) {
		e := d.Examples[i]
		if len(p.Tokens)+e.size() > d.length {
			list, p = append(list, p), Pack{}
		}
		p.add(e)
	}
	if len(p.Tokens) > 0 {
		list = append(list, p)
	}
	return list
}

// add appends a text.
func (p *Pack) add(e Example) {
	p.Tokens, p.Lengths = append(p.Tokens, e.Tokens...), append(p.Lengths, len(e.Tokens))
	for i := range e.Tokens {
		label := int32(-1)
		if i+1 < len(e.Tokens) && e.Learned[i+1] {
			label = e.Tokens[i+1]
			p.Learned++
		}
		p.Labels = append(p.Labels, label)
	}
	if e.Rejected != nil {
		p.add(*e.Rejected)
		p.Pairs++
	}
}
