package pass

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A setting is what a run assumes.
type setting struct {
	limit  int   // of values that it computes
	align  int64 // of slices
	joined bool  // arrays are moved at once, not number by number
	apart  bool  // slices do not overlap
}

// usual is the setting for functions as the passes get them.
var usual = setting{limit: maxSteps, align: paramAlign}

// runRandom runs f on arguments that depend on the seed, on the parameters' types and on the alignment of slices only.
func (m *machine) runRandom(f *ir.Func, seed uint64) (outcome, error) {
	return m.run(f, m.randomInput(f, seed))
}

// randomInput resets the machine, gives its thread a random place in a random grid, and returns arguments in its memory.
func (m *machine) randomInput(f *ir.Func, seed uint64) []datum {
	m.reset()
	r := rand.New(rand.NewPCG(seed, 0))
	large := r.IntN(4) == 0
	for axis := range 3 {
		ntid, nctaid := 1+r.Uint32N(4), 1+r.Uint32N(4)
		if large {
			ntid, nctaid = largeGrid(r, axis)
		}
		if f.Block[axis] > 0 {
			ntid = uint32(f.Block[axis])
		}
		if f.Narrow {
			nctaid = min(nctaid, (math.MaxInt32-narrowMargin)/ntid)
		}
		m.place(axis, ir.OpNTid, ntid)
		m.place(axis, ir.OpNCtaid, nctaid)
		m.place(axis, ir.OpTid, oftenLast(r, ntid))
		m.place(axis, ir.OpCtaid, oftenLast(r, nctaid))
	}
	return m.arguments(f, f.Params, r)
}

// largeGrid returns numbers of threads and blocks along an axis, often the largest that there are.
func largeGrid(r *rand.Rand, axis int) (ntid, nctaid uint32) {
	ntid = [...]uint32{1024, 1024, 64}[axis]
	nctaid = [...]uint32{math.MaxInt32, 65535, 65535}[axis]
	if r.IntN(2) == 0 {
		ntid = 1 + r.Uint32N(ntid)
	}
	if r.IntN(2) == 0 {
		nctaid = 1 + r.Uint32N(nctaid)
	}
	return ntid, nctaid
}

// oftenLast returns a number below n.
func oftenLast(r *rand.Rand, n uint32) uint32 {
	if r.IntN(4) == 0 {
		return n - 1
	}
	return r.Uint32N(n)
}

// place sets the result of op along an axis.
func (m *machine) place(axis int, op ir.Op, n uint32) {
	ids := m.ids[op]
	ids[axis] = n
	m.ids[op] = ids
}

// narrowMargin is how far the integers of a narrow launch are at least from the limits of an i32.
const narrowMargin = 1 << 16

// arguments returns random arguments of f, which may have one parameter more.
func (m *machine) arguments(f *ir.Func, params []*ir.Value, r *rand.Rand) []datum {
	var args []datum
	for i := 0; i < len(params); i++ {
		p := params[i]
		if n := sliceParams(params[i:]); f.Kernel && n > 1 {
			args = append(args, m.random(ir.Slice, r).parts[:n]...)
			i += n - 1
			continue
		}
		arg := m.random(p.Type, r)
		if f.Narrow && p.Type.Equal(ir.I64) {
			x := int64(int32(arg.bits))
			arg.bits = uint64(min(max(x, math.MinInt32+narrowMargin), math.MaxInt32-narrowMargin))
		}
		args = append(args, arg)
	}
	return args
}

// sliceParams returns how many of a kernel's next parameters are those of a slice: its address, its length, and its
// capacity if that is used.
func sliceParams(p []*ir.Value) int {
	n := 0
	for n < min(len(p), 3) && (n == 0 && p[0].Type.IsPtr() || n > 0 && p[n].Type.Equal(ir.I64) && p[n].Imm == p[0].Imm+int64(8*n)) {
		n++
	}
	return n
}

// paramAlign is what the addresses of slices are multiples of, as aligned variants demand.
const paramAlign = analysis.Aligned

// random returns a value of type t. Pointers lead to a region of random bytes, small floats
// mostly; slices have at most 16 elements of at most 8 bytes.
func (m *machine) random(t *ir.Type, r *rand.Rand) datum {
	switch {
	case t.Equal(ir.Slice):
		p := m.random(ir.Ptr, r)
		n := r.Uint64N(17)
		return datum{parts: []datum{p, {bits: n}, {bits: n + r.Uint64N(17-n)}}}
	case isAggregate(t):
		var d datum
		for i := range t.NumParts() {
			d.parts = append(d.parts, m.random(t.Part(i), r))
		}
		return d
	case t.IsPtr():
		if len(m.regions) > 0 && r.IntN(4) == 0 && !m.apart {
			return datum{bits: uint64(1+r.IntN(len(m.regions)))<<regionShift + uint64(m.align) + paramAlign*r.Uint64N(2)}
		}
		p := m.alloc(128, m.align)
		for i := range int64(32) {
			m.store(p+uint64(4*i), ir.F32, m.random(ir.F32, r))
		}
		return datum{bits: p}
	case t.IsFloat():
		return datum{bits: fromFloat(t, randomFloat(r))}
	}
	return datum{bits: mask(t, randomInt(r))}
}

func randomFloat(r *rand.Rand) float64 {
	special := []float64{0, 1, -1, 2, 0.5, 1e30, -1e-30, 3e9, 1 / negativeZero(), negativeZero(), math.Inf(1), math.NaN(), 1e-40, -1e-40}
	if n := r.IntN(28); n < len(special) {
		return special[n]
	}
	return r.NormFloat64() * 10
}

func negativeZero() float64 { return math.Copysign(0, -1) }

func randomInt(r *rand.Rand) uint64 {
	switch r.IntN(6) {
	case 0:
		return r.Uint64()
	case 1:
		return uint64(int64(-1) - r.Int64N(20))
	case 2:
		return 1<<r.IntN(64) - uint64(r.IntN(3))
	}
	return r.Uint64N(20)
}
