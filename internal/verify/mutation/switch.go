package mutation

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// ErrStale reports that a mutation's text is not found or not unique: the compiler has changed, so
// the mutation must be updated.
var ErrStale = errors.New("the text is not there, or more than once")

// What a package with mutations has to declare: the number of the mutation that is made, and a function that is
// called with the number of one before each statement that it would change.
const (
	Variable = "zmutation"
	Reached  = "zreached"
)

// Switched returns the source of a file with all mutations, each of which is active if the
// package's Variable has its number.
func Switched(name string, source []byte, list []Mutation) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &switcher{file: fset.File(f.Pos()), source: string(source), named: map[*ast.FuncDecl]bool{}}
	for _, m := range list {
		if err := s.add(f, m); err != nil {
			return nil, fmt.Errorf("mutation %d, %s: %s: %w", m.Number, m.Name, m.File, err)
		}
	}
	return []byte(s.apply() + s.copies.String()), nil
}

// switcher collects how a source changes.
type switcher struct {
	file   *token.File
	source string
	named  map[*ast.FuncDecl]bool // functions whose parameters have got names
	edits  []edit
	copies strings.Builder
}

// edit replaces part of the source.
type edit struct {
	from, to int
	text     string
}

func (s *switcher) apply() string {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	at := 0
	for _, e := range s.edits {
		out.WriteString(s.source[at:e.from] + e.text)
		at = e.to
	}
	return out.String() + s.source[at:]
}

// add adds the mutated copy of a function, and the choice to it.
func (s *switcher) add(f *ast.File, m Mutation) error {
	d := s.find(f, m)
	if d == nil {
		return ErrStale
	}
	from, to := s.offset(d.Pos()), s.offset(d.End())
	name := s.offset(d.Name.End())
	suffix := fmt.Sprintf("%s%d", Variable, m.Number)
	s.copies.WriteString("\n" + s.source[from:name] + suffix + strings.Replace(s.source[name:to], m.From, m.To, 1) + "\n")

	args := s.args(d)
	call := d.Name.Name + suffix + "(" + strings.Join(args, ", ") + ")"
	if d.Recv != nil {
		call = s.receiver(d) + "." + call
	}
	if d.Type.Results == nil {
		call += "; return"
	} else {
		call = "return " + call
	}
	body := s.offset(d.Body.Lbrace) + 1
	s.edits = append(s.edits, edit{body, body, fmt.Sprintf(" if %s == %d { %s };", Variable, m.Number, call)})
	at := strings.Index(s.source[from:to], m.From) + from
	if first := s.offset(s.statement(d.Body, at)); first >= body {
		s.edits = append(s.edits, edit{first, first, fmt.Sprintf("%s(%d);", Reached, m.Number)})
	}
	s.named[d] = true
	return nil
}

// statement returns where the innermost statement of a list begins that the text at an offset belongs to.
func (s *switcher) statement(body *ast.BlockStmt, at int) token.Pos {
	pos := body.Lbrace + 1
	ast.Inspect(body, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		}
		for _, x := range list {
			if _, clause := x.(*ast.CaseClause); clause {
				continue
			}
			if s.offset(x.Pos()) <= at && at < s.offset(x.End()) {
				pos = x.Pos()
			}
		}
		return n == nil || s.offset(n.Pos()) <= at && at < s.offset(n.End())
	})
	return pos
}

// find returns the function with the mutation's text in its body.
func (s *switcher) find(f *ast.File, m Mutation) (found *ast.FuncDecl) {
	for _, decl := range f.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Body == nil || m.Func != "" && m.Func != fullName(d) {
			continue
		}
		switch strings.Count(s.source[s.offset(d.Body.Pos()):s.offset(d.End())], m.From) {
		case 0:
		case 1:
			if found != nil {
				return nil
			}
			found = d
		default:
			return nil
		}
	}
	return found
}

func fullName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if i, ok := t.(*ast.IndexExpr); ok {
		t = i.X
	}
	return t.(*ast.Ident).Name + "." + d.Name.Name
}

func (s *switcher) offset(p token.Pos) int { return s.file.Offset(p) }

// receiver returns the receiver's name.
func (s *switcher) receiver(d *ast.FuncDecl) string { return s.names(d, d.Recv, "zr")[0] }

// args returns what hands the parameters on.
func (s *switcher) args(d *ast.FuncDecl) []string {
	args := s.names(d, d.Type.Params, "zp")
	if n := len(d.Type.Params.List); n > 0 {
		if _, ok := d.Type.Params.List[n-1].Type.(*ast.Ellipsis); ok {
			args[len(args)-1] += "..."
		}
	}
	return args
}

// names returns the names of fields; those without get one.
func (s *switcher) names(d *ast.FuncDecl, fields *ast.FieldList, prefix string) (names []string) {
	for _, f := range fields.List {
		if f.Names == nil {
			name := fmt.Sprintf("%s%d", prefix, len(names))
			names = append(names, name)
			if at := s.offset(f.Type.Pos()); !s.named[d] {
				s.edits = append(s.edits, edit{at, at, name + " "})
			}
		}
		for _, n := range f.Names {
			name := n.Name
			if name == "_" {
				name = fmt.Sprintf("%s%d", prefix, len(names))
				if !s.named[d] {
					s.edits = append(s.edits, edit{s.offset(n.Pos()), s.offset(n.End()), name})
				}
			}
			names = append(names, name)
		}
	}
	return names
}
