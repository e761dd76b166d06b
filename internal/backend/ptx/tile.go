package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// pattern emits an instruction whose operands stand in brackets and braces. Each % is an
// argument; an argument that is a place is its address.
func (s *selector) pattern(in inst, text string, args ...any) {
	in.form = brackets
	for i, x := range args {
		switch x := x.(type) {
		case operand:
			in.args = append(in.args, x)
		case address:
			if x.offset != 0 {
				x.base = s.def(b32, "add.s32", s.inReg(b32, x.base), imm(x.offset))
			}
			in.args = append(in.args, x.base)
		default:
			panic(fmt.Sprintf("BUG: ptx: argument %d of %s is a %T", i, in.op, x))
		}
	}
	in.pattern = text
	s.emit(in)
}

// mbarrier selects an operation on a barrier in shared memory.
func (s *selector) mbarrier(v *ir.Value) {
	at, n := s.sharedAddress(v.Args[0]), s.operand(v.Args[1])
	switch v.Op {
	case ir.OpMBarrierInit:
		s.pattern(inst{op: "mbarrier.init.shared::cta.b64"}, "[%], %", at, n)
		s.emit(inst{op: "fence.mbarrier_init.release.cluster"}) // for other blocks, and for copies
	case ir.OpMBarrierArrive:
		if c, ok := s.constant(v.Args[1]); ok && c == 0 {
			s.pattern(inst{op: "mbarrier.arrive.release.cta.shared::cta.b64"}, "_, [%]", at)
			return
		}
		s.pattern(inst{op: "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64"}, "_, [%], %", at, n)
	case ir.OpMBarrierArriveAt:
		own := at.base
		if at.offset != 0 {
			own = s.def(b32, "add.s32", s.inReg(b32, at.base), imm(at.offset))
		}
		peer := s.def(b32, "mapa.shared::cluster.u32", s.inReg(b32, own), s.inReg(b32, n))
		s.pattern(inst{op: "mbarrier.arrive.release.cta.shared::cluster.b64"}, "_, [%]", peer)
	case ir.OpMBarrierTest:
		s.vals[v.ID] = s.passed("test_wait", at, n)
	case ir.OpMBarrierWait:
		s.mbarrierWait(at, n)
	}
}

// passed reports whether a phase is over. With try_wait the hardware waits for it some time.
func (s *selector) passed(how string, at address, phase operand) operand {
	r := s.out.newReg(pred)
	parity := s.def(b32, "and.b32", s.inReg(b32, phase), imm(1))
	scope := "cta"
	if s.cluster.sends { // what arrives may come from another block
		scope = "cluster"
	}
	s.pattern(inst{op: "mbarrier." + how + ".parity.acquire." + scope + ".shared::cta.b64", dst: r}, "[%], %", at, parity)
	return operand{reg: r}
}

// mbarrierWait waits for a phase. A thread that should arrive may have faulted: then this one leaves.
func (s *selector) mbarrierWait(at address, phase operand) {
	if at.offset != 0 {
		at = address{base: s.def(b32, "add.s32", s.inReg(b32, at.base), imm(at.offset))}
	}
	phase = s.def(b32, "and.b32", s.inReg(b32, phase), imm(1))
	try, poll, done := &block{}, &block{}, &block{}
	s.reach(operand{}, try)
	s.open(try)
	over := s.passed("try_wait", at, phase)
	if len(s.sites.sites) == 0 { // nobody faults
		s.reach(over, done, try)
		s.open(done)
		return
	}
	s.reach(over, done, poll)
	s.open(poll)
	if !Exact(s.f) {
		s.poll()
		s.reach(operand{}, try)
	} else {
		// A warp group does its products as a whole, and ptxas runs them one by one where a thread may leave between
		// them: so it goes on, with data that count for nothing, and waits nowhere any more.
		s.reach(s.faulted(), done, try)
	}
	s.open(done)
}

// tensorMap returns the generic address of a tensor map in the parameter block.
func (s *selector) tensorMap(offset int64) operand {
	block := s.def(b64, "mov.b64", operand{text: s.name + "_params"})
	at := s.def(b64, "cvta.param.u64", block)
	if offset != 0 {
		at = s.def(b64, "add.s64", at, imm(offset))
	}
	return at
}

// tile selects a bulk copy of a tile, or what belongs to those.
func (s *selector) tile(v *ir.Value) {
	switch v.Op {
	case ir.OpTileFetch:
		s.pattern(inst{op: fetchTile}, "[%], [%, {%, %, %}], [%]", s.fetched(v)...)
	case ir.OpTileMulticast:
		ranks := s.def(b16, "cvt.u16.u32", s.number(v.Args[6]))
		s.pattern(inst{op: fetchTile + ".multicast::cluster"}, "[%], [%, {%, %, %}], [%], %", append(s.fetched(v), ranks)...)
	case ir.OpTileStore:
		from, m := s.sharedAddress(v.Args[0]), s.inReg(b64, s.operand(v.Args[1]))
		s.pattern(inst{op: "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"},
			"[%, {%, %, %}], [%]", m, s.number(v.Args[2]), s.number(v.Args[3]), s.number(v.Args[4]), from)
	case ir.OpBulkFetch:
		to, from, bar := s.sharedAddress(v.Args[0]), s.inReg(b64, s.operand(v.Args[1])), s.sharedAddress(v.Args[3])
		s.pattern(inst{op: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"}, "[%], [%], %, [%]", to, from, s.number(v.Args[2]), bar)
	case ir.OpBulkStore:
		from, to := s.sharedAddress(v.Args[0]), s.inReg(b64, s.operand(v.Args[1]))
		s.pattern(inst{op: "cp.async.bulk.global.shared::cta.bulk_group"}, "[%], [%], %", to, from, s.number(v.Args[2]))
	case ir.OpTileCommit:
		s.emit(inst{op: "cp.async.bulk.commit_group"})
	case ir.OpTileWait:
		op := "cp.async.bulk.wait_group"
		if v.Imm&8 != 0 {
			op += ".read"
		}
		s.emit(inst{op: op, args: []operand{imm(v.Imm & 7)}})
	case ir.OpAsyncFence:
		s.emit(inst{op: "fence.proxy.async.shared::cta"})
	}
}

// fetchTile is the instruction that copies a tile to shared memory.
const fetchTile = "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"

// fetched returns the arguments of fetchTile: the tile, the tensor map, the coordinates and the barrier.
func (s *selector) fetched(v *ir.Value) []any {
	to, m, bar := s.sharedAddress(v.Args[0]), s.inReg(b64, s.operand(v.Args[1])), s.sharedAddress(v.Args[2])
	return []any{to, m, s.number(v.Args[3]), s.number(v.Args[4]), s.number(v.Args[5]), bar}
}

// number returns v, an i32, in a register.
func (s *selector) number(v *ir.Value) operand { return s.inReg(b32, s.operand(v)) }
