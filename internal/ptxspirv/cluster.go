package ptxspirv

import (
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// Vulkan has no clusters of workgroups that reach each other's shared memory. A cluster is therefore one workgroup: the threads of its first
// block come first, then those of the second, and so on. The shared memory of the blocks is one after another as well, in pieces of the
// same size, so that an address says whose memory it is.
//
// In a kernel that runs in rounds, a thread waits at a barrier of the cluster, round after round, until each thread of the cluster has arrived
// as often as it has, or has ended.

// threads returns the number of threads of a block.
func (o *Options) threads() int { return o.Block[0] * o.Block[1] * o.Block[2] }

// cluster returns the number of blocks of a cluster along each axis.
func (o *Options) cluster() [3]int {
	return [3]int{max(1, o.Cluster[0]), max(1, o.Cluster[1]), max(1, o.Cluster[2])}
}

// blockCount returns the number of blocks of a cluster.
func (o *Options) blockCount() int { c := o.cluster(); return c[0] * c[1] * c[2] }

// sharesWarps reports whether threads of two blocks would be in one subgroup.
func (o *Options) sharesWarps() bool { return o.blockCount() > 1 && o.threads()%warpLanes != 0 }

func (t *translator) threads() int { return t.options.threads() }

func (t *translator) blockCount() int { return t.options.blockCount() }

// isClusterWait reports whether an instruction waits for the threads of the cluster.
func isClusterWait(in *ptx.Instr) bool {
	return in.Op == "barrier" && slices.Contains(in.Mods, "cluster") && slices.Contains(in.Mods, "wait")
}

// waitsInCluster reports whether the kernel has a barrier of the cluster.
func (g *graph) waitsInCluster() bool {
	return slices.ContainsFunc(g.order, func(i int) bool {
		return g.blocks[i].barrier() && isClusterWait(g.blocks[i].code[0])
	})
}

// index returns the thread's number in a cluster of several blocks.
func (t *translator) index() spirv.ID { return t.builtin(spirv.BuiltInLocalInvocationID, 0) }

// rank returns the number of the thread's block in the cluster.
func (t *translator) rank() spirv.ID {
	if t.blockCount() == 1 {
		return t.word(0)
	}
	return t.op(spirv.OpUDiv, ptx.U32, t.index(), t.word(uint32(t.threads())))
}

// along returns the index along an axis of what has a number in a box of a size, of which x counts fastest.
func (t *translator) along(i spirv.ID, size [3]int, axis int) spirv.ID {
	if size[axis] == 1 {
		return t.word(0)
	}
	for k := range axis {
		i = t.op(spirv.OpUDiv, ptx.U32, i, t.word(uint32(size[k])))
	}
	return t.op(spirv.OpUMod, ptx.U32, i, t.word(uint32(size[axis])))
}

// thread returns the thread's index in its block along an axis.
func (t *translator) thread(axis int) spirv.ID {
	if t.blockCount() == 1 {
		return t.builtin(spirv.BuiltInLocalInvocationID, axis)
	}
	return t.along(t.linear(), t.options.Block, axis)
}

// inGrid returns a special register about the grid or the cluster.
func (t *translator) inGrid(base string, axis int) spirv.ID {
	c := t.options.cluster()
	switch base {
	case "%clusterid":
		return t.builtin(spirv.BuiltInWorkgroupID, axis)
	case "%nclusterid":
		return t.builtin(spirv.BuiltInNumWorkgroups, axis)
	case "%cluster_ctarank":
		return t.rank()
	case "%cluster_nctarank":
		return t.word(uint32(t.blockCount()))
	case "%cluster_nctaid":
		return t.word(uint32(c[axis]))
	case "%cluster_ctaid":
		return t.along(t.rank(), c, axis)
	case "%nctaid":
		return t.scaled(t.builtin(spirv.BuiltInNumWorkgroups, axis), c[axis])
	case "%ctaid":
		first := t.scaled(t.builtin(spirv.BuiltInWorkgroupID, axis), c[axis])
		if c[axis] == 1 {
			return first
		}
		return t.op(spirv.OpIAdd, ptx.U32, first, t.along(t.rank(), c, axis))
	}
	t.fail("special register %s", base)
	return t.word(0)
}

// scaled returns a product.
func (t *translator) scaled(v spirv.ID, n int) spirv.ID {
	if n == 1 {
		return v
	}
	return t.op(spirv.OpIMul, ptx.U32, v, t.word(uint32(n)))
}

// sharedOf returns where the shared memory of a block of the cluster begins.
func (t *translator) sharedOf(rank spirv.ID) spirv.ID { return t.scaled(rank, t.sharedBytes) }

// mapAddress translates mapa: the address of the same place in the shared memory of another block.
func (t *translator) mapAddress() {
	typ := t.typ(0)
	if t.space() != ptx.Shared && (t.space() != ptx.Generic || typ != ptx.U64) {
		t.fail("%s", t.in)
		return
	}
	u := func(op spirv.Op, a, b spirv.ID) spirv.ID { return t.op(op, ptx.U32, a, b) }
	from := t.arg(1, typ)
	low := from
	if typ == ptx.U64 {
		low = t.op(spirv.OpUConvert, ptx.U32, from)
	}
	inBlock := u(spirv.OpISub, low, t.sharedOf(t.rank()))
	to := u(spirv.OpIAdd, inBlock, t.sharedOf(t.arg(2, ptx.U32)))
	if typ == ptx.U64 {
		upper := t.op(spirv.OpBitwiseAnd, ptx.U64, from, t.wide(^uint64(1<<32-1)))
		to = t.op(spirv.OpBitwiseOr, ptx.U64, upper, t.op(spirv.OpUConvert, ptx.U64, to))
	}
	t.result(typ, to)
}

// clusterBarrier translates the halves of a barrier of the cluster that all threads reach; in kernels that run in rounds, only the first half.
// The first half does nothing if all threads reach the second one, which waits.
func (t *translator) clusterBarrier() {
	switch {
	case isClusterWait(t.in):
		t.barrier()
	case !t.has("cluster") || !t.has("arrive"):
		t.fail("%s", t.in)
	case t.meeting.arrived != 0:
		t.fenceInWorkgroup(spirv.SemanticsRelease)
		t.op(spirv.OpAtomicIAdd, ptx.U32, t.arrivals(), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(1))
		phases := t.Value(spirv.OpLoad, t.u32(), t.meeting.phases)
		t.Emit(spirv.OpStore, t.meeting.phases, t.op(spirv.OpIAdd, ptx.U32, phases, t.word(1)))
	}
}

// beginArrivals declares what counts arrivals, if the kernel runs in rounds, and clears it.
func (t *translator) beginArrivals() {
	if !t.countsArrivals {
		return
	}
	m := &t.meeting
	m.arrived, m.phases = t.words(spirv.StorageWorkgroup, 4), t.Local(t.pointer(spirv.StorageFunction, t.u32()))
	t.Emit(spirv.OpStore, m.phases, t.word(0))
	t.Emit(spirv.OpAtomicStore, t.arrivals(), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(0))
}

// arrivals returns a pointer to the number of arrivals.
func (t *translator) arrivals() spirv.ID {
	return t.wordIn(spirv.StorageWorkgroup, t.meeting.arrived, t.word(0))
}

// clusterWaits returns whether each thread of the cluster has ended or has arrived as often as this one. None has arrived more often while one
// is missing. A thread that ends takes its arrivals away before it is counted, so the sum is never too large.
func (t *translator) clusterWaits() spirv.ID {
	ended := t.seen(t.blockWord, threadsEnded)
	sum := t.op(spirv.OpAtomicLoad, ptx.U32, t.arrivals(), t.word(spirv.ScopeWorkgroup), t.word(0))
	t.fenceInWorkgroup(spirv.SemanticsAcquire)
	others := t.op(spirv.OpISub, ptx.U32, t.word(uint32(t.threads()*t.blockCount())), ended)
	all := t.op(spirv.OpIMul, ptx.U32, others, t.Value(spirv.OpLoad, t.u32(), t.meeting.phases))
	return t.test(spirv.OpUGreaterThanEqual, sum, all)
}

// forgetArrivals takes the arrivals of a thread that ends away.
func (t *translator) forgetArrivals() {
	if t.meeting.arrived != 0 {
		phases := t.Value(spirv.OpLoad, t.u32(), t.meeting.phases)
		minus := t.op(spirv.OpISub, ptx.U32, t.word(0), phases)
		t.op(spirv.OpAtomicIAdd, ptx.U32, t.arrivals(), t.word(spirv.ScopeWorkgroup), t.word(0), minus)
	}
}

// fenceInWorkgroup emits a fence among the threads of the workgroup.
func (t *translator) fenceInWorkgroup(semantics uint32) {
	all := semantics | spirv.SemanticsUniformMemory | spirv.SemanticsWorkgroupMemory
	t.Emit(spirv.OpMemoryBarrier, t.word(spirv.ScopeWorkgroup), t.word(all))
}

// aboutCluster reports whether a special register is one of the cluster or of the grid.
func aboutCluster(base string) bool {
	return base == "%ctaid" || base == "%nctaid" || strings.Contains(base, "cluster")
}
