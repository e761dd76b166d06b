package ptx

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// clusterStep is how often a thread has arrived at the cluster's barrier, and whether it has not waited since.
type clusterStep struct {
	arrivals int
	waits    bool
}

// clusterSteps are the steps before the operations on the cluster's barrier, and the number of arrivals of each thread that does
// not fault. Without an of, threads may arrive with different frequency.
type clusterSteps struct {
	of    map[*ir.Value]clusterStep
	total int
}

// clusterStepsOf follows all paths through f.
func clusterStepsOf(f *ir.Func) (all clusterSteps) {
	all.of = map[*ir.Value]clusterStep{}
	at := map[*ir.Block]clusterStep{f.Blocks[0]: {}}
	total, ends := clusterStep{}, false
	for work := []*ir.Block{f.Blocks[0]}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		step := at[b]
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpClusterBarrier:
				all.of[v] = step
				step = step.after(v)
			case v.Op == ir.OpRet && (step.waits || ends && step != total):
				return clusterSteps{}
			case v.Op == ir.OpRet:
				total, ends = step, true
			}
		}
		for _, next := range b.Succs {
			was, seen := at[next]
			if seen && was != step {
				return clusterSteps{}
			}
			if !seen {
				at[next] = step
				work = append(work, next)
			}
		}
	}
	all.total = total.arrivals
	return all
}

// after returns the step after an operation on the cluster's barrier.
func (s clusterStep) after(v *ir.Value) clusterStep {
	switch {
	case v.Imm == 0:
		return clusterStep{s.arrivals + 1, false}
	case v.Imm == 1 && !s.waits:
		return clusterStep{s.arrivals + 1, true}
	case v.Imm == 2:
		s.waits = false
	}
	return s
}

// arrivals is the register that counts a thread's arrivals.
const arrivals = "%leave5"

// clusterStep selects an operation on the cluster's barrier of a thread whose step is known.
func (s *selector) clusterStep(v *ir.Value, arrive string) {
	text := func(op string) { s.emit(inst{op: op}) }
	from := s.cluster.steps.of[v]
	to := from.after(v)
	if from.waits && v.Imm != 1 {
		text("barrier.cluster.wait")
	}
	if to.arrivals > from.arrivals {
		text(arrive)
		text(fmt.Sprintf("mov.u32 %s, %d", arrivals, to.arrivals))
	}
	if v.Imm == 0 {
		text("barrier.cluster.wait")
	}
	if from.waits != to.waits {
		text(fmt.Sprintf("mov.pred %%arrived, %d", map[bool]int{true: 1}[to.waits]))
	}
}

// leaveInStep is leave for threads that arrive equally often at the cluster's barrier if they do not fault. The last thread of each
// block arrives as often as the others, and then once more: that phase ends when no other threads are left in the cluster.
// No thread releases anything, because barriers count what is sent.
func (b clusterState) leaveInStep(wait string) string {
	return strings.NewReplacer("ARRIVALS", arrivals, "TOTAL", fmt.Sprint(b.steps.total)).Replace(b.leaveUnlessLast() + wait + `$STAY:
	barrier.cluster.arrive.relaxed;
	barrier.cluster.wait;
	add.s32 ARRIVALS, ARRIVALS, 1;
	setp.le.u32 %pleave, ARRIVALS, TOTAL;
	@%pleave bra $STAY;
`)
}

// earlyArrivals returns the arrivals at the cluster's barrier before which the thread has done nothing that others could see, except
// initialise barriers, which is followed by a fence of its own, and arrive at them. Such an arrival needs no release, for which a
// thread waits until its accesses to global memory are complete; that takes long if other threads of the multiprocessor access it.
func earlyArrivals(f *ir.Func) map[*ir.Value]bool {
	acts := func(v *ir.Value) bool {
		switch v.Op {
		case ir.OpMBarrierInit, ir.OpMBarrierArrive:
			return false
		}
		return v.Op.Reads() || v.Op.Writes() || v.Op == ir.OpPrint
	}
	late := map[*ir.Block]bool{}
	var mark func(b *ir.Block)
	mark = func(b *ir.Block) {
		for _, next := range b.Succs {
			if !late[next] {
				late[next] = true
				mark(next)
			}
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if acts(v) {
				mark(b)
				break
			}
		}
	}
	early := map[*ir.Value]bool{}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if late[b] {
				break
			}
			if v.Op == ir.OpClusterBarrier {
				early[v] = v.Imm != 2
			}
			if acts(v) {
				break
			}
		}
	}
	return early
}
