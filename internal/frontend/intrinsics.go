package frontend

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// intrinsic lowers a call of a function that is replaced by operations.
type intrinsic func(l *lowerer, v *ssa.Call) *ir.Value

const (
	thread        = "(" + gpuPath + ".Thread)."
	onBarrierName = "(*" + gpuPath + ".Barrier)."
)

// intrinsics has, by full name, all functions whose Go body is not looked at.
var intrinsics = map[string]intrinsic{
	thread + "ThreadX":   special(ir.OpTid, 0),
	thread + "ThreadY":   special(ir.OpTid, 1),
	thread + "ThreadZ":   special(ir.OpTid, 2),
	thread + "BlockX":    special(ir.OpCtaid, 0),
	thread + "BlockY":    special(ir.OpCtaid, 1),
	thread + "BlockZ":    special(ir.OpCtaid, 2),
	thread + "BlockDimX": special(ir.OpNTid, 0),
	thread + "BlockDimY": special(ir.OpNTid, 1),
	thread + "BlockDimZ": special(ir.OpNTid, 2),
	thread + "GridDimX":  special(ir.OpNCtaid, 0),
	thread + "GridDimY":  special(ir.OpNCtaid, 1),
	thread + "GridDimZ":  special(ir.OpNCtaid, 2),
	thread + "GlobalX":   globalIndex(0),
	thread + "GlobalY":   globalIndex(1),
	thread + "GlobalZ":   globalIndex(2),
	thread + "Sync":      barrier,
	thread + "SyncCount": syncWith(ir.OpBarrierCount, ir.I32),
	thread + "SyncAnd":   syncWith(ir.OpBarrierAnd, ir.I1),
	thread + "SyncOr":    syncWith(ir.OpBarrierOr, ir.I1),
	thread + "SyncWarp":  warpBarrier,
	thread + "SyncGrid":  gridBarrier,
	thread + "Lane":      lane,

	thread + "AwaitPrevious": noArguments(ir.OpAwaitPrevious),
	thread + "StartNext":     noArguments(ir.OpStartNext),

	thread + "ClusterX":      special(ir.OpClusterid, 0),
	thread + "ClusterY":      special(ir.OpClusterid, 1),
	thread + "ClusterZ":      special(ir.OpClusterid, 2),
	thread + "ClusterDimX":   special(ir.OpNClusterCtaid, 0),
	thread + "ClusterDimY":   special(ir.OpNClusterCtaid, 1),
	thread + "ClusterDimZ":   special(ir.OpNClusterCtaid, 2),
	thread + "ClusterBlockX": special(ir.OpClusterCtaid, 0),
	thread + "ClusterBlockY": special(ir.OpClusterCtaid, 1),
	thread + "ClusterBlockZ": special(ir.OpClusterCtaid, 2),
	thread + "ClusterRank":   clusterSpecial(ir.OpClusterRank),
	thread + "ClusterSize":   clusterSize,
	thread + "SyncCluster":   syncCluster(0),
	thread + "ArriveCluster": syncCluster(1),
	thread + "WaitCluster":   syncCluster(2),
	gpuPath + ".Peer":        peer,
	gpuPath + ".PeerSlice":   peerSlice,
	thread + "Warp":          warpIndex,

	gpuPath + ".Ballot":      ballot,
	gpuPath + ".Any":         anyOf,
	gpuPath + ".All":         allOf,
	gpuPath + ".Elect":       elect,
	gpuPath + ".Match":       match,
	gpuPath + ".Shuffle":     shuffle(ir.OpShuffle),
	gpuPath + ".ShuffleUp":   shuffle(ir.OpShuffleUp),
	gpuPath + ".ShuffleDown": shuffle(ir.OpShuffleDown),
	gpuPath + ".ShuffleXor":  shuffle(ir.OpShuffleXor),

	gpuPath + ".Assert":      assert,
	gpuPath + ".Clock":       clock(0),
	gpuPath + ".GlobalTimer": clock(1),
	gpuPath + ".Sleep":       sleep,
	gpuPath + ".FetchBulk":   fetchBulk,
	gpuPath + ".StoreBulk":   storeBulk,

	gpuPath + ".MMA":             mma,
	gpuPath + ".LoadMatrix":      loadMatrix(1, 0),
	gpuPath + ".LoadMatrix2":     loadMatrix(2, 0),
	gpuPath + ".LoadMatrix4":     loadMatrix(4, 0),
	gpuPath + ".LoadTransposed":  loadMatrix(1, 1),
	gpuPath + ".LoadTransposed2": loadMatrix(2, 1),
	gpuPath + ".LoadTransposed4": loadMatrix(4, 1),
	gpuPath + ".FetchAsync":      fetchAsync,

	onBarrierName + "Init":                        initBarrier,
	onBarrierName + "Arrive":                      onBarrier(ir.OpMBarrierArrive, ir.Void, 0),
	onBarrierName + "ArriveAt":                    arriveAt,
	onBarrierName + "Expect":                      onBarrier(ir.OpMBarrierArrive, ir.Void, 2),
	onBarrierName + "Send":                        send,
	onBarrierName + "Wait":                        onBarrier(ir.OpMBarrierWait, ir.Void, 2),
	onBarrierName + "Done":                        onBarrier(ir.OpMBarrierTest, ir.I1, 2),
	thread + "WarpGroup":                          warpGroup,
	"(" + gpuPath + ".TensorMap[Part]).Fetch":     fetchTile,
	"(" + gpuPath + ".TensorMap[Part]).Multicast": multicastTile,
	"(" + gpuPath + ".TensorMap[Part]).Store":     storeTile,
	thread + "CommitStores":                       noArguments(ir.OpTileCommit),
	thread + "WaitStores":                         groupsLeft(ir.OpTileWait, 0),
	thread + "WaitSources":                        groupsLeft(ir.OpTileWait, 8),
	thread + "FenceAsync":                         noArguments(ir.OpAsyncFence),
	"(*" + gpuPath + ".Panel[T]).At":              panelAt,
	gpuPath + ".MultiplyAsync":                    multiplyAsync,
	gpuPath + ".ProductAsync":                     productAsync,
	gpuPath + ".MultiplyTilesAsync":               multiplyTilesAsync,
	gpuPath + ".AwaitProducts":                    awaitProducts,
	thread + "TakeRegisters":                      registers("TakeRegisters", 1),
	thread + "GiveRegisters":                      registers("GiveRegisters", -1),
	gpuPath + ".StoreMatrix4":                     storeMatrix,
	gpuPath + ".EightAt":                          eightAt,
	thread + "FenceProducts":                      noArguments(ir.OpWGMMAFence),
	thread + "CommitProducts":                     noArguments(ir.OpWGMMACommit),

	sharedName:                 shared,
	gpuPath + ".DynamicShared": dynamicShared,
	printName:                  printf,

	gpuPath + ".AtomicAdd":            update(ir.OpAtomicAdd, ir.OpAtomicAdd),
	gpuPath + ".AtomicSub":            subtract,
	gpuPath + ".AtomicMin":            extremum(ir.OpAtomicSMin, ir.OpAtomicUMin, ir.OpFMin),
	gpuPath + ".AtomicMax":            extremum(ir.OpAtomicSMax, ir.OpAtomicUMax, ir.OpFMax),
	gpuPath + ".AtomicAnd":            update(ir.OpAtomicAnd, ir.OpAtomicAnd),
	gpuPath + ".AtomicOr":             update(ir.OpAtomicOr, ir.OpAtomicOr),
	gpuPath + ".AtomicXor":            update(ir.OpAtomicXor, ir.OpAtomicXor),
	gpuPath + ".AtomicExchange":       exchange,
	gpuPath + ".AtomicCompareAndSwap": compareAndSwap,
	gpuPath + ".AtomicLoad":           atomicLoad,
	gpuPath + ".AtomicStore":          atomicStore,
	gpuPath + ".Fence":                fence,

	gpuPath + ".CopyAsync":  copyAsync,
	thread + "CommitCopies": commitCopies,
	thread + "WaitCopies":   waitCopies,

	"math.Sqrt":            float(ir.OpFSqrt),
	"math.sqrt":            float(ir.OpFSqrt),
	"math.Abs":             float(ir.OpFAbs),
	"math.Floor":           float(ir.OpFFloor),
	"math.Ceil":            float(ir.OpFCeil),
	"math.Trunc":           float(ir.OpFTrunc),
	"math.RoundToEven":     float(ir.OpFRint),
	"math.Copysign":        float(ir.OpFCopysign),
	"math.FMA":             float(ir.OpFma),
	"math.Max":             mathExtreme(ir.OpFMax, infinity),
	"math.Min":             mathExtreme(ir.OpFMin, minusInfinity),
	"math.Float32bits":     reinterpret,
	"math.Float32frombits": reinterpret,
	"math.Float64bits":     reinterpret,
	"math.Float64frombits": reinterpret,

	math32Path + ".Sqrt":        float(ir.OpFSqrt),
	math32Path + ".Abs":         float(ir.OpFAbs),
	math32Path + ".Floor":       float(ir.OpFFloor),
	math32Path + ".Ceil":        float(ir.OpFCeil),
	math32Path + ".Trunc":       float(ir.OpFTrunc),
	math32Path + ".RoundToEven": float(ir.OpFRint),
	math32Path + ".Copysign":    float(ir.OpFCopysign),
	math32Path + ".FMA":         float(ir.OpFma),
	math32Path + ".fma":         float(ir.OpFma),
	math32Path + ".Max":         mathExtreme(ir.OpFMax, infinity),
	math32Path + ".Min":         mathExtreme(ir.OpFMin, minusInfinity),

	"(" + dtypePath + ".F16).Float32":  unaryOp(ir.OpF16ToF),
	dtypePath + ".F16From32":           unaryOp(ir.OpFToF16),
	"(" + dtypePath + ".BF16).Float32": unaryOp(ir.OpBF16ToF),
	dtypePath + ".BF16From32":          unaryOp(ir.OpFToBF16),

	"math/bits.LeadingZeros":    leadingZeros,
	"math/bits.LeadingZeros8":   leadingZeros,
	"math/bits.LeadingZeros16":  leadingZeros,
	"math/bits.LeadingZeros32":  leadingZeros,
	"math/bits.LeadingZeros64":  leadingZeros,
	"math/bits.TrailingZeros":   trailingZeros,
	"math/bits.TrailingZeros8":  trailingZeros,
	"math/bits.TrailingZeros16": trailingZeros,
	"math/bits.TrailingZeros32": trailingZeros,
	"math/bits.TrailingZeros64": trailingZeros,
	"math/bits.Len":             bitLength,
	"math/bits.Len8":            bitLength,
	"math/bits.Len16":           bitLength,
	"math/bits.Len32":           bitLength,
	"math/bits.Len64":           bitLength,
	"math/bits.OnesCount":       counts(ir.OpPopc),
	"math/bits.OnesCount8":      counts(ir.OpPopc),
	"math/bits.OnesCount16":     counts(ir.OpPopc),
	"math/bits.OnesCount32":     counts(ir.OpPopc),
	"math/bits.OnesCount64":     counts(ir.OpPopc),
	"math/bits.Reverse":         unaryOp(ir.OpBrev),
	"math/bits.Reverse8":        unaryOp(ir.OpBrev),
	"math/bits.Reverse16":       unaryOp(ir.OpBrev),
	"math/bits.Reverse32":       unaryOp(ir.OpBrev),
	"math/bits.Reverse64":       unaryOp(ir.OpBrev),
	"math/bits.Mul":             wideProduct,
	"math/bits.Mul64":           wideProduct,
}

// intrinsicOf returns what a call of fn is lowered by, or nil for an ordinary function.
func intrinsicOf(fn *ssa.Function) intrinsic {
	name := fullName(fn)
	if f := intrinsics[name]; f != nil {
		return f
	}
	if f := approximations[name]; f != nil {
		return f
	}
	if name, ok := strings.CutPrefix(name, gpuPath+".WarpReduce"); ok {
		return warpReduce(fn, name)
	}
	if name, ok := strings.CutPrefix(name, "sync/atomic."); ok {
		return syncAtomic(name)
	}
	return nil
}

// Replaces reports whether all calls of the function with the given types.Func.FullName become operations, so that
// its body is not compiled.
func Replaces(fullName string) bool { return intrinsics[fullName] != nil }

// neverNegative reports whether a call of a function in the table returns no negative int.
func neverNegative(c *ssa.CallCommon) bool {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		return b.Name() == "len" || b.Name() == "cap"
	}
	fn := c.StaticCallee()
	if fn == nil || fn.Pkg == nil {
		return false
	}
	switch fn.Pkg.Pkg.Path() {
	case "math/bits":
		_, ok := intrinsics[fullName(fn)]
		return ok
	case gpuPath:
		return fn.Signature.Recv() != nil && isThread(fn.Signature.Recv().Type())
	}
	return false
}

// special returns an index or a size, which the hardware has as 32 bits, as an int.
func special(op ir.Op, axis int64) intrinsic {
	return func(l *lowerer, _ *ssa.Call) *ir.Value { return l.special(op, axis) }
}

func (l *lowerer) special(op ir.Op, axis int64) *ir.Value {
	if n := l.f.Block[axis]; op == ir.OpNTid && n > 0 {
		return l.int64(int64(n))
	}
	return l.emit(ir.OpZExt, ir.I64, l.emitImm(op, ir.I32, axis))
}

// globalIndex computes in 64 bits: a grid may have more than 1<<32 threads.
func globalIndex(axis int64) intrinsic {
	return func(l *lowerer, _ *ssa.Call) *ir.Value {
		start := l.emit(ir.OpMul, ir.I64, l.special(ir.OpCtaid, axis), l.special(ir.OpNTid, axis))
		return l.emit(ir.OpAdd, ir.I64, start, l.special(ir.OpTid, axis))
	}
}

func barrier(l *lowerer, _ *ssa.Call) *ir.Value { return l.emit(ir.OpBarrier, ir.Void) }
