package frontend_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/frontend"
)

// TestEffects asks of each function whether a call may change what others read: the names of those that may
// begin with changes. A second function for each reads a variable before it calls the first.
func TestEffects(t *testing.T) {
	const source = `package p

type pair struct{ a, b int; p *int; s []int; next *pair; field [2]int }

var global int
var globals [4]int

func keepsNothing() {}
func keepsParameters(x int, a [4]int, p pair) int { x = 1; a[1] = x; p.a++; p.field[0] = 2; return x }
func keepsLocals() int { n := 0; n++; var a [3][2]int; a[1][0] = n; q := pair{}; q.field[1] += 2; (n) = 3; return n + a[1][0] + q.a }
func keepsBlank(x int) { _ = x }
func keepsRange(s []int) (sum int) { for i, v := range s { sum += i * v }; for range 3 { sum++ }; var i int; for i = range s { sum += i }; return sum }
func keepsRangeOfArray(a [4]int) (sum int) { var b [2]int; for b[0], b[1] = range a { sum += b[0] }; return sum }
func keepsCalls(x int) int { return keepsNamed(x) + min(x, 3) + len("abc") + int(int64(x)) }
func keepsNamed(x int) (r int) { r = x; return }
func keepsRecursion(n int) int { if n == 0 { return 0 }; return keepsRecursion(n - 1) }
func (p pair) keepsCopy() int { p.a = 1; return p.a }
func keepsMethod(p pair) int { return p.keepsCopy() }
func keepsConversion(x int) float64 { type f float64; return float64(f(x)) }

func keepsGeneric[T int | int64](x T) T { x++; return x }
func keepsInstance() int { return keepsGeneric(1) }
func keepsExplicitInstance() int { return keepsGeneric[int](2) }
func changesGeneric[T int | int64](p *T, x T) { *p = x }
func changesInstance(p *int) { changesGeneric[int](p, 1) }

func changesGlobal() { global = 1 }
func changesGlobals() { globals[0]++ }
func changesSlice(s []int) { s[0] = 1 }
func changesLocalSlice(s []int) { t := s; t[0] = 1 }
func changesPointer(p *int) { *p = 1 }
func changesPointee(p *pair) { p.a = 1 }
func changesPointedArray(p *[4]int) { p[0] = 1 }
func changesFieldPointer(p pair) { *p.p = 1 }
func changesFieldSlice(p pair) { p.s[0] = 1 }
func changesNext(p pair) { p.next.a++ }
func changesRangeKey(s []int) { for global = range s { } }
func changesRangeValue(s []int) { for _, global = range s { } }
func changesSecond(s []int) (x int) { x, s[0] = 1, 2; return x }
func changesByCall() { changesGlobal() }
func changesByRecursion(n int) { if n > 0 { changesByRecursion(n - 1) }; global++ }
func changesByMethod(p *pair) { p.changesIt() }
func (p *pair) changesIt() { p.b = 2 }
func changesByFunction(f func()) { f() }
func changesInLiteral() { func() { }() }
func changesDeferred() { defer keepsNothing() }
func changesInGo() { go keepsNothing() }
func changesChannel(c chan int) { c <- 1 }
func changesByCopy(a, b []int) { copy(a, b) }
func keepsByPrinting() { println("x") }
func keepsByPanic() { panic("x") }
func changesByClear(s []int) { clear(s) }
func changesInCondition(p *int) { if changesAndReturns(p) { } }
func changesAndReturns(p *int) bool { *p++; return true }
`
	text := source + readers
	function := regexp.MustCompile(`(?m)^func (\w+)\((f func\(\)|[^)]*)\)`)
	for _, f := range function.FindAllStringSubmatch(source, -1) {
		var args []string
		for param := range strings.SplitSeq(f[2], ", ") {
			arg, _, _ := strings.Cut(param, " ")
			args = append(args, arg)
		}
		text += fmt.Sprintf("func then_%s(%s) int { %[1]s(%[3]s); return 0 }\n", f[1], f[2], strings.Join(args, ", ")) +
			fmt.Sprintf("func first_%s(%s) { reads(%[1]q, *pointer, then_%[1]s(%[3]s)) }\n", f[1], f[2], strings.Join(args, ", "))
	}
	compareMoved(t, moved(t, text), "changes", 41)
}

// TestExposed asks for the local variables whose address is taken, also as that of a part, and those that closures share:
// their names begin with shared.
func TestExposed(t *testing.T) {
	const source = `package p

type pair struct{ a int; s []int; p *pair; field [2]int }

func (p pair) value() int { return p.a }
func (p *pair) pointer() int { return p.a }

func changes() int { *pointer = 1; return 0 }

func f(sharedParam int, ownParam int) (sharedResult, ownResult int) {
	var sharedA, ownA int
	var sharedArray, ownArray, sharedElement [4]int
	var ownSlice, ownSliced []int
	var sharedPair, ownPair, sharedField, ownSelected, sharedMethod, ownMethod, ownPointed pair
	ownPointer := &ownPointed.s[0]
	_, _, _ = &sharedA, &(sharedElement)[1], &sharedPair
	_, _, _ = sharedArray[1:], ownSlice[1:], &ownSliced[2]
	_, _ = &sharedField.field[1], &ownSelected.p.a
	_, _ = sharedMethod.pointer(), ownMethod.value()
	_ = func() int { own := sharedParam; sharedResult = own; reads("own", own, changes()); return own }
	_, _, _, _ = ownA, ownArray[ownParam], ownPair.a, ownPointer
`
	names := map[string]bool{}
	for _, name := range regexp.MustCompile(`\b(shared|own)[A-Z]\w*`).FindAllString(source, -1) {
		names[name] = true
	}
	body := source
	for name := range names {
		body += fmt.Sprintf("\treads(%q, %[1]s, changes())\n", name)
	}
	compareMoved(t, moved(t, body+"\treturn sharedResult, ownResult\n}\n"+readers), "shared", len(names)+1)
}

// readers are declarations for sources with calls of reads. If the call in the last argument may change the argument before, Reorder moves it to
// a statement before.
const readers = `
var pointer *int

func reads(name string, x any, n int) {}
`

// moved reports, by the first argument of each call of reads, whether Reorder has moved the call in its last argument.
func moved(t *testing.T, source string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for n := range ast.Preorder(reordered(t, source)) {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "reads" {
				_, stays := call.Args[2].(*ast.CallExpr)
				all[strings.Trim(call.Args[0].(*ast.BasicLit).Value, `"`)] = !stays
			}
		}
	}
	return all
}

// compareMoved demands n names, and that the calls of those have moved that begin with prefix.
func compareMoved(t *testing.T, moved map[string]bool, prefix string, n int) {
	t.Helper()
	for name, got := range moved {
		if want := strings.HasPrefix(name, prefix); got != want {
			t.Errorf("%s: the call after it has moved: %v", name, got)
		}
	}
	if len(moved) != n {
		t.Errorf("there are %d names, want %d", len(moved), n)
	}
}

// TestCountOnly reorders loops over arrays, of which Go only takes the length where an expression has no calls: a constant takes the place of the
// expression.
func TestCountOnly(t *testing.T) {
	const source = `package p

type box struct{ f func() int; array [2]int }

var a, c = 1, make(chan int, 1)
var arrays [][2]int

func f() int { return 1 }

func counted() {
	for range arrays[a + -a] {}
	for range arrays[uint8(-a)] {}
	for range arrays[len([2]int{})] {}
	for range (box{f: func() int { return f() }}).array {}
}

func evaluated() {
	for range arrays[f()] {}
	for range arrays[-f()] {}
	for range arrays[f() + -a] {}
	for range arrays[-a + f()] {}
	for range arrays[-a + <-c] {}
}
`
	loops := 0
	for _, d := range reordered(t, source).Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		for n := range ast.Preorder(f) {
			if loop, ok := n.(*ast.RangeStmt); ok {
				loops++
				if _, constant := loop.X.(*ast.BasicLit); constant != (f.Name.Name == "counted") {
					t.Errorf("loop %d, in %s, ranges over a constant: %v", loops, f.Name.Name, constant)
				}
			}
		}
	}
	if loops != 9 {
		t.Errorf("there are %d loops, want 9", loops)
	}
}

// reordered returns the file with a source after Reorder.
func reordered(t *testing.T, source string) *ast.File {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	pkg, err := new(types.Config).Check("p", fset, []*ast.File{f}, info)
	if err != nil {
		t.Fatal(err)
	}
	frontend.Reorder(fset, pkg, []*ast.File{f}, info)
	return f
}
