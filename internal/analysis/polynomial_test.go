package analysis_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestPolynomial compares the ranges of polynomials of i, from 0 to 1023, and n, from 1 to 1023.
func TestPolynomial(t *testing.T) {
	f := ir.NewFunc("f", ir.Void)
	b := f.NewBlock()
	number := func(n int64) *ir.Value {
		v := b.Append(ir.OpConst, ir.I64)
		v.Imm = n
		return v
	}
	make := func(op ir.Op, x, y *ir.Value) *ir.Value { return b.Append(op, ir.I64, x, y) }
	i := b.Append(ir.OpZExt, ir.I64, b.Append(ir.OpTid, ir.I32))
	n := b.Append(ir.OpZExt, ir.I64, b.Append(ir.OpNTid, ir.I32))
	unknown := f.NewParam(ir.I64, 0)
	square := make(ir.OpMul, n, n)
	sum := make(ir.OpAdd, i, n)
	values := map[string]*ir.Value{
		"n*n - n":           make(ir.OpSub, square, n),
		"2(n-1) - (n+i)+i":  make(ir.OpAdd, make(ir.OpSub, make(ir.OpShl, make(ir.OpSub, n, number(1)), number(1)), sum), i),
		"(i+n)*n - i*n":     make(ir.OpSub, make(ir.OpMul, sum, n), make(ir.OpMul, i, n)),
		"x - x + 7":         make(ir.OpAdd, make(ir.OpSub, unknown, unknown), number(7)),
		"n*n*n*n":           make(ir.OpMul, square, square),
		"1<<40 * n":         make(ir.OpMul, n, number(1<<40)),
		"i & n, no product": make(ir.OpAnd, i, n),
	}
	b.Append(ir.OpRet, ir.Void)
	r := analysis.NewRanges(ir.Dominators(f))
	for name, want := range map[string]analysis.Range{
		"n*n - n":           {Lo: 0, Hi: 1023*1023 + 1023},
		"2(n-1) - (n+i)+i":  {Lo: -1, Hi: 1022},
		"(i+n)*n - i*n":     {Lo: 1, Hi: 1024 * 1024},
		"x - x + 7":         {Lo: 7, Hi: 7},
		"i & n, no product": {Lo: 0, Hi: 1023},
	} {
		p, ok := analysis.NewPolynomial(values[name])
		if !ok {
			t.Errorf("%s is not a polynomial", name)
			continue
		}
		if got, ok := p.Range(r, analysis.End(b)); !ok || got != want {
			t.Errorf("%s: %v, %v; want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"n*n*n*n", "1<<40 * n"} {
		p, ok := analysis.NewPolynomial(values[name])
		if ok {
			_, ok = p.Range(r, analysis.End(b))
		}
		if ok {
			t.Errorf("%s is not too large", name)
		}
	}
}
