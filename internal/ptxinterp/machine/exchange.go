package machine

import (
	"fmt"
	"math/bits"
)

// syncOp is an instruction that waits for the threads of the warp in a mask and exchanges
// values between them (section 9.7.9 shfl, 9.7.13 vote, match, redux).
type syncOp struct {
	name    string // threads meet at operations of the same name
	members int32  // row of the mask
	a, b, c int32  // rows of operands
	d       int32  // row of the result
	p       int32  // predicate of the result; -1 where there is none
	pred    int32  // operand
	negate  bool
	orders  bool // accesses to memory
	perform func(x *exchange)

	// Of instructions on matrices: rows of operands and results, and what they do instead of perform.
	sources, results []int32
	matrix           func(w *warp, pc int32) bool
}

// exchange is one such operation: what the threads bring, and what they get.
type exchange struct {
	mask    uint32 // threads that take part
	a, b, c row
	preds   uint32
	d       row
	p       uint32
	groups  []group // of those threads
}

// meet looks whether all threads that the group, which is among the waiting ones, waits for
// have come. The threads of a group may name different masks: they are looked at one by one.
func (w *warp) meet(in *instr, g group) {
	masks := w.row(in.sync.members)
	for m := g.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		if members := uint32(masks[l]); members>>l&1 == 0 {
			w.failAt(g.pc, 1<<l, ErrUndefined, fmt.Sprintf("thread is not in its mask %#x", members))
			return
		}
	}
	w.meetAll()
}

// meetAll performs all operations whose threads have come.
func (w *warp) meetAll() {
	for i := 0; i < len(w.waiting) && w.fault == nil; i++ {
		g := w.waiting[i]
		op := w.prog.code[g.pc].sync
		if op == nil {
			continue
		}
		for l := range lanes(g.mask) {
			if w.performFor(op, uint32(w.row(op.members)[l])) {
				i = -1 // the list has changed
				break
			}
		}
	}
}

// performFor performs the operation of the threads that name the mask, if they have come.
func (w *warp) performFor(op *syncOp, members uint32) bool {
	var here uint32
	for _, g := range w.waiting {
		here |= w.naming(g, op, members)
	}
	if here&members != members&w.live {
		return false
	}
	x := w.spare
	w.spare = nil // an operation of this warp may be part of another
	if x == nil {
		x = new(exchange)
	}
	performed := w.performOn(x, here, op, members)
	w.spare = x
	return performed
}

// performOn performs the operation of the threads here, in the memory of an earlier one.
func (w *warp) performOn(x *exchange, here uint32, op *syncOp, members uint32) bool {
	*x = exchange{mask: here, groups: x.groups[:0]}
	for _, g := range w.waiting {
		if m := w.naming(g, op, members); m != 0 {
			w.bring(x, w.prog.code[g.pc].sync, m)
			x.groups = append(x.groups, group{g.pc, g.depth, m})
		}
	}
	if op.orders && w.block.order != nil {
		w.block.order.MeetWarp(w.id, here|members&w.all&^w.live)
	}
	if op.matrix != nil {
		if !w.performMatrix(op, x.groups) {
			return false
		}
	} else {
		op.perform(x)
	}
	for _, g := range x.groups {
		w.take(x, w.prog.code[g.pc].sync, g.mask)
		w.leave(g)
	}
	return true
}

// naming returns the threads of a waiting group that wait for an operation like op with the
// given mask.
func (w *warp) naming(g group, op *syncOp, members uint32) uint32 {
	s := w.prog.code[g.pc].sync
	if s == nil || s.name != op.name {
		return 0
	}
	var m uint32
	for l, mask := range w.row(s.members) {
		if uint32(mask) == members {
			m |= 1 << l
		}
	}
	return m & g.mask
}

func (w *warp) bring(x *exchange, op *syncOp, mask uint32) {
	a, b, c := w.row(op.a), w.row(op.b), w.row(op.c)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		x.a[l], x.b[l], x.c[l] = a[l], b[l], c[l]
	}
	p := w.preds[op.pred]
	if op.negate {
		p = ^p
	}
	x.preds |= p & mask
}

func (w *warp) take(x *exchange, op *syncOp, mask uint32) {
	if op.d != 0 {
		d := w.row(op.d)
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & (warpSize - 1)
			d[l] = x.d[l]
		}
	}
	if op.p >= 0 {
		w.preds[op.p] = w.preds[op.p]&^mask | x.p&mask
	}
}

// leave makes part of a waiting group ready after its instruction.
func (w *warp) leave(g group) {
	for i, h := range w.waiting {
		if h.pc != g.pc || h.depth != g.depth || h.mask&g.mask != g.mask {
			continue
		}
		if w.waiting[i].mask &^= g.mask; w.waiting[i].mask == 0 {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
		}
		w.ready = append(w.ready, group{g.pc + 1, g.depth, g.mask})
		return
	}
	panic("BUG: a group that does not wait leaves")
}

// shuffle follows the manual's description of shfl.sync. What a thread gets from one that
// does not take part is undefined: all ones.
func shuffle(mode string) func(x *exchange) {
	return func(x *exchange) {
		for l := range lanes(x.mask) {
			lane, b, clamp, segment := uint64(l), x.b[l]&31, x.c[l]&31, x.c[l]>>8&31
			top := lane&segment | clamp&^segment
			var j uint64
			var ok bool
			switch mode {
			case "up":
				j = lane - b
				ok = int64(j) >= int64(top)
			case "down":
				j = lane + b
				ok = j <= top
			case "bfly":
				j = lane ^ b
				ok = j <= top
			case "idx":
				j = lane&segment | b&^segment
				ok = j <= top
			}
			if !ok {
				j = lane
			} else {
				x.p |= 1 << l
			}
			x.d[l] = allLanes
			if x.mask>>j&1 == 1 {
				x.d[l] = x.a[j]
			}
		}
	}
}

func vote(mode string) func(x *exchange) {
	return func(x *exchange) {
		var v bool
		switch mode {
		case "all":
			v = x.preds == x.mask
		case "any":
			v = x.preds != 0
		case "uni":
			v = x.preds == x.mask || x.preds == 0
		}
		if v {
			x.p = x.mask
		}
		for l := range x.d {
			x.d[l] = uint64(x.preds)
		}
	}
}

func match(mode string) func(x *exchange) {
	return func(x *exchange) {
		for l := range lanes(x.mask) {
			for m := range lanes(x.mask) {
				if x.a[m] == x.a[l] {
					x.d[l] |= 1 << m
				}
			}
			switch {
			case mode == "all" && x.d[l] != uint64(x.mask):
				x.d[l] = 0
			case mode == "all":
				x.p |= 1 << l
			}
		}
	}
}

func reduce(f func(a, b uint64) uint64) func(x *exchange) {
	return func(x *exchange) {
		first := bits.TrailingZeros32(x.mask)
		v := x.a[first]
		for l := range lanes(x.mask &^ (1 << first)) {
			v = f(v, x.a[l])
		}
		for l := range lanes(x.mask) {
			x.d[l] = v
		}
	}
}

// elect picks the lowest thread.
func elect(x *exchange) {
	leader := bits.TrailingZeros32(x.mask)
	x.p = 1 << leader
	for l := range lanes(x.mask) {
		x.d[l] = uint64(leader)
	}
}
