package pass

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestFold simplifies all operations of all types on constants, and on one constant and a parameter twice. The result must
// be the interpreter's; testdata/fold.txt has how many results are constants.
func TestFold(t *testing.T) {
	types := []*ir.Type{ir.I1, ir.I8, ir.I16, ir.I32, ir.I64, ir.F32, ir.F64}
	var report strings.Builder
	for op := ir.OpSelect; op <= ir.OpFToBF16; op++ {
		if op >= ir.OpApproxSqrt && op <= ir.OpApproxDiv {
			continue // whose results are not fixed
		}
		cases, constants := 0, 0
		for i, result := range types {
			for k, arg := range types {
				r := rand.New(rand.NewPCG(uint64(op), uint64(10*i+k)))
				args := 1
				for n := 0; n < 30 && args <= 3; n++ {
					f := operation(r, signature{op, result, arg, args}, n%3 == 0)
					if !fits(op, arg) || ir.Verify(f) != nil {
						args++ // there is no such operation
						continue
					}
					g := f.Clone()
					simplify(g, &Options{})
					sameBehaviour(t, f, g, usual, r)
					if t.Failed() {
						t.Fatalf("%v", f)
					}
					cases++
					if g.Blocks[0].Term().Args[0].Op == ir.OpConst {
						constants++
					}
				}
			}
		}
		if cases > 0 {
			fmt.Fprintf(&report, "%v: %d of %d\n", op, constants, cases)
		}
	}
	sameFile(t, "testdata/fold.txt", report.String())
}

// fits reports whether a conversion is from type t.
func fits(op ir.Op, t *ir.Type) bool {
	switch op {
	case ir.OpTrunc, ir.OpSExt, ir.OpZExt:
		return t.IsInt()
	case ir.OpFExt, ir.OpFRound:
		return t.IsFloat()
	}
	return true
}

// A signature is an operation, the types of its result and its arguments, and their number.
type signature struct {
	op          ir.Op
	result, arg *ir.Type
	args        int
}

// operation returns a function that returns the result of an operation on constants. Some may be a parameter instead.
func operation(r *rand.Rand, s signature, params bool) *ir.Func {
	f, op := ir.NewFunc("f", s.result), s.op
	p := f.NewParam(s.arg, 0)
	b := f.NewBlock()
	var args []*ir.Value
	for i := range s.args {
		t := s.arg
		switch {
		case op == ir.OpSelect && i == 0:
			t = ir.I1
		case i == 1 && op >= ir.OpShl && op <= ir.OpAShr:
			t = ir.I32
		}
		switch {
		case params && t.Equal(p.Type) && r.IntN(2) == 0:
			args = append(args, p)
		case t.IsFloat():
			c, _ := analysis.FloatBits(t, randomFloat(r))
			args = append(args, b.Const(t, c))
		case op >= ir.OpSDiv && op <= ir.OpURem && i == 1: // by 0 the result is arbitrary
			args = append(args, b.Const(t, analysis.SignExtend(t, int64(randomInt(r)|1))))
		default:
			args = append(args, b.Const(t, analysis.SignExtend(t, int64(randomInt(r)))))
		}
	}
	b.Append(ir.OpRet, ir.Void, b.Append(op, s.result, args...))
	return f
}
