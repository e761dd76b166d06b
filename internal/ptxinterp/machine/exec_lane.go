package machine

// The functions here execute one instruction for the threads of a mask, by calling a function
// of package scalar for each thread. File exec_fast.go has faster ones for what is common.

func exec1(w *warp, in *instr, mask uint32) {
	d, a, f := w.row(in.d), w.row(in.a), in.f1
	for l := range lanes(mask) {
		d[l] = f(a[l])
	}
}

func exec2(w *warp, in *instr, mask uint32) {
	d, a, b, f := w.row(in.d), w.row(in.a), w.row(in.b), in.f2
	for l := range lanes(mask) {
		d[l] = f(a[l], b[l])
	}
}

func exec3(w *warp, in *instr, mask uint32) {
	d, a, b, c, f := w.row(in.d), w.row(in.a), w.row(in.b), w.row(in.c), in.f3
	for l := range lanes(mask) {
		d[l] = f(a[l], b[l], c[l])
	}
}

// execConvert stores what f returns in as many bits as the destination has.
func execConvert(w *warp, in *instr, mask uint32) {
	d, a, f := w.row(in.d), w.row(in.a), in.f1
	for l := range lanes(mask) {
		d[l] = f(a[l]) & in.imm
	}
}

func execMove(w *warp, in *instr, mask uint32) {
	d, a := w.row(in.d), w.row(in.a)
	if mask == allLanes {
		*d = *a
		return
	}
	for l := range lanes(mask) {
		d[l] = a[l]
	}
}

func execActiveMask(w *warp, in *instr, mask uint32) {
	d := w.row(in.d)
	for l := range lanes(mask) {
		d[l] = uint64(mask)
	}
}

// combination is what setp and set do with the outcome of a comparison.
type combination struct {
	op     string // and, or, xor, or none
	pred   int32
	negate bool
}

// of returns the outcome for the threads of a mask.
func (c *combination) of(w *warp, outcome uint32) uint32 {
	p := w.preds[c.pred]
	if c.negate {
		p = ^p
	}
	switch c.op {
	case "and":
		return outcome & p
	case "or":
		return outcome | p
	case "xor":
		return outcome ^ p
	}
	return outcome
}

func compare(w *warp, in *instr, mask uint32) uint32 {
	a, b, rel := w.row(in.a), w.row(in.b), in.rel
	if in.all != nil {
		return in.all(a, b)
	}
	var outcome uint32
	for l := range lanes(mask) {
		if rel(a[l], b[l]) {
			outcome |= 1 << l
		}
	}
	return outcome
}

func execSetp(w *warp, in *instr, mask uint32) {
	outcome := compare(w, in, mask)
	p, q := in.combine.of(w, outcome), in.combine.of(w, ^outcome)
	if in.p >= 0 {
		w.preds[in.p] = w.preds[in.p]&^mask | p&mask
	}
	if in.q >= 0 {
		w.preds[in.q] = w.preds[in.q]&^mask | q&mask
	}
}

func execSet(w *warp, in *instr, mask uint32) {
	outcome := in.combine.of(w, compare(w, in, mask))
	d := w.row(in.d)
	for l := range lanes(mask) {
		d[l] = 0
		if outcome>>l&1 == 1 {
			d[l] = in.imm
		}
	}
}

func execSelp(w *warp, in *instr, mask uint32) {
	d, a, b, p := w.row(in.d), w.row(in.a), w.row(in.b), w.preds[in.p]
	for l := range d {
		switch {
		case mask>>l&1 == 0:
		case p>>l&1 == 1:
			d[l] = a[l]
		default:
			d[l] = b[l]
		}
	}
}

// predOp is logic on two predicates.
type predOp struct {
	op         string
	a, b       int32
	notA, notB bool
}

func execPred(w *warp, in *instr, mask uint32) {
	a, b := w.preds[in.pred.a], w.preds[in.pred.b]
	if in.pred.notA {
		a = ^a
	}
	if in.pred.notB {
		b = ^b
	}
	switch in.pred.op {
	case "and":
		a &= b
	case "or":
		a |= b
	case "xor":
		a ^= b
	}
	if in.p >= 0 {
		w.preds[in.p] = w.preds[in.p]&^mask | a&mask
	}
}

// carryOp is an addition or subtraction with the carry flag, of which each thread has one.
type carryOp struct {
	mask              uint64
	subtract, in, out bool
}

// exec adds; a subtraction adds the complement, its carry being the borrow.
func (op *carryOp) exec(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range lanes(mask) {
		var c uint64
		if op.in {
			c = uint64(w.carry >> l & 1)
		}
		x, y := a[l], b[l]
		var sum uint64
		var carry bool
		if op.subtract {
			sum = (x - y - c) & op.mask
			carry = x < y || x == y && c == 1
		} else {
			sum = (x + y + c) & op.mask
			carry = sum < x || sum == x && c == 1
		}
		d[l] = sum
		if op.out {
			w.carry &^= 1 << l
			if carry {
				w.carry |= 1 << l
			}
		}
	}
}
