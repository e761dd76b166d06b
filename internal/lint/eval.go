package lint

import (
	"maps"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// number describes a value in all threads of a block: a known number for each thread, plus a sum of
// unknown numbers that all threads have in common, each with a factor. A number is strided if its
// difference between consecutive threads along x is an unknown number.
type number struct {
	known   bool
	threads []int64 // by the thread's linear index in the block
	common  map[*ir.Value]int64
	strided *ir.Value // the unknown factor of the thread's index
}

// evaluator computes numbers for the threads of a block. Its size is the one that //gpu:block
// fixes, or else 64 threads in a row, whose behavior also occurs in every larger block.
type evaluator struct {
	uniform *analysis.Uniformity
	size    [3]int
	row     bool // only the threads of one row along x are considered
	sure    bool // every launch has such threads
	memo    map[*ir.Value]number
}

// assumed is the number of threads along x to assume for a block of unknown size.
const assumed = 64

// newEvaluator returns an evaluator for all threads of a block.
func newEvaluator(f *ir.Func, u *analysis.Uniformity) *evaluator {
	e := &evaluator{uniform: u, size: f.Block, sure: true, memo: map[*ir.Value]number{}}
	if f.Block == [3]int{} {
		e.size = [3]int{assumed, 1, 1}
		e.sure = oneDimension(f)
	}
	for i := range e.size {
		e.size[i] = max(1, e.size[i])
	}
	return e
}

// newRowEvaluator returns an evaluator for the threads of one row along x.
func newRowEvaluator(f *ir.Func, dom *ir.Dom) *evaluator {
	e := newEvaluator(f, analysis.NewRowUniformity(dom))
	e.size = [3]int{min(e.size[0], assumed), 1, 1}
	e.row, e.sure = true, true
	return e
}

// oneDimension reports whether f uses no index of a thread along y or z, so that its blocks can be
// assumed to be rows.
func oneDimension(f *ir.Func) bool {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpTid && v.Imm > 0 {
				return false
			}
		}
	}
	return true
}

func (e *evaluator) count() int { return e.size[0] * e.size[1] * e.size[2] }

// of returns the number of v.
func (e *evaluator) of(v *ir.Value) number {
	if n, ok := e.memo[v]; ok {
		return n
	}
	e.memo[v] = number{} // unknown for a phi that depends on itself
	n := e.compute(v)
	if !n.known && n.strided == nil && !e.uniform.Varying(v) {
		n = e.same(v)
	}
	e.memo[v] = n
	return n
}

// same returns the number of a value that is equal in all threads.
func (e *evaluator) same(v *ir.Value) number {
	return number{known: true, threads: make([]int64, e.count()), common: map[*ir.Value]int64{v: 1}}
}

func (e *evaluator) constant(c int64) number {
	return e.each(func(int) int64 { return c })
}

// each returns a number with f(i) for each thread i.
func (e *evaluator) each(f func(thread int) int64) number {
	n := number{known: true, threads: make([]int64, e.count())}
	for i := range n.threads {
		n.threads[i] = f(i)
	}
	return n
}

func (e *evaluator) compute(v *ir.Value) number {
	switch v.Op {
	case ir.OpConst:
		return e.constant(v.Imm)
	case ir.OpVar:
		return e.same(v)
	case ir.OpTid:
		if e.row && v.Imm > 0 {
			return e.same(v)
		}
		x, y := e.size[0], e.size[1]
		return e.each(func(i int) int64 { return int64([3]int{i % x, i / x % y, i / x / y}[v.Imm]) })
	case ir.OpLane:
		if e.sure && !e.row {
			return e.each(func(i int) int64 { return int64(i % 32) })
		}
	case ir.OpSExt, ir.OpZExt, ir.OpTrunc, ir.OpBitcast:
		if v.Type.IsInt() && v.Args[0].Type.IsInt() && v.Args[0].Type.Bits() >= 32 && v.Type.Bits() >= 32 {
			return e.of(v.Args[0])
		}
	case ir.OpOffset:
		return e.sum(e.of(v.Args[0]), e.constant(v.Imm), 1)
	case ir.OpIndex:
		return e.sum(e.of(v.Args[0]), e.times(v.Args[1], e.constant(v.Imm)), 1)
	case ir.OpPhi:
		return e.phi(v)
	}
	if len(v.Args) == 2 && v.Type.IsInt() {
		return e.binary(v)
	}
	return number{}
}

func (e *evaluator) binary(v *ir.Value) number {
	x, y := e.of(v.Args[0]), e.of(v.Args[1])
	switch v.Op {
	case ir.OpAdd:
		return e.sum(x, y, 1)
	case ir.OpSub:
		return e.sum(x, y, -1)
	case ir.OpMul:
		if c, ok := y.single(); !ok || c == nil {
			return e.times(v.Args[1], x)
		}
		return e.times(v.Args[0], y)
	case ir.OpShl:
		if c, ok := y.single(); ok && c != nil && *c >= 0 && *c < 32 {
			return e.times(v.Args[0], e.constant(1<<*c))
		}
	}
	if !x.plain() || !y.plain() {
		return number{}
	}
	f := arithmetic[v.Op]
	if f == nil {
		return number{}
	}
	ok := true
	n := e.each(func(i int) int64 {
		r, fine := f(x.threads[i], y.threads[i])
		ok = ok && fine
		return r
	})
	n.known = ok
	return n
}

// arithmetic has the operations on per-thread numbers. A function returns false if it does not
// support its operands, for example because one is negative.
var arithmetic = map[ir.Op]func(a, b int64) (int64, bool){
	ir.OpAnd:  func(a, b int64) (int64, bool) { return a & b, true },
	ir.OpOr:   func(a, b int64) (int64, bool) { return a | b, true },
	ir.OpXor:  func(a, b int64) (int64, bool) { return a ^ b, true },
	ir.OpShl:  func(a, b int64) (int64, bool) { return a << uint(b&63), b >= 0 && b < 32 },
	ir.OpLShr: func(a, b int64) (int64, bool) { return a >> uint(b&63), a >= 0 && b >= 0 && b < 32 },
	ir.OpAShr: func(a, b int64) (int64, bool) { return a >> uint(b&63), b >= 0 && b < 32 },
	ir.OpSDiv: divide, ir.OpUDiv: divide,
	ir.OpSRem: remainder, ir.OpURem: remainder,
	ir.OpEq:  func(a, b int64) (int64, bool) { return truth(a == b), true },
	ir.OpNe:  func(a, b int64) (int64, bool) { return truth(a != b), true },
	ir.OpSLt: func(a, b int64) (int64, bool) { return truth(a < b), true },
	ir.OpSLe: func(a, b int64) (int64, bool) { return truth(a <= b), true },
	ir.OpULt: func(a, b int64) (int64, bool) { return truth(a < b), a >= 0 && b >= 0 },
	ir.OpULe: func(a, b int64) (int64, bool) { return truth(a <= b), a >= 0 && b >= 0 },
}

func divide(a, b int64) (int64, bool) {
	if a < 0 || b <= 0 {
		return 0, false
	}
	return a / b, true
}

func remainder(a, b int64) (int64, bool) {
	if a < 0 || b <= 0 {
		return 0, false
	}
	return a % b, true
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// plain reports whether the number is known and has no unknown terms.
func (n number) plain() bool { return n.known && len(n.common) == 0 }

// single reports whether the number is equal in all threads. If it is also plain, single returns
// its value, and otherwise nil.
func (n number) single() (*int64, bool) {
	if !n.known {
		return nil, false
	}
	for _, t := range n.threads {
		if t != n.threads[0] {
			return nil, false
		}
	}
	if len(n.common) > 0 {
		return nil, true
	}
	return &n.threads[0], true
}

// sum returns x + sign*y.
func (e *evaluator) sum(x, y number, sign int64) number {
	switch {
	case !x.known && x.strided == nil || !y.known && y.strided == nil:
		return number{}
	case x.strided != nil:
		return x
	case y.strided != nil:
		return y
	}
	n := e.each(func(i int) int64 { return x.threads[i] + sign*y.threads[i] })
	n.common = maps.Clone(x.common)
	if n.common == nil {
		n.common = map[*ir.Value]int64{}
	}
	for v, c := range y.common {
		if n.common[v] += sign * c; n.common[v] == 0 {
			delete(n.common, v)
		}
	}
	return n
}

// times returns the product of v and y.
func (e *evaluator) times(v *ir.Value, y number) number {
	x := e.of(v)
	c, one := y.single()
	switch {
	case x.strided != nil && one:
		return x
	case one && c != nil && x.known:
		n := e.each(func(i int) int64 { return x.threads[i] * *c })
		n.common = maps.Clone(x.common)
		for k := range n.common {
			n.common[k] *= *c
		}
		return n
	}
	d, other := x.single()
	switch {
	case other && d != nil && y.known:
		n := e.each(func(i int) int64 { return y.threads[i] * *d })
		n.common = maps.Clone(y.common)
		for k := range n.common {
			n.common[k] *= *d
		}
		return n
	case other && y.differs(), one && x.differs():
		return number{strided: v}
	}
	return number{} // method of names the product if it is equal in all threads
}

// differs reports whether the number differs between most pairs of adjacent threads.
func (n number) differs() bool {
	changes := 0
	for i := 1; i < len(n.threads); i++ {
		changes += int(truth(n.threads[i] != n.threads[i-1]))
	}
	return n.known && 2*changes > len(n.threads)
}

// phi returns a number for a phi whose incoming values are equal for each thread, except for terms
// that all threads have in common. An example is a counter that starts at the thread's index.
func (e *evaluator) phi(v *ir.Value) number {
	if !v.Type.IsInt() || len(v.Args) != 2 {
		return number{}
	}
	for i, start := range v.Args {
		step := v.Args[1-i]
		if step.Op != ir.OpAdd && step.Op != ir.OpSub || step.Args[0] != v || e.uniform.Varying(step.Args[1]) {
			continue
		}
		n := e.of(start)
		if n.strided != nil {
			return n
		}
		if !n.known {
			continue
		}
		n.common = map[*ir.Value]int64{v: 1} // v represents the start and what has been added to it
		return n
	}
	return number{}
}
