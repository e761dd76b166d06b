package jinja

import (
	"fmt"
	"maps"
)

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct{ body []statement }

// failure is the panic with which Compile and Render end at an error.
type failure struct{ err error }

// fail panics with a failure.
func fail(line int, format string, args ...any) {
	panic(failure{fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)})
}

// rescue recovers from a failure.
func rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.err
	default:
		panic(r)
	}
}

// Compile returns the template with a source.
func Compile(source string) (t *Template, err error) {
	defer rescue(&err)
	p := parser{tokens: scan(source)}
	return &Template{p.all()}, nil
}

// Render returns the text that a template prints. vars are the variables; the template may change the lists and dictionaries among them.
// interrupt, unless it is nil, is called from time to time. If it returns an error, Render returns this error.
func (t *Template) Render(vars map[string]Value, interrupt func() error) (text string, err error) {
	defer rescue(&err)
	r := &run{work: work{interrupt: interrupt, line: 1}}
	global := &scope{vars: maps.Clone(vars)}
	if global.vars == nil {
		global.vars = map[string]Value{}
	}
	return r.capture(t.body, global), nil
}
