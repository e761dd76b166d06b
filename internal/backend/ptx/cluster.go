package ptx

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// clusterSpecial reads a special register about the thread's cluster.
func (s *selector) clusterSpecial(v *ir.Value) operand {
	name := map[ir.Op]string{
		ir.OpClusterid: "%clusterid.", ir.OpNClusterCtaid: "%cluster_nctaid.", ir.OpClusterCtaid: "%cluster_ctaid.",
		ir.OpClusterRank: "%cluster_ctarank", ir.OpClusterSize: "%cluster_nctarank",
	}[v.Op]
	if strings.HasSuffix(name, ".") {
		name += "xyz"[v.Imm : v.Imm+1]
	}
	return s.def(b32, "mov.u32", operand{text: name})
}

// peer maps an address in shared memory to that of another block of the cluster: a generic one, as the
// window of shared memory has 32 bits for all of them.
func (s *selector) peer(v *ir.Value) {
	own := s.inReg(b64, s.toGeneric(v.Args[0]))
	s.vals[v.ID] = s.def(b64, "mapa.u64", own, s.number(v.Args[1]))
	s.addresses[v.ID] = address{base: s.vals[v.ID]}
}

// send selects a store to another block's shared memory, of which a barrier there is told.
func (s *selector) send(v *ir.Value) {
	rank := s.number(v.Args[3])
	there := func(v *ir.Value) operand {
		own := s.sharedAddress(v)
		if own.offset != 0 {
			own.base = s.def(b32, "add.s32", s.inReg(b32, own.base), imm(own.offset))
		}
		return s.def(b32, "mapa.shared::cluster.u32", s.inReg(b32, own.base), rank)
	}
	bar, to := there(v.Args[0]), there(v.Args[1])
	s.pattern(inst{op: "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64"}, "[%], %, [%]", to, s.inReg(b64, s.operand(v.Args[2])), bar)
}

// A clusterState is what a kernel keeps to synchronise the threads of a cluster.
type clusterState struct {
	// halves is that the two halves of the barrier stand apart: a register then says that the thread has
	// arrived and not waited. Two arrivals in a row have no defined behaviour (ISA, barrier.cluster).
	halves bool
	// peers is that threads access other blocks' shared memory through pointers, and sends that they send to it.
	peers, sends bool
	// counts is where the threads of a block are counted that have left, and the blocks of the cluster
	// of which all have; nowhere where blocks keep their shared memory to themselves.
	counts address
	// steps are those of a thread of a kernel without pointers to other blocks' shared memory, if all threads that do not
	// fault arrive equally often at the cluster's barrier. Such a kernel counts its threads only.
	steps clusterSteps
	early map[*ir.Value]bool // arrivals at the cluster's barrier that have nothing to release
}

// clusterCounts stands for these two numbers in the layout of shared memory.
var clusterCounts = &ir.Variable{Name: "cluster", Space: ir.Shared, Type: ir.ArrayOf(2, ir.I32)}

// reachesPeers reports whether an operation accesses the shared memory of other blocks.
func reachesPeers(op ir.Op) bool { return op == ir.OpPeer || op == ir.OpMBarrierSend }

func newClusterState(f *ir.Func, vs *variables) (b clusterState) {
	barrier := false
	for _, block := range f.Blocks {
		for _, v := range block.Values {
			barrier = barrier || v.Op == ir.OpClusterBarrier
			b.halves = b.halves || v.Op == ir.OpClusterBarrier && v.Imm > 0
			b.peers = b.peers || v.Op == ir.OpPeer
			b.sends = b.sends || v.Op == ir.OpMBarrierSend
		}
	}
	if b.peers || b.sends {
		b.counts = vs.symbol(clusterCounts)
	}
	if b.sends && !b.peers {
		b.steps = clusterStepsOf(f)
	}
	if barrier {
		b.early = earlyArrivals(f)
	}
	return b
}

// counter returns where one of the two counts is, as an operand has it.
func (b clusterState) counter(i int64) string {
	return fmt.Sprintf("%s+%d", b.counts.base.text, b.counts.offset+4*i)
}

// registers declares what the texts below use.
func (b clusterState) registers() string {
	text := ""
	if b.halves {
		text += "\t.reg .pred %arrived;\n"
	}
	if b.counts != (address{}) {
		text += "\t.reg .pred %pleave;\n\t.reg .b32 %leave<6>;\n"
	}
	return text
}

// enter initialises the state at the kernel's start. With pointers to other blocks' shared memory, no block goes on before all
// have begun: their shared memory is not there earlier.
func (b clusterState) enter(s *selector) {
	text := func(lines ...string) {
		for _, line := range lines {
			s.emit(inst{op: line})
		}
	}
	if b.halves {
		text("mov.pred %arrived, 0")
	}
	switch {
	case b.counts == (address{}):
	case b.steps.of != nil:
		text("st.relaxed.cta.shared.u32 ["+b.counter(0)+"], 0", "bar.sync 0", "mov.u32 "+arrivals+", 0")
	default:
		text("st.relaxed.cta.shared.u32 ["+b.counter(0)+"], 0", "st.relaxed.cta.shared.u32 ["+b.counter(1)+"], 0",
			"barrier.cluster.arrive", "barrier.cluster.wait")
	}
}

// clusterBarrier selects a barrier of the cluster, or one of its halves.
func (s *selector) clusterBarrier(v *ir.Value) {
	text := func(guard, op string) { s.emit(inst{op: guard + op}) }
	arrive := "barrier.cluster.arrive"
	if s.cluster.early[v] {
		arrive += ".relaxed"
	}
	if s.cluster.steps.of != nil {
		s.clusterStep(v, arrive)
		return
	}
	if !s.cluster.halves {
		text("", arrive)
		text("", "barrier.cluster.wait")
		return
	}
	if v.Imm != 1 {
		text("@%arrived ", "barrier.cluster.wait")
	}
	switch v.Imm {
	case 0:
		text("", arrive)
		text("", "barrier.cluster.wait")
		text("", "mov.pred %arrived, 0")
	case 1:
		text("@!%arrived ", arrive)
		text("", "mov.pred %arrived, 1")
	case 2:
		text("", "mov.pred %arrived, 0")
	}
}

// leave returns what a thread does at the kernel's exit, where it comes to also after a fault. The shared memory of a
// block must stay for as long as a thread of another one may use it: the last thread of each block, for which
// nobody waits at a barrier of the block or the warp, stays until all blocks are done, and meanwhile comes to all
// barriers of the cluster.
func (b clusterState) leave() string {
	if b.counts == (address{}) {
		return ""
	}
	wait := ""
	if b.halves {
		wait = "\t@%arrived barrier.cluster.wait;\n"
	}
	if b.steps.of != nil {
		return b.leaveInStep(wait)
	}
	return "\tfence.acq_rel.cluster;\n" + b.leaveUnlessLast() + strings.ReplaceAll(`	fence.acq_rel.cluster;
	mov.u32 %leave0, %cluster_nctarank;
	mov.u32 %leave1, 0;
	mov.u32 %leave2, BLOCKS;
$TELL:
	mapa.shared::cluster.u32 %leave3, %leave2, %leave1;
	atom.relaxed.cluster.shared::cluster.add.u32 %leave4, [%leave3], 1;
	add.s32 %leave1, %leave1, 1;
	setp.lt.u32 %pleave, %leave1, %leave0;
	@%pleave bra $TELL;
`+wait+`$STAY:
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ld.relaxed.cluster.shared.u32 %leave4, [BLOCKS];
	setp.lt.u32 %pleave, %leave4, %leave0;
	@%pleave bra $STAY;
`, "BLOCKS", b.counter(1))
}

// leaveUnlessLast lets all threads of a block leave but the last.
func (b clusterState) leaveUnlessLast() string {
	return strings.ReplaceAll(`	atom.relaxed.cluster.shared.add.u32 %leave0, [COUNTS], 1;
	mov.u32 %leave1, %ntid.x;
	mov.u32 %leave2, %ntid.y;
	mul.lo.s32 %leave1, %leave1, %leave2;
	mov.u32 %leave2, %ntid.z;
	mul.lo.s32 %leave1, %leave1, %leave2;
	sub.s32 %leave1, %leave1, 1;
	setp.ne.u32 %pleave, %leave0, %leave1;
	@%pleave ret;
`, "COUNTS", b.counter(0))
}
