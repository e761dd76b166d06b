package mutation

import (
	_ "embed"
	"fmt"
	"strings"
)

// Mutation is a mistake: a text of a function and its replacement.
type Mutation struct {
	Number   int    // from 1
	Name     string // what is wrong
	File     string // in the repository
	Func     string // that the text is looked for in, "f" or "T.f"; empty if it is found once in the file
	From, To string
}

//go:embed mutations.txt
var text string

// List returns all mutations.
func List() ([]Mutation, error) { return parse(text) }

// parse reads mutations: a line with "== " and the name, one with the file and perhaps the function, then
// the lines that go, after "- ", and those that come, after "+ ". Lines that begin with # are comments.
func parse(text string) (list []Mutation, err error) {
	var m *Mutation
	for i, line := range strings.Split(text, "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || mark[0] == '#':
		case mark == "==":
			list = append(list, Mutation{Number: len(list) + 1, Name: rest})
			m = &list[len(list)-1]
		case m == nil:
			return nil, fmt.Errorf("mutation: line %d stands in front of the first mutation", i+1)
		case mark == "-":
			m.From += rest + "\n"
		case mark == "+":
			m.To += rest + "\n"
		case m.File == "" && strings.HasSuffix(mark, ".go"):
			m.File, m.Func = mark, rest
		default:
			return nil, fmt.Errorf("mutation: line %d: what is %q?", i+1, line)
		}
	}
	for i := range list {
		m := &list[i]
		m.From, m.To = strings.TrimSuffix(m.From, "\n"), strings.TrimSuffix(m.To, "\n")
		if m.File == "" || m.From == "" || m.From == m.To {
			return nil, fmt.Errorf("mutation: %s: it has no file, or changes nothing", m.Name)
		}
	}
	return list, nil
}
