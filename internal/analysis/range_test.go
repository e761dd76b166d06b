package analysis

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestTransfer computes operations on numbers of small ranges: no result is outside of the range that transfer returns.
func TestTransfer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for op := ir.OpAdd; op <= ir.OpAShr; op++ {
		for range 3000 {
			typ := []*ir.Type{ir.I8, ir.I8, ir.I32, ir.I64}[r.IntN(4)]
			x, y := randomRange(r, typ), randomRange(r, typ)
			b := ir.NewFunc("f", ir.Void).NewBlock()
			v := b.Append(op, typ, b.Const(typ, 0), b.Const(typ, 0))
			got := transfer(v, []Range{x, y})
			for range 60 {
				a, c := x.Lo+r.Int64N(x.Hi-x.Lo+1), y.Lo+r.Int64N(y.Hi-y.Lo+1)
				if n := compute(op, typ, a, c); n < got.Lo || n > got.Hi {
					t.Fatalf("%v %v of %v and %v: %v, but %d and %d make %d", op, typ, x, y, got, a, c, n)
				}
			}
		}
	}
}

// randomRange returns a range of few numbers of type t.
func randomRange(r *rand.Rand, t *ir.Type) Range {
	full := FullRange(t)
	x := Range{r.Int64N(12) - 5, 0}
	switch r.IntN(6) {
	case 0:
		x.Lo = full.Lo
	case 1:
		x.Lo = full.Hi - 5
	}
	x.Hi = x.Lo + r.Int64N(6)
	return x
}

// compute returns the result of an operation on numbers of type t.
func compute(op ir.Op, t *ir.Type, x, y int64) int64 {
	n := t.Bits()
	unsigned := func(x int64) uint64 { return uint64(x) << (64 - n) >> (64 - n) }
	var z int64
	switch op {
	case ir.OpAdd:
		z = x + y
	case ir.OpSub:
		z = x - y
	case ir.OpMul:
		z = x * y
	case ir.OpAnd:
		z = x & y
	case ir.OpOr:
		z = x | y
	case ir.OpXor:
		z = x ^ y
	case ir.OpShl:
		z = x << min(unsigned(y), uint64(n))
	case ir.OpLShr:
		z = int64(unsigned(x) >> min(unsigned(y), uint64(n)))
	case ir.OpAShr:
		z = x >> min(unsigned(y), uint64(n))
	case ir.OpUMulHi, ir.OpSMulHi:
		a, b := big.NewInt(x), big.NewInt(y)
		if op == ir.OpUMulHi {
			a, b = new(big.Int).SetUint64(unsigned(x)), new(big.Int).SetUint64(unsigned(y))
		}
		high := new(big.Int).Rsh(a.Mul(a, b), uint(n))
		z = int64(new(big.Int).And(high, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	default:
		switch {
		case op == ir.OpUDiv && y != 0:
			z = int64(unsigned(x) / unsigned(y))
		case op == ir.OpURem && y != 0:
			z = int64(unsigned(x) % unsigned(y))
		default:
			z = divide(op, x, y)
		}
	}
	return z << (64 - n) >> (64 - n)
}

// divide returns a quotient or remainder of numbers with signs. By 0, where any result is allowed, it is that of GPUs.
func divide(op ir.Op, x, y int64) int64 {
	quotient := op == ir.OpSDiv || op == ir.OpUDiv
	switch {
	case y == 0 && quotient:
		return -1
	case y == 0:
		return x
	case quotient:
		return x / y
	}
	return x % y
}

// TestNarrow compares all numbers of small ranges: none for which the comparison holds is lost.
func TestNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for op := ir.OpEq; op <= ir.OpULe; op++ {
		for range 3000 {
			x, y := randomRange(r, ir.I64), randomRange(r, ir.I64)
			left := r.IntN(2) == 0
			got := narrow(op, left, x, y)
			if !got.Within(x) {
				t.Fatalf("%v %v of %v and %v: %v", op, left, x, y, got)
			}
			for a := x.Lo; a <= x.Hi && a >= x.Lo; a++ {
				for b := y.Lo; b <= y.Hi && b >= y.Lo; b++ {
					first, second := a, b
					if !left {
						first, second = b, a
					}
					if isTrue(op, first, second) && (a < got.Lo || a > got.Hi) {
						t.Fatalf("%v of %v and %v, left %v: %v, but it holds for %d and %d", op, x, y, left, got, first, second)
					}
				}
			}
		}
	}
}

func isTrue(op ir.Op, x, y int64) bool {
	return [...]bool{
		ir.OpEq: x == y, ir.OpNe: x != y, ir.OpSLt: x < y, ir.OpSLe: x <= y, ir.OpULt: uint64(x) < uint64(y), ir.OpULe: uint64(x) <= uint64(y),
	}[op]
}

// TestExact computes sums and products near the ends of 64 bits.
func TestExact(t *testing.T) {
	edges := []int64{0, 1, -1, 2, -2, 3, 1 << 31, 1 << 32, -1 << 32, 1<<62 - 1, 1 << 62, -1 << 62, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	for _, x := range edges {
		for _, y := range edges {
			a, b := big.NewInt(x), big.NewInt(y)
			for _, tc := range []struct {
				name string
				f    func(x, y int64) (int64, bool)
				want *big.Int
			}{
				{"+", addExact, new(big.Int).Add(a, b)}, {"*", mulExact, new(big.Int).Mul(a, b)}, {"-", subExact, new(big.Int).Sub(a, b)},
			} {
				got, ok := tc.f(x, y)
				if tc.name == "-" && y == math.MinInt64 && !ok {
					continue // which is refused in any case
				}
				if ok != tc.want.IsInt64() || ok && got != tc.want.Int64() {
					t.Errorf("%d %s %d = %d, %v, want %v", x, tc.name, y, got, ok, tc.want)
				}
			}
		}
	}
}

// TestReached demands that counters with constant steps end at the last number that they reach.
func TestReached(t *testing.T) {
	for _, c := range []struct {
		typ         string
		start, step int64
		test        string // of the next value, with the bound
		bound       int64
		want        Range
	}{
		{"i64", 0, 16, "slt i1 %4, %3", 64, Range{0, 48}},
		{"i64", 0, 16, "slt i1 %4, %3", 65, Range{0, 64}},
		{"i64", 3, 7, "sle i1 %4, %3", 100, Range{3, 94}},
		{"i64", 63, -16, "sle i1 %3, %4", 0, Range{15, 63}},
		{"i64", 63, -16, "slt i1 %3, %4", -50, Range{-49, 63}},
		{"i32", -8, 5, "slt i1 %4, %3", 0, Range{-8, -3}},
		{"i64", 10, 16, "slt i1 %4, %3", 5, Range{10, 10}},
		{"i8", 0, 50, "slt i1 %4, %3", 127, Range{-128, 126}},   // 100 and 50 are -106
		{"i8", 0, -50, "slt i1 %3, %4", -128, Range{-127, 127}}, // -100 less 50 is 106
		{"i64", 0, 3, "slt i1 %4, %3", math.MaxInt64, Range{math.MinInt64, math.MaxInt64 - 1}},
	} {
		text := fmt.Sprintf(`kernel k() bytes 0 {
b0:
	%%0 = const %[1]s %[2]d
	%%1 = const %[1]s %[3]d
	%%3 = const %[1]s %[5]d
	jump b1
b1: <- b0 b1
	%%2 = phi %[1]s %%0, %%4
	%%4 = add %[1]s %%2, %%1
	%%5 = %[4]s
	if %%5 b1 b2
b2: <- b1
	ret
}
`, c.typ, c.start, c.step, c.test, c.bound)
		m, err := ir.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		f := m.Funcs[0]
		r := NewRanges(ir.Dominators(f))
		phi := f.Blocks[1].Values[0]
		if got := r.At(phi, Point{Block: f.Blocks[1], Index: 1}); got != c.want {
			t.Errorf("%s from %d by %d while %s %d: %v, want %v", c.typ, c.start, c.step, c.test, c.bound, got, c.want)
		}
	}
}
