package pass

import (
	"iter"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A team runs the threads of one block in turns, each up to its next barrier, and records what each computes.
type team struct {
	f       *ir.Func
	m       *machine
	args    []datum
	members []*member
	now     *member            // whose turn it is
	touched map[uint64]*member // by address: who accessed the byte since the last barrier, nil if several have read it
	written map[uint64]bool    // by address: whether that was a write
	illegal bool               // threads race for a byte, or do not meet at a barrier
}

// A member is one thread of a team.
type member struct {
	ids   map[ir.Op][3]uint32
	yield func(*ir.Value) bool
	way   []*ir.Block  // that it has run through
	ends  [][][]uint64 // by block ID, for each time that the thread came to the block's end: the bits of the block's values
	ended bool         // it has returned, without a fault
}

// maxTeam is how many threads a team may have.
const maxTeam = 80

// newTeam returns the team of a block of f with random arguments. It has no members if the block is too large.
func newTeam(f *ir.Func, seed uint64) *team {
	t := &team{f: f, m: newMachine(setting{limit: maxTeam * maxSteps, align: paramAlign})}
	t.args = t.m.randomInput(f, seed)
	block := f.Block
	if block == [3]int{} {
		block = [3]int{4, 2, 1}
	}
	n := block[0] * block[1] * block[2]
	if n > maxTeam {
		return t
	}
	for i := range uint32(n) {
		x, y := uint32(block[0]), uint32(block[1])
		t.members = append(t.members, &member{
			ids: map[ir.Op][3]uint32{
				ir.OpTid: {i % x, i / x % y, i / x / y}, ir.OpNTid: {x, y, uint32(block[2])},
				ir.OpCtaid: t.m.ids[ir.OpCtaid], ir.OpNCtaid: t.m.ids[ir.OpNCtaid],
			},
			ends: make([][][]uint64, f.NumBlocks()),
		})
	}
	return t
}

// run runs all members, and reports whether the outcome is defined.
func (t *team) run() bool {
	t.m.watch = t.watch
	var next []func() (*ir.Value, bool)
	for _, w := range t.members {
		resume, stop := iter.Pull(func(yield func(*ir.Value) bool) {
			w.yield = yield
			o, err := t.m.run(t.f, t.args)
			w.ended = err == nil && o.fault == ""
		})
		defer stop()
		next = append(next, resume)
	}
	for waiting := len(t.members); waiting > 0 && !t.illegal; {
		waiting = 0
		t.touched, t.written = map[uint64]*member{}, map[uint64]bool{}
		var meet *ir.Value
		for i, w := range t.members {
			t.now, t.m.ids = w, w.ids
			at, ok := next[i]()
			if !ok {
				continue
			}
			waiting++
			t.illegal = t.illegal || meet != nil && meet != at
			meet = at
		}
	}
	return !t.illegal
}

// watch records what the thread does, and gives way to others at barriers.
func (t *team) watch(b *ir.Block, i int, values []datum) {
	if b.Func != t.f {
		return
	}
	v := b.Values[i]
	if i == len(b.Phis()) {
		t.now.way = append(t.now.way, b)
	}
	switch {
	case analysis.BlockBarrier(v.Op):
		if !t.now.yield(v) {
			panic(errLong)
		}
	case v.Op.Terminator():
		var bits []uint64
		for _, x := range b.Values {
			bits = append(bits, values[x.ID].bits)
		}
		t.now.ends[b.ID] = append(t.now.ends[b.ID], bits)
	case v.Op == ir.OpLoad:
		t.touch(values[v.Args[0].ID].bits, v.Type.Size(), false)
	case len(v.Args) > 0 && v.Op.Writes():
		t.touch(values[v.Args[0].ID].bits, v.Args[1].Type.Size(), true)
	}
}

// touch notes that the thread accesses n bytes at addr.
func (t *team) touch(addr uint64, n int64, write bool) {
	for a := addr; a < addr+uint64(n); a++ {
		before, ok := t.touched[a]
		if ok && before != t.now {
			t.illegal = t.illegal || write || t.written[a]
			before = nil
		} else {
			before = t.now
		}
		t.touched[a] = before
		t.written[a] = t.written[a] || write
	}
}
