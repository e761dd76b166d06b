package jinja

// expression is an expression of a template.
type expression interface {
	eval(r *run, s *scope) Value
}

// The expressions.
type (
	constant struct{ value Value }
	variable struct{ name string }
	sequence struct { // a list or a tuple
		items []expression
		tuple bool
	}
	dictionary struct{ keys, values []expression }
	attribute  struct { // x.name
		of   expression
		name string
	}
	item  struct{ of, key expression } // x[key]
	slice struct {                     // x[begin:end:step], whose parts may be nil
		of               expression
		begin, end, step expression
	}
	invocation struct { // f(...)
		function expression
		operands
	}
	filtered struct { // x | name(...)
		of   expression
		name string
		operands
	}
	tested struct { // x is name(...)
		of   expression
		name string
		operands
	}
	negated struct{ of expression } // not x
	sign    struct {                // -x, +x
		op string
		of expression
	}
	logical struct { // and, or
		left, right expression
		or          bool
	}
	conditional struct{ then, condition, otherwise expression } // otherwise may be nil
	arithmetic  struct {
		op          string
		left, right expression
	}
	concatenation struct{ items []expression }
	comparison    struct { // first ops[0] rest[0] ops[1] rest[1] ...
		first expression
		ops   []string
		rest  []expression
	}
)

// operands are the arguments of a call in the source. spread and spreadNamed, unless they are nil, follow * and **.
type operands struct {
	list                []expression
	names               []string // of values
	values              []expression
	spread, spreadNamed expression
}

// statement is a statement of a template, or text.
type statement interface {
	exec(r *run, s *scope) flow
}

// flow says how a statement ended.
type flow int

const (
	normal flow = iota
	broke
	continued
)

// The statements.
type (
	text    struct{ text string }
	printed struct {
		line  int
		value expression
	}
	branch struct { // if and elif; without a condition, else
		line      int
		condition expression
		body      []statement
	}
	branches []branch
	loop     struct {
		line            int
		target          target
		list, condition expression // condition may be nil
		body, otherwise []statement
		recursive       bool
	}
	assignment struct {
		line   int
		target target
		value  expression
	}
	block struct { // set, with a body
		line    int
		target  target
		filters expression // of the variable captured; or nil
		body    []statement
	}
	filterBlock struct {
		line    int
		filters expression // of the variable captured
		body    []statement
	}
	definition struct { // macro
		line   int
		name   string
		params []parameter
		body   []statement
	}
	callBlock struct {
		line   int
		call   *invocation
		caller *definition
	}
	with struct {
		line   int
		names  []target
		values []expression
		body   []statement
	}
	inner struct{ body []statement } // has variables of its own
	jump  struct{ to flow }
)

// captured is the variable that holds the text of a block for its filters. No name contains a space.
const captured = "captured text"

// target is what an assignment sets: a variable, an attribute of a namespace, or several of them.
type target struct {
	name, attribute string
	parts           []target // if name is empty
}

// parameter is a parameter of a macro. Its default value may be nil.
type parameter struct {
	name      string
	otherwise expression
}
