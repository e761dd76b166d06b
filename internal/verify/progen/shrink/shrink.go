package shrink

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// blank matches the empty lines that cuts leave.
var blank = regexp.MustCompile(`\n(\s*\n)+`)

// batch is how many smaller kernels are tried at once: Go's compiler takes most of the time.
const batch = 60

// Kernel makes a kernel smaller for as long as it fails. The function fails reports for each of
// several kernels, which differ in their names, whether it does.
func Kernel(k progen.Kernel, fails func([]progen.Kernel) ([]bool, error)) (progen.Kernel, error) {
	c := newChecker()
	for round := 0; ; round++ {
		next, err := c.smaller(k, round, fails)
		if err != nil || next.Source == "" {
			return k, err
		}
		k = next
		k.Source = blank.ReplaceAllString(k.Source, "\n")
	}
}

// smaller returns the first kernel that still fails among those with one cut, the greatest cuts first.
func (c *checker) smaller(k progen.Kernel, round int, fails func([]progen.Kernel) ([]bool, error)) (progen.Kernel, error) {
	cuts, err := cutsOf(k.Source)
	if err != nil {
		return progen.Kernel{}, err
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Compare(b.saved(), a.saved()) })
	for len(cuts) > 0 {
		var tried []progen.Kernel
		for len(cuts) > 0 && len(tried) < batch {
			source, ok := c.mend(cuts[0].apply(k.Source))
			cuts = cuts[1:]
			if ok && len(source) < len(k.Source) && strings.Contains(source, "\nfunc "+k.Name+"(") {
				tried = append(tried, renamed(k, source, fmt.Sprintf("k%d_", 1000*(round+1)+len(tried))))
			}
		}
		failed, err := fails(tried)
		if err != nil {
			return progen.Kernel{}, err
		}
		if i := slices.Index(failed, true); i >= 0 {
			return tried[i], nil
		}
	}
	return progen.Kernel{}, nil
}

// renamed returns k with another source, all its names beginning anew.
func renamed(k progen.Kernel, source, name string) progen.Kernel {
	args := slices.Clone(k.Args)
	for i := range args {
		args[i].Type = strings.ReplaceAll(args[i].Type, k.Name, name)
	}
	k.Source, k.Args = strings.ReplaceAll(source, k.Name, name), args
	k.Name = name
	return k
}

// cut replaces part of a source by something shorter.
type cut struct {
	from, to int
	text     string
}

func (c cut) saved() int                 { return c.to - c.from - len(c.text) }
func (c cut) apply(source string) string { return source[:c.from] + c.text + source[c.to:] }

// cutter finds the cuts of a source.
type cutter struct {
	file   *token.File
	source string
	cuts   []cut
}

const clause = "package p\n"

func cutsOf(source string) ([]cut, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", clause+source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	c := &cutter{file: fset.File(f.Pos()), source: source}
	for _, d := range f.Decls {
		c.replace(d)
	}
	ast.Inspect(f, c.visit)
	return c.cuts, nil
}

// offset returns the place in the source, which begins after the package clause.
func (c *cutter) offset(p token.Pos) int { return c.file.Offset(p) - len(clause) }

func (c *cutter) text(n ast.Node) string { return c.source[c.offset(n.Pos()):c.offset(n.End())] }

// replace adds the cut of n to some text, or to nothing.
func (c *cutter) replace(n ast.Node, by ...string) {
	c.cuts = append(c.cuts, cut{c.offset(n.Pos()), c.offset(n.End()), strings.Join(by, "")})
}

func (c *cutter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BlockStmt:
		c.statements(n.List)
	case *ast.CaseClause:
		c.statements(n.Body)
		c.replace(n)
	case *ast.IfStmt:
		c.replace(n, c.text(n.Body))
		if n.Else != nil {
			c.replace(n, c.text(n.Else))
		}
	case *ast.ForStmt:
		c.replace(n, c.text(n.Body))
	case *ast.RangeStmt:
		c.replace(n, c.text(n.Body))
	case *ast.SwitchStmt:
		for _, s := range n.Body.List {
			c.inner(n, s.(*ast.CaseClause).Body)
		}
	case *ast.LabeledStmt:
		c.replace(n, c.text(n.Stmt))
	case *ast.BinaryExpr:
		c.replace(n, c.text(n.X))
		c.replace(n, c.text(n.Y))
	case *ast.ParenExpr:
		c.replace(n, c.text(n.X))
	case *ast.CallExpr:
		for _, a := range n.Args {
			c.replace(n, c.text(a))
		}
	case *ast.UnaryExpr:
		c.replace(n, c.text(n.X))
	}
	return true
}

// inner adds the cut of n to statements in it.
func (c *cutter) inner(n ast.Node, list []ast.Stmt) {
	if len(list) > 0 {
		c.replace(n, c.source[c.offset(list[0].Pos()):c.offset(list[len(list)-1].End())])
	}
}

// statements adds the cut of each statement, and of each with a few after it, which may use
// the variable that it declares.
func (c *cutter) statements(list []ast.Stmt) {
	for i, s := range list {
		c.replace(s)
		if b, ok := s.(*ast.BlockStmt); ok {
			c.inner(b, b.List)
		}
		for _, last := range list[i+1 : min(i+4, len(list))] {
			c.cuts = append(c.cuts, cut{c.offset(s.Pos()), c.offset(last.End()), ""})
		}
	}
}
