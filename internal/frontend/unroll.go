package frontend

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// unrollDirective begins the comment on the line before a loop that says how many iterations follow each other.
const unrollDirective = "//gpu:unroll"

// mark is the first argument of the calls of println that markLoops inserts. No program prints it.
const mark = "\x00unroll"

// markLoops inserts, at the start of the body of each loop with a directive, a call of println. The number is its second
// argument; it is negative for a loop over a function.
func (o *orderer) markLoops(fset *token.FileSet, f *ast.File) {
	counts := unrollCounts(fset, f)
	if len(counts) == 0 {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		var body *ast.BlockStmt
		overFunction := false
		switch n := n.(type) {
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
			_, overFunction = o.info.TypeOf(n.X).Underlying().(*types.Signature)
		default:
			return true
		}
		count := counts[fset.Position(n.Pos()).Line-1]
		if overFunction {
			count = -count
		}
		if count != 0 {
			body.List = append([]ast.Stmt{o.markCall(n.Pos(), count)}, body.List...)
		}
		return true
	})
}

// unrollCounts returns the numbers of the directives in a file, by line.
func unrollCounts(fset *token.FileSet, f *ast.File) map[int]int64 {
	counts := map[int]int64{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			text, ok := strings.CutPrefix(c.Text, unrollDirective+" ")
			if !ok {
				continue
			}
			text, _, _ = strings.Cut(text, "//")
			if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32); err == nil {
				counts[fset.Position(c.Slash).Line] = n
			}
		}
	}
	return counts
}

// markCall returns a call of println with the mark and a number.
func (o *orderer) markCall(pos token.Pos, n int64) ast.Stmt {
	printer := &ast.Ident{NamePos: pos, Name: "println"}
	text := &ast.BasicLit{ValuePos: pos, Kind: token.STRING, Value: strconv.Quote(mark)}
	number := &ast.BasicLit{ValuePos: pos, Kind: token.INT, Value: strconv.FormatInt(n, 10)}
	call := &ast.CallExpr{Fun: printer, Lparen: pos, Args: []ast.Expr{text, number}, Rparen: pos}
	params := types.NewTuple(types.NewParam(pos, nil, "", types.Typ[types.String]), types.NewParam(pos, nil, "", types.Typ[types.Int]))
	o.info.Uses[printer] = types.Universe.Lookup("println")
	o.info.Types[printer] = types.TypeAndValue{Type: types.NewSignatureType(nil, nil, nil, params, nil, false)}
	o.info.Types[text] = types.TypeAndValue{Type: types.Typ[types.String], Value: constant.MakeString(mark)}
	o.info.Types[number] = types.TypeAndValue{Type: types.Typ[types.Int], Value: constant.MakeInt64(n)}
	o.info.Types[call] = types.TypeAndValue{Type: (*types.Tuple)(nil)}
	return &ast.ExprStmt{X: call}
}

// unrollMark returns the number of a call of println that markLoops has inserted.
func unrollMark(args []ssa.Value) (n int64, ok bool) {
	if len(args) != 2 {
		return 0, false
	}
	text, isText := constString(args[0])
	number, isNumber := args[1].(*ssa.Const)
	if !isText || text != mark || !isNumber {
		return 0, false
	}
	return number.Int64(), true
}

// unroll lowers a mark.
func (l *lowerer) unroll(n int64) *ir.Value {
	if n < 0 {
		l.refuse(diag.DirectiveStray, "put it before the loop in that function", "%s stands before a loop over a function", unrollDirective)
	}
	return l.emitImm(ir.OpUnroll, ir.Void, n)
}
