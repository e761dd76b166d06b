// Package machine follows texts of a context-free language byte by byte, with a stack.
//
//	p := machine.NewProgram(store)
//	end := p.Add(machine.State{End: true})
//	start := p.Add(machine.State{Lexemes: []machine.Lexeme{{Term: digits, Next: end}}})
//	m, err := p.Start(start, machine.Options{})
//	s := m.Step(m.First(), '7') // nil if no text begins so
//	s.End()                     // whether the text is complete
//
// A program has states. From a state, a lexeme, which is a regular language, leads to another one; a call reads what another state
// leads to, up to an end, and goes on. Where several ways are possible, the machine goes them all. What it knows at a place in a text is a
// State: a set of places in lexemes, each with a stack. States and stacks are interned, so that they form an automaton that grows while it
// is used; its size is limited, and beyond that it is forgotten and grows again. Stacks with the same top are merged as in Earley's
// algorithm ("An efficient context-free parsing algorithm", 1970), which bounds the number of ways.
package machine
