package origin

import (
	"go/scanner"
	"go/token"
	"hash"
	"hash/fnv"
	"io"
	"strings"
)

// directive begins the comments that count.
const directive = "//gpu:"

// Sums returns a hash of each declaration at package level of a Go file, by its name: "f" of a function, "T.m" of a method,
// also if its receiver is a pointer. All names of a group, as const ( ... ) is one, have the hash of the group. Hashes of
// declarations that share a name, such as init, are combined. Of text that is not Go it returns what it can.
func Sums(text []byte) map[string]uint64 {
	set := token.NewFileSet()
	s := &splitter{sums: map[string]uint64{}}
	s.scanner.Init(set.AddFile("", set.Base(), len(text)), text, nil, scanner.ScanComments)
	for {
		_, tok, literal := s.scanner.Scan()
		if tok == token.EOF {
			s.end()
			return s.sums
		}
		s.token(tok, literal)
	}
}

// splitter splits the tokens of a file into declarations.
type splitter struct {
	scanner    scanner.Scanner
	sums       map[string]uint64
	directives []string    // above the next declaration
	hash       hash.Hash64 // of the current one; nil between two
	kind       token.Token // of the current one: func, var, const or type
	separator  token.Token // that is not in hash yet, or ILLEGAL
	depth      int         // of brackets
	grouped    bool        // the declaration is var ( ... ) or such
	fresh      bool        // names are declared next
	receiver   string      // of a method, once it is known
	last       string      // the last identifier in the receiver, type arguments aside
	square     int         // depth of square brackets in the receiver
	state      state
	names      []string
}

// state says what the next tokens of a func declaration are.
type state int

const (
	beforeName state = iota
	inReceiver
	afterName
)

func (s *splitter) token(tok token.Token, literal string) {
	if tok == token.COMMENT {
		if s.hash == nil && strings.HasPrefix(literal, directive) {
			s.directives = append(s.directives, literal)
		}
		return
	}
	if s.hash == nil {
		s.begin(tok)
		return
	}
	s.write(tok, literal)
	if s.kind == token.FUNC {
		s.function(tok, literal)
	} else {
		s.group(tok, literal)
	}
	switch tok {
	case token.LPAREN, token.LBRACE, token.LBRACK:
		s.depth++
	case token.RPAREN, token.RBRACE, token.RBRACK:
		s.depth--
	case token.SEMICOLON:
		if s.depth <= 0 {
			s.end()
		}
	}
}

// write adds a token to the hash, but not a separator before a closing bracket: that depends on how lines are broken.
func (s *splitter) write(tok token.Token, literal string) {
	closing := tok == token.RPAREN || tok == token.RBRACE || tok == token.RBRACK
	if s.separator != token.ILLEGAL && !closing {
		io.WriteString(s.hash, s.separator.String()+"\x00")
	}
	s.separator = token.ILLEGAL
	if tok == token.SEMICOLON || tok == token.COMMA {
		s.separator = tok
		return
	}
	io.WriteString(s.hash, tok.String()+"\x00"+literal+"\x00")
}

// begin starts a declaration, or passes a token that starts none.
func (s *splitter) begin(tok token.Token) {
	switch tok {
	case token.FUNC, token.VAR, token.CONST, token.TYPE:
		h := fnv.New64a()
		for _, d := range s.directives {
			io.WriteString(h, d+"\x00")
		}
		*s = splitter{scanner: s.scanner, sums: s.sums, hash: h, kind: tok, fresh: true}
	}
	if tok != token.SEMICOLON {
		s.directives = nil
	}
}

// end records the current declaration.
func (s *splitter) end() {
	if s.hash == nil {
		return
	}
	sum := s.hash.Sum64()
	for _, name := range s.names {
		s.sums[name] = s.sums[name]*31 + sum
	}
	s.hash, s.directives = nil, nil
}

// function finds the name of a function, and the receiver's type.
func (s *splitter) function(tok token.Token, literal string) {
	switch {
	case s.state == beforeName && tok == token.LPAREN:
		s.state = inReceiver
	case s.state == beforeName && tok == token.IDENT:
		name := literal
		if s.receiver != "" {
			name = s.receiver + "." + literal
		}
		s.names, s.state = []string{name}, afterName
	case s.state == inReceiver && tok == token.LBRACK:
		s.square++
	case s.state == inReceiver && tok == token.RBRACK:
		s.square--
	case s.state == inReceiver && tok == token.IDENT && s.square == 0:
		s.last = literal
	case s.state == inReceiver && tok == token.RPAREN && s.depth == 1:
		s.receiver, s.state = s.last, beforeName
	}
}

// group finds the names that a var, const or type declaration declares: identifiers at the beginning of a specification.
func (s *splitter) group(tok token.Token, literal string) {
	level := 0
	if s.grouped {
		level = 1
	}
	switch {
	case tok == token.LPAREN && s.depth == 0 && s.fresh && len(s.names) == 0 && !s.grouped:
		s.grouped = true
	case s.depth != level:
	case tok == token.IDENT && s.fresh:
		s.names, s.fresh = append(s.names, literal), false
	case tok == token.COMMA && s.kind != token.TYPE && !s.fresh && s.state == beforeName:
		s.fresh = true
	case tok == token.ASSIGN:
		s.state = afterName
	case tok == token.SEMICOLON:
		s.fresh, s.state = true, beforeName
	case s.fresh:
		s.fresh = false
	}
}
