package ptx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// selector chooses instructions for a function, a value at a time.
type selector struct {
	f        *ir.Func
	target   driver.Capability
	exact    bool
	resident int
	name     string // of the entry
	out      *function
	sites    *siteTable
	stubs    []*stub
	vars     *variables

	vals      []operand      // by value ID
	parts     [][]reg        // by value ID, of operations with several results
	addresses []address      // by value ID, of pointers
	known     []intConstant  // by value ID
	used      []int          // by value ID: number of uses
	unwritten map[int64]bool // slices, by offset
	doubles   doubleTable
	tiles     *analysis.Tiles
	cluster   clusterState
	first     []*block // by block ID
	last      []*block // by block ID
	polls     []bool   // by block ID: it ends with a look for faults

	at   *block
	pos  ir.Pos
	memo map[computation]reg // what pure instructions of the current block have computed
}

func newSelector(f *ir.Func, o Options) *selector {
	s := &selector{
		f: f, target: o.Target, exact: o.Exact, resident: o.Resident, name: identifier(f.Name),
		out:       &function{regs: make([]class, 1)},
		sites:     newSiteTable(f, o.Sites),
		vars:      newVariables(f),
		vals:      make([]operand, f.NumValues()),
		parts:     make([][]reg, f.NumValues()),
		addresses: make([]address, f.NumValues()),
		known:     make([]intConstant, f.NumValues()),
		used:      make([]int, f.NumValues()),
		first:     make([]*block, f.NumBlocks()),
		last:      make([]*block, f.NumBlocks()),
		unwritten: unwritten(f),
		doubles:   newDoubleTable(f),
	}
	s.tiles = analysis.NewTiles(f)
	s.polls = spins(f)
	s.cluster = newClusterState(f, s.vars)
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for _, a := range v.Args {
				s.used[a.ID]++
			}
		}
	}
	return s
}

// function selects all blocks in order, which is a layout.
func (s *selector) function(order []*ir.Block) {
	for _, b := range order {
		s.first[b.ID] = &block{}
	}
	s.rolled()
	for i, b := range order {
		s.open(s.first[b.ID])
		if i == 0 {
			s.params()
			s.cluster.enter(s)
		}
		for _, v := range s.emitted(b) {
			s.pos = v.Pos
			s.value(v)
		}
		s.last[b.ID] = s.at
	}
	for _, b := range order {
		s.phis(b)
	}
}

// rolled marks the first blocks of loops that ptxas must not unroll, because //gpu:unroll forbids it or they have been unrolled.
func (s *selector) rolled() {
	var loops []*analysis.Loop
	for _, b := range s.f.Blocks {
		if !slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpUnroll }) {
			continue
		}
		if loops == nil {
			loops = analysis.Loops(ir.Dominators(s.f))
		}
		if i := slices.IndexFunc(loops, func(l *analysis.Loop) bool { return l.Contains(b) }); i >= 0 {
			s.first[loops[i].Header.ID].rolled = true
		}
	}
}

// open continues in a new block.
func (s *selector) open(b *block) {
	s.at = b
	s.memo = map[computation]reg{}
	s.out.blocks = append(s.out.blocks, b)
}

// phis completes the phis of b once every value has its operand.
func (s *selector) phis(b *ir.Block) {
	to := s.first[b.ID]
	var from []int
	for i, p := range b.Preds {
		if s.last[p.ID] != nil {
			from = append(from, i)
			to.preds = append(to.preds, s.last[p.ID])
		}
	}
	for i, v := range b.Phis() {
		for _, j := range from {
			to.phis[i].args = append(to.phis[i].args, s.operand(v.Args[j]))
		}
	}
}

// value selects v. It dispatches; the work is in the files next to this one.
func (s *selector) value(v *ir.Value) {
	switch v.Op {
	case ir.OpConst:
		s.vals[v.ID] = literal(v.Type, v.Imm)
	case ir.OpPhi:
		s.vals[v.ID] = s.phi(v)
	case ir.OpSelect:
		s.vals[v.ID] = s.choose(v)
	case ir.OpTrunc, ir.OpSExt, ir.OpZExt, ir.OpSToF, ir.OpUToF, ir.OpFToS, ir.OpFToU, ir.OpFExt, ir.OpFRound, ir.OpBitcast:
		s.vals[v.ID] = s.convert(v)
	case ir.OpF16ToF, ir.OpFToF16, ir.OpBF16ToF, ir.OpFToBF16:
		s.vals[v.ID] = s.convertHalf(v)
	case ir.OpAlloca, ir.OpVar, ir.OpOffset, ir.OpIndex:
		s.pointer(v)
	case ir.OpStruct: // its store takes it apart
	case ir.OpLoad, ir.OpStore:
		s.memory(v)
	case ir.OpTid, ir.OpNTid, ir.OpCtaid, ir.OpNCtaid:
		s.vals[v.ID] = s.special(v)
	case ir.OpFence:
		s.fence(v)
	case ir.OpCopyAsync, ir.OpFetchAsync, ir.OpCopyCommit, ir.OpCopyWait:
		s.copyAsync(v)
	case ir.OpClusterid, ir.OpNClusterCtaid, ir.OpClusterCtaid, ir.OpClusterRank, ir.OpClusterSize:
		s.vals[v.ID] = s.clusterSpecial(v)
	case ir.OpClusterBarrier:
		s.clusterBarrier(v)
	case ir.OpPeer:
		s.peer(v)
	case ir.OpLane:
		s.vals[v.ID] = s.lane()
	case ir.OpDynamicBytes:
		s.vals[v.ID] = s.dynamicBytes()
	case ir.OpClock, ir.OpSleep:
		s.time(v)
	case ir.OpBarrier, ir.OpBarrierCount, ir.OpBarrierAnd, ir.OpBarrierOr:
		s.barrier(v)
	case ir.OpGridBarrier:
		s.gridBarrier()
	case ir.OpAwaitPrevious, ir.OpStartNext:
		s.overlap(v)
	case ir.OpWarpBarrier, ir.OpBallot, ir.OpMatch, ir.OpShuffle, ir.OpShuffleUp, ir.OpShuffleDown, ir.OpShuffleXor:
		s.warp(v)
	case ir.OpWarpReduce:
		s.vals[v.ID] = s.warpReduce(v)
	case ir.OpLoadMatrix:
		s.loadMatrix(v)
	case ir.OpMMA:
		s.mma(v)
	case ir.OpStoreMatrix:
		s.storeMatrix(v)
	case ir.OpMBarrierInit, ir.OpMBarrierArrive, ir.OpMBarrierArriveAt, ir.OpMBarrierTest, ir.OpMBarrierWait:
		s.mbarrier(v)
	case ir.OpMBarrierSend:
		s.send(v)
	case ir.OpTensorMap:
		s.vals[v.ID] = s.tensorMap(v.Imm)
	case ir.OpTileFetch, ir.OpTileMulticast, ir.OpTileStore, ir.OpBulkFetch, ir.OpBulkStore, ir.OpTileCommit, ir.OpTileWait, ir.OpAsyncFence:
		s.tile(v)
	case ir.OpWGMMA, ir.OpWGMMATiles, ir.OpWGMMAWait, ir.OpWGMMAFence, ir.OpWGMMACommit:
		s.wgmma(v)
	case ir.OpSetMaxNReg:
		s.setMaxNReg(v)
	case ir.OpExtract:
		s.vals[v.ID] = operand{reg: s.parts[v.Args[0].ID][v.Imm]}
	case ir.OpCheck:
		s.check(v)
	case ir.OpPrint:
		s.print(v)
	case ir.OpUnroll: // see rolled
	case ir.OpJump, ir.OpIf, ir.OpRet, ir.OpFault:
		s.leave(v)
	default:
		if v.Op.Atomic() {
			s.atomic(v)
			return
		}
		s.vals[v.ID] = s.arithmetic(v)
	}
}

// time reads a clock or waits for one.
func (s *selector) time(v *ir.Value) {
	if v.Op == ir.OpSleep {
		s.emit(inst{op: "nanosleep.u32", args: []operand{s.operand(v.Args[0])}})
		return
	}
	s.vals[v.ID] = s.placed("mov.u64", b64, operand{text: [...]string{"%clock64", "%globaltimer"}[v.Imm]})
}

// arithmetic selects an operation on integers, booleans or floats.
func (s *selector) arithmetic(v *ir.Value) operand {
	switch {
	case v.Op >= ir.OpFEq && v.Op <= ir.OpFLe:
		return s.compareFloats(v)
	case v.Op >= ir.OpEq && v.Op <= ir.OpULe:
		return s.compareInts(v)
	case v.Op >= ir.OpFAdd && v.Op <= ir.OpApproxDiv:
		return s.float(v)
	case v.Op >= ir.OpAdd && v.Op <= ir.OpBrev:
		return s.integer(v)
	}
	panic(fmt.Sprintf("BUG: ptx: %s: no instructions for %s", s.f.Name, v.LongString()))
}

// operand returns where v is: a register, or the text of a constant.
func (s *selector) operand(v *ir.Value) operand {
	if v.Op == ir.OpConst {
		return literal(v.Type, v.Imm)
	}
	return s.vals[v.ID]
}

// emit adds an instruction.
func (s *selector) emit(in inst) {
	in.pos = s.pos
	s.at.insts = append(s.at.insts, in)
}

// computation is what a pure instruction computes.
type computation struct {
	op   string
	args [maxComputed]operand
}

// maxComputed is the most arguments of a pure instruction.
const maxComputed = 4

// def adds a pure instruction, or finds its equal in the block, and returns its result.
func (s *selector) def(c class, op string, args ...operand) operand {
	if len(args) > maxComputed {
		panic("BUG: ptx: too many arguments of " + op)
	}
	key := computation{op: op}
	copy(key.args[:], args)
	if r, ok := s.memo[key]; ok {
		return operand{reg: r}
	}
	r := s.out.newReg(c)
	s.emit(inst{op: op, pure: true, dst: r, args: args})
	s.memo[key] = r
	return operand{reg: r}
}

// inReg returns o in a register of class c.
func (s *selector) inReg(c class, o operand) operand {
	if o.reg != 0 {
		return o
	}
	return s.def(c, classes[c].move, o)
}

func (s *selector) phi(v *ir.Value) operand {
	r := s.out.newReg(classOf(v.Type))
	s.at.phis = append(s.at.phis, phi{dst: r})
	return operand{reg: r}
}

// choose selects arg0 ? arg1 : arg2.
func (s *selector) choose(v *ir.Value) operand {
	cond := s.inReg(pred, s.operand(v.Args[0]))
	yes, no := v.Args[1], v.Args[2]
	switch c := classOf(v.Type); {
	case c == pred:
		return s.chooseBool(cond, yes, no)
	case isMinusZero(yes), isMinusZero(no):
		return s.def(c, "selp.b32", s.bits(yes), s.bits(no), cond)
	default:
		return s.def(c, "selp"+classes[c].typ, s.operand(yes), s.operand(no), cond)
	}
}

// isMinusZero reports the constant that NVIDIA's compiler (13.0 and 13.5) takes for 0 in a selp.f32 whose other
// side is 1 or -1: of a comparison of floats it makes the instruction that leaves 1 or 0, and it converts 0 or -1.
func isMinusZero(v *ir.Value) bool {
	return v.Op == ir.OpConst && v.Type.Kind == ir.KindF32 && uint32(v.Imm) == 1<<31
}

// bits returns a float32 as an operand of an instruction that does not look what its bits mean.
func (s *selector) bits(v *ir.Value) operand {
	if v.Op == ir.OpConst {
		return literal(ir.I32, v.Imm)
	}
	return s.operand(v)
}

// special reads a register with the position of the thread. A block of fixed size makes some of
// them constant.
func (s *selector) special(v *ir.Value) operand {
	fixed := s.f.Block[v.Imm]
	if s.f.Block != [3]int{} {
		switch {
		case v.Op == ir.OpNTid:
			return s.fold(v, int64(max(1, fixed)))
		case v.Op == ir.OpTid && fixed <= 1:
			return s.fold(v, 0)
		}
	}
	name := map[ir.Op]string{ir.OpTid: "%tid", ir.OpNTid: "%ntid", ir.OpCtaid: "%ctaid", ir.OpNCtaid: "%nctaid"}[v.Op]
	return s.def(b32, "mov.u32", operand{text: name + "." + "xyz"[v.Imm:v.Imm+1]})
}

// params loads the parameters; ptxas turns that into direct use of the constant bank.
func (s *selector) params() {
	for _, p := range s.f.Params {
		s.vals[p.ID] = s.widenLoaded(p.Type, func(c class, suffix string) operand {
			return s.param(c, suffix, p.Imm)
		})
		s.addresses[p.ID] = address{base: s.vals[p.ID]}
	}
}

// param loads from an offset in the parameter block.
func (s *selector) param(c class, suffix string, offset int64) operand {
	r := s.out.newReg(c)
	block := operand{text: s.name + "_params"}
	s.emit(inst{op: "ld.param" + suffix, form: access, pure: true, dst: r, args: []operand{block}, offset: offset})
	return operand{reg: r}
}

// regBits returns the suffix of an untyped operation on integers of type t in registers.
func regBits(t *ir.Type) string {
	if classOf(t) == b64 {
		return "64"
	}
	return "32"
}

// identifier returns name as a PTX identifier: it is unchanged where it is one already,
// other characters become $ and their code.
func identifier(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "$%x", r)
		}
	}
	return b.String()
}
