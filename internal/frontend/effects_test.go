package frontend

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestEffects asks of each function whether a call may change what others read: the names of those that may
// begin with changes.
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
func keepsInstances() int { return keepsGeneric(1) + keepsGeneric[int](2) }
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
	f, info, x := effectsOf(t, source)
	for _, d := range f.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		want := strings.HasPrefix(d.Name.Name, "changes")
		if got := x.function(info.Defs[d.Name].(*types.Func)); got != want {
			t.Errorf("%s: changes something: %v", d.Name.Name, got)
		}
	}
}

// TestExposed asks for the local variables whose address is taken, also as that of a part, and those that closures share:
// their names begin with shared.
func TestExposed(t *testing.T) {
	const source = `package p

type pair struct{ a int; s []int; p *pair; field [2]int }

func (p pair) value() int { return p.a }
func (p *pair) pointer() int { return p.a }

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
	_ = func() int { own := sharedParam; sharedResult = own; return own }
	_, _, _, _ = ownA, ownArray[ownParam], ownPair.a, ownPointer
	return sharedResult, ownResult
}
`
	_, info, x := effectsOf(t, source)
	for id, obj := range info.Defs {
		if got, want := x.exposed[obj], strings.HasPrefix(id.Name, "shared"); got != want {
			t.Errorf("%s is exposed: %v", id.Name, got)
		}
	}
}

// TestCallsIn asks for calls in the initial values of variables: the names of those with calls begin with calls.
func TestCallsIn(t *testing.T) {
	const source = `package p

func f() int { return 1 }

var a, c = 1, make(chan int, 1)
var (
	none, noneConverted, noneMeasured, noneInLiteral = a + -a, uint8(-a), len([2]int{}), func() int { return f() }
	calls, callsNegated, callsBeforeNegation, callsAfterNegation, callsReceive = f(), -f(), f() + -a, -a + f(), -a + <-c
)
`
	file, info, x := effectsOf(t, source)
	o := &orderer{info: info, effects: x}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		for i := 0; ok && i < len(v.Values) && v.Names[0].Name != "a"; i++ {
			if got, want := o.callsIn(v.Values[i]), strings.HasPrefix(v.Names[i].Name, "calls"); got != want {
				t.Errorf("%s: there are calls: %v", v.Names[i].Name, got)
			}
		}
		return true
	})
}

// effectsOf checks the types of a file and analyses it.
func effectsOf(t *testing.T, source string) (*ast.File, *types.Info, *effects) {
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
	if _, err := new(types.Config).Check("p", fset, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	return f, info, newEffects([]*ast.File{f}, info)
}
