package cpu

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// sweep removes variables that nothing reads, which Go refuses, and what is assigned to them. The emitter writes
// a variable where something asks for it, and what asked may then not be written: a condition with
// nothing to do on either side, a value that serves another such variable.
func sweep(tables string, lines []line) (*parsed, error) {
	for {
		p, err := parse(tables, lines)
		if err != nil {
			return nil, err
		}
		u := &reads{unread: map[*local]bool{}}
		for _, d := range p.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				u.function(f)
			}
		}
		if len(u.unread) == 0 {
			return p, nil
		}
		lines = remove(lines, u, p.indexOf)
	}
}

// parsed is a twin as Go's parser understands it.
type parsed struct {
	lines []line
	index []int // of lines, by the line in the file
	set   *token.FileSet
	file  *ast.File
}

// clause makes a file of declarations.
const clause = "package p\n"

// parse parses the declarations of tables and those in lines.
func parse(tables string, lines []line) (*parsed, error) {
	above := 1 + strings.Count(tables, "\n")
	p := &parsed{lines: lines, index: make([]int, above, above+2*len(lines)), set: token.NewFileSet()}
	var b strings.Builder
	b.Grow(len(clause) + len(tables) + 64*len(lines))
	b.WriteString(clause)
	b.WriteString(tables)
	p.index = write(&b, lines, p.index)
	var err error
	if p.file, err = parser.ParseFile(p.set, "", b.String(), parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, b.String())
	}
	return p, nil
}

// indexOf returns which of the lines n begins in.
func (p *parsed) indexOf(n ast.Node) int { return p.index[p.set.PositionFor(n.Pos(), false).Line-1] }

// format returns the text as gofmt has it.
func (p *parsed) format() (string, error) {
	var b bytes.Buffer
	if err := format.Node(&b, p.set, p.file); err != nil {
		return "", err
	}
	_, text, _ := strings.Cut(b.String(), "\n") // after the clause
	return strings.TrimSpace(text) + "\n", nil
}

// local is a variable of a function.
type local struct {
	name   string
	writes []ast.Stmt // its declaration among them
}

// reads finds out which variables are read.
type reads struct {
	scopes []map[string]*local
	unread map[*local]bool
}

func (u *reads) function(f *ast.FuncDecl) {
	u.scoped(func() {
		for _, p := range f.Type.Params.List {
			for _, name := range p.Names {
				u.scopes[len(u.scopes)-1][name.Name] = nil
			}
		}
		u.visit(f.Body)
	})
}

// scoped calls f in a scope of its own.
func (u *reads) scoped(f func()) {
	u.scopes = append(u.scopes, map[string]*local{})
	f()
	u.scopes = u.scopes[:len(u.scopes)-1]
}

// find returns the variable with that name, nil if it is none of the function's own.
func (u *reads) find(name string) *local {
	for _, s := range slices.Backward(u.scopes) {
		if v, ok := s[name]; ok {
			return v
		}
	}
	return nil
}

func (u *reads) declare(name string, at ast.Stmt) {
	if name != "_" {
		v := &local{name: name, writes: []ast.Stmt{at}}
		u.scopes[len(u.scopes)-1][name] = v
		u.unread[v] = true
	}
}

// visit notes what the code of n reads and declares.
func (u *reads) visit(n ast.Node) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.BlockStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause:
			if m == n {
				return true
			}
			u.scoped(func() { u.nested(m) })
			return false
		case *ast.AssignStmt:
			u.assign(m)
			return false
		case *ast.DeclStmt:
			for _, name := range m.Decl.(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Names {
				u.declare(name.Name, m)
			}
			return false
		case *ast.SelectorExpr:
			u.visit(m.X)
			return false
		case *ast.Ident:
			delete(u.unread, u.find(m.Name))
		}
		return true
	})
}

// nested visits a statement with a scope.
func (u *reads) nested(n ast.Node) {
	r, ok := n.(*ast.RangeStmt)
	if !ok {
		u.visit(n)
		return
	}
	u.visit(r.X)
	if key, ok := r.Key.(*ast.Ident); ok {
		u.declare(key.Name, r)
	}
	u.scoped(func() { u.visit(r.Body) })
}

func (u *reads) assign(a *ast.AssignStmt) {
	for _, x := range a.Rhs {
		u.visit(x)
	}
	for _, x := range a.Lhs {
		name, ok := x.(*ast.Ident)
		switch {
		case !ok || a.Tok != token.ASSIGN && a.Tok != token.DEFINE:
			u.visit(x)
		case a.Tok == token.DEFINE:
			u.declare(name.Name, a)
		default:
			if v := u.find(name.Name); v != nil {
				v.writes = append(v.writes, a)
			}
		}
	}
}

// remove removes the unread variables of u from lines.
func remove(lines []line, u *reads, indexOf func(ast.Node) int) []line {
	gone := map[int][]string{}
	for v := range u.unread {
		for _, w := range v.writes {
			gone[indexOf(w)] = append(gone[indexOf(w)], v.name)
		}
	}
	var kept []line
	for i, l := range lines {
		if names := gone[i]; names != nil {
			l.text = without(l.text, names)
		}
		if l.text != "" || gone[i] == nil {
			kept = append(kept, l)
		}
	}
	return kept
}

// without returns a statement that declares or assigns variables without those named. A call
// that does something stays.
func without(text string, names []string) string {
	if rest, ok := strings.CutPrefix(text, "for "+names[0]+" := range "); ok {
		return "for range " + rest
	}
	if rest, ok := strings.CutPrefix(text, "var "); ok {
		i := 0 // where the type begins
		for _, part := range strings.SplitAfter(rest, ", ") {
			if i += len(part); !strings.HasSuffix(part, ", ") {
				i += strings.Index(part, " ") - len(part)
				break
			}
		}
		list := slices.DeleteFunc(strings.Split(rest[:i], ", "), func(s string) bool { return slices.Contains(names, s) })
		if len(list) == 0 {
			return ""
		}
		return "var " + strings.Join(list, ", ") + rest[i:]
	}
	op := " = "
	left, right, ok := strings.Cut(text, op)
	if defined, value, is := strings.Cut(text, " := "); is && (!ok || len(defined) < len(left)) {
		left, right, op = defined, value, " := "
	}
	to := strings.Split(left, ", ")
	from := splitArgs(right)
	if len(from) != len(to) {
		return withoutResults(to, op, right, names)
	}
	var keptTo, keptFrom []string
	for i, name := range to {
		if !slices.Contains(names, name) {
			keptTo, keptFrom = append(keptTo, name), append(keptFrom, from[i])
		}
	}
	switch {
	case len(keptTo) > 0:
		return strings.Join(keptTo, ", ") + op + strings.Join(keptFrom, ", ")
	case !strings.Contains(right, ".Atomic"):
		return ""
	case strings.Contains(right[:strings.IndexByte(right, '(')], ".Atomic"):
		return right
	}
	return "_ = " + right // a conversion is not a statement
}

// withoutResults returns a statement that takes from a call the results that are not named.
func withoutResults(to []string, op, call string, names []string) string {
	taken := false
	for i, name := range to {
		if slices.Contains(names, name) {
			to[i] = "_"
		}
		taken = taken || to[i] != "_"
	}
	if !taken {
		return call
	}
	return strings.Join(to, ", ") + op + call
}

// splitArgs splits a list at its commas outside of parentheses.
func splitArgs(list string) []string {
	var parts []string
	depth, start := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(list[start:]))
}
