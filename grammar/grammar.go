package grammar

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gopherwarp/gopherwarp/grammar/internal/machine"
	"github.com/gopherwarp/gopherwarp/grammar/internal/pattern"
	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
	"github.com/gopherwarp/gopherwarp/grammar/internal/schema"
)

// Errors of Schema, Pattern and Matcher.
var (
	// ErrSyntax is the error of a schema that is not JSON, or not a JSON Schema.
	ErrSyntax = schema.ErrSyntax
	// ErrUnsupported is the error of a schema or pattern that cannot be enforced.
	ErrUnsupported = errors.New("grammar: unsupported")
	// ErrLimit is the error of a schema that is too large.
	ErrLimit = schema.ErrLimit
	// ErrEmpty is the error of a schema or pattern that no text satisfies.
	ErrEmpty = errors.New("grammar: no text is possible")
	// ErrToken is the error of a token that is not allowed.
	ErrToken = errors.New("grammar: the token is not allowed")
	// ErrStuck is the error of a text that no token of the vocabulary can continue.
	ErrStuck = errors.New("grammar: no token continues the text")
)

// problem is an error of one of the kinds above, with its own text.
type problem struct{ kind, err error }

func (p problem) Error() string   { return "grammar: " + p.err.Error() }
func (p problem) Unwrap() []error { return []error{p.kind, p.err} }

// Grammar is a set of texts. It is safe for concurrent use.
type Grammar struct {
	mutex   sync.Mutex
	machine *machine.Machine
	masks   int // that states remember
	size    int // of the schema or expression
}

// Size returns the length of the schema or expression in bytes. A grammar with many names or values takes about 100 times as much memory.
func (g *Grammar) Size() int { return g.size }

// Schema returns the grammar of the JSON documents that satisfy a JSON Schema. The errors match ErrSyntax, ErrUnsupported, ErrLimit and
// ErrEmpty, and name the place in the schema.
func Schema(text []byte) (*Grammar, error) {
	m, err := schema.Compile(text)
	switch {
	case errors.Is(err, schema.ErrUnsupported):
		return nil, problem{ErrUnsupported, err}
	case errors.Is(err, schema.ErrEmpty):
		return nil, problem{ErrEmpty, err}
	case err != nil:
		return nil, fmt.Errorf("grammar: %w", err)
	}
	return &Grammar{machine: m, size: len(text)}, nil
}

// Object returns the grammar of all JSON objects.
func Object() *Grammar {
	g, err := Schema([]byte(`{"type": "object"}`))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return g
}

// maxTerms is the number of terms that a pattern's grammar keeps.
const maxTerms = 1 << 17

// Pattern returns the grammar of the texts that a regular expression matches as a whole. The syntax is that of package regexp, without word
// boundaries and without (?m). The errors match ErrUnsupported and ErrEmpty.
func Pattern(expression string) (*Grammar, error) {
	s := regular.NewStore(maxTerms)
	a := pattern.NewAlphabet(s, pattern.UTF8)
	t, err := pattern.Go(a, expression)
	if err != nil {
		return nil, problem{ErrUnsupported, err}
	}
	p := machine.NewProgram(s)
	end := p.Add(machine.State{End: true})
	start := p.Add(machine.State{Lexemes: []machine.Lexeme{{Term: t, Next: end}}})
	if t.Nullable() {
		p.At(start).Skips = []int32{end}
	}
	m, err := p.Start(start, machine.Options{Units: []*regular.Term{a.Any}})
	if err != nil {
		return nil, fmt.Errorf("%w (%q)", ErrEmpty, expression)
	}
	return &Grammar{machine: m, size: len(expression)}, nil
}
