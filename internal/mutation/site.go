package mutation

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// Site is a place in a Go file that a mistake can be made at.
type Site struct {
	Line     int
	What     string // "< becomes <="
	from, to int    // bytes that are replaced
	text     string
}

// Apply returns the source with the mistake.
func (s Site) Apply(source []byte) []byte {
	mutant := append([]byte(nil), source[:s.from]...)
	mutant = append(mutant, s.text...)
	return append(mutant, source[s.to:]...)
}

// exchanged are operators that are easily mistaken for each other.
var exchanged = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.ADD, token.SHL: token.SHR,
	token.AND: token.OR, token.OR: token.AND,
}

// finder collects the sites of a file.
type finder struct {
	fset   *token.FileSet
	file   *token.File
	source []byte
	sites  []Site
}

// Sites returns the places in the functions of a file, in the order of the source.
func Sites(name string, source []byte) ([]Site, error) {
	f := &finder{fset: token.NewFileSet(), source: source}
	parsed, err := parser.ParseFile(f.fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f.file = f.fset.File(parsed.Pos())
	for _, d := range parsed.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			ast.Inspect(fn.Body, f.visit)
		}
	}
	return f.sites, nil
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if complains(n) {
			return false
		}
	case *ast.BinaryExpr:
		if to, ok := exchanged[n.Op]; ok {
			f.add(n.OpPos, len(n.Op.String()), fmt.Sprintf("%v becomes %v", n.Op, to), to.String())
		}
	case *ast.IfStmt:
		if onlyComplains(n) {
			return false
		}
		cond := f.text(n.Cond)
		f.add(n.Cond.Pos(), len(cond), "negated condition", "!("+cond+")")
	case *ast.BasicLit:
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil && n.Kind == token.INT {
			f.add(n.Pos(), len(n.Value), n.Value+" becomes "+fmt.Sprint(i+1), fmt.Sprint(i+1))
		}
	case *ast.Ident:
		if to, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
			f.add(n.Pos(), len(n.Name), n.Name+" becomes "+to, to)
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && complains(call) {
			return false
		}
		text := f.text(n)
		f.add(n.Pos(), len(text), "without "+first(text), "")
	case *ast.AssignStmt:
		if text := f.text(n); n.Tok != token.DEFINE {
			f.add(n.Pos(), len(text), "without "+first(text), "")
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add(n.Pos(), 1, "! dropped", "")
		}
	}
	return true
}

// complaints are functions that tell the user, or us, of a mistake.
var complaints = map[string]bool{
	"panic": true, "refuse": true, "fail": true, "Errorf": true, "Sprintf": true, "New": true, "WithHelp": true,
}

func complains(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return complaints[f.Name]
	case *ast.SelectorExpr:
		return complaints[f.Sel.Name]
	}
	return false
}

// onlyComplains reports whether nothing else happens where a condition holds.
func onlyComplains(s *ast.IfStmt) bool {
	if s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	e, ok := s.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	return ok && complains(call)
}

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.file.Offset(n.Pos()):f.file.Offset(n.End())])
}

// first returns the first line of text.
func first(text string) string {
	for i, c := range text {
		if c == '\n' {
			return text[:i] + "..."
		}
	}
	return text
}

func (f *finder) add(at token.Pos, length int, what, text string) {
	from := f.file.Offset(at)
	f.sites = append(f.sites, Site{f.file.Line(at), what, from, from + length, text})
}
