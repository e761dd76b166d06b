package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// clusterSpecial returns the intrinsic for a special register about the cluster, as an int.
func clusterSpecial(op ir.Op) intrinsic {
	return func(l *lowerer, _ *ssa.Call) *ir.Value { return l.emit(ir.OpZExt, ir.I64, l.emit(op, ir.I32)) }
}

// clusterSize lowers Thread.ClusterSize.
func clusterSize(l *lowerer, _ *ssa.Call) *ir.Value { return l.clusterSize() }

// clusterSize returns the number of blocks of the cluster, an i64.
func (l *lowerer) clusterSize() *ir.Value {
	if l.b.cluster > 0 {
		return l.int64(int64(l.b.cluster))
	}
	return l.emit(ir.OpZExt, ir.I64, l.emit(ir.OpClusterSize, ir.I32))
}

// syncCluster lowers the barrier of a cluster, or one of its halves.
func syncCluster(half int64) intrinsic {
	return func(l *lowerer, _ *ssa.Call) *ir.Value { return l.emitImm(ir.OpClusterBarrier, ir.Void, half) }
}

func peer(l *lowerer, v *ssa.Call) *ir.Value {
	p := l.sharedAddress(v, v.Call.Args[1])
	return l.emit(ir.OpPeer, ir.Ptr, p, l.peerRank(v.Call.Args[2]))
}

// peerSlice lowers gpu.PeerSlice. A slice without elements leads nowhere, whoever has it.
func peerSlice(l *lowerer, v *ssa.Call) *ir.Value {
	s := l.value(v.Call.Args[1])
	p := l.part(s, 0)
	l.needShared(v, p)
	return l.emit(ir.OpStruct, ir.Slice, l.emit(ir.OpPeer, ir.Ptr, p, l.peerRank(v.Call.Args[2])), l.part(s, 1), l.part(s, 2))
}

// send lowers Barrier.Send.
func send(l *lowerer, v *ssa.Call) *ir.Value {
	args := v.Call.Args
	bar, to := l.sharedAddress(v, args[0]), l.sharedAddress(v, args[2])
	return l.emit(ir.OpMBarrierSend, ir.Void, bar, to, l.value(args[3]), l.peerRank(args[4]))
}

// peerRank returns the number of a block of the cluster.
func (l *lowerer) peerRank(number ssa.Value) *ir.Value {
	rank, size := l.value(number), l.clusterSize()
	if !l.b.unchecked {
		site := &ir.Site{Format: "gpu.Peer: block %d of a cluster of %d", Args: []dtype.Type{dtype.Int64, dtype.Int64}}
		l.emitAux(ir.OpCheck, ir.Void, site, l.emit(ir.OpULt, ir.I1, rank, size), rank, size)
	}
	return l.emit(ir.OpTrunc, ir.I32, rank)
}

// arriveAt lowers Barrier.ArriveAt.
func arriveAt(l *lowerer, v *ssa.Call) *ir.Value {
	p := l.sharedAddress(v, v.Call.Args[0])
	return l.emit(ir.OpMBarrierArriveAt, ir.Void, p, l.peerRank(v.Call.Args[2]))
}
