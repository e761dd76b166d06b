package ir

// Op is an operation. The table ops in optable.go contains all properties of each operation.
type Op uint8

// The operations, in the order of the table.
const (
	OpInvalid Op = iota

	OpParam
	OpConst
	OpZero
	OpPhi
	OpSelect

	OpAdd
	OpSub
	OpMul
	OpSDiv
	OpUDiv
	OpSRem
	OpURem
	OpSMulHi
	OpUMulHi
	OpAnd
	OpOr
	OpXor
	OpShl
	OpLShr
	OpAShr
	OpPopc
	OpClz
	OpBrev

	OpEq
	OpNe
	OpSLt
	OpSLe
	OpULt
	OpULe
	OpFEq
	OpFNe
	OpFLt
	OpFLe

	OpFAdd
	OpFSub
	OpFMul
	OpFDiv
	OpFNeg
	OpFma
	OpFSqrt
	OpFAbs
	OpFFloor
	OpFCeil
	OpFTrunc
	OpFRint
	OpFMin
	OpFMax
	OpFCopysign
	OpApproxRcp
	OpApproxSqrt
	OpApproxRsqrt
	OpApproxExp2
	OpApproxLog2
	OpApproxSin
	OpApproxCos
	OpApproxTanh
	OpApproxDiv

	OpTrunc
	OpSExt
	OpZExt
	OpSToF
	OpUToF
	OpFToS
	OpFToU
	OpFExt
	OpFRound
	OpBitcast
	OpF16ToF
	OpFToF16
	OpBF16ToF
	OpFToBF16

	OpStruct
	OpExtract
	OpInsert

	OpAlloca
	OpVar
	OpOffset
	OpIndex
	OpLoad
	OpStore
	OpAtomicAdd
	OpAtomicSMin
	OpAtomicUMin
	OpAtomicSMax
	OpAtomicUMax
	OpAtomicAnd
	OpAtomicOr
	OpAtomicXor
	OpAtomicXchg
	OpAtomicCAS
	OpAtomicLoad
	OpAtomicStore
	OpFence
	OpCopyAsync
	OpFetchAsync
	OpCopyCommit
	OpCopyWait

	OpTid
	OpNTid
	OpCtaid
	OpNCtaid
	OpClusterid
	OpNClusterCtaid
	OpClusterCtaid
	OpClusterRank
	OpClusterSize
	OpLane
	OpClock
	OpSleep
	OpDynamicBytes

	OpBarrier
	OpBarrierCount
	OpBarrierAnd
	OpBarrierOr
	OpGridBarrier
	OpAwaitPrevious
	OpStartNext
	OpClusterBarrier
	OpPeer
	OpWarpBarrier
	OpBallot
	OpMatch
	OpShuffle
	OpShuffleUp
	OpShuffleDown
	OpShuffleXor
	OpWarpReduce

	OpLoadMatrix
	OpMMA
	OpStoreMatrix

	OpMBarrierInit
	OpMBarrierArrive
	OpMBarrierArriveAt
	OpMBarrierTest
	OpMBarrierWait
	OpMBarrierSend
	OpTensorMap
	OpTileFetch
	OpTileMulticast
	OpTileStore
	OpBulkFetch
	OpBulkStore
	OpTileCommit
	OpTileWait
	OpAsyncFence
	OpWGMMA
	OpWGMMATiles
	OpWGMMAFence
	OpWGMMACommit
	OpWGMMAWait
	OpSetMaxNReg

	OpCheck
	OpPrint
	OpUnroll
	OpCall

	OpJump
	OpIf
	OpRet
	OpFault

	numOps
)

// String returns the operation's name in the text form.
func (op Op) String() string { return ops[op].name }

// Pure reports whether a value of the operation depends on its arguments alone and
// does nothing else: it may be moved, merged with an equal one, or dropped.
func (op Op) Pure() bool { return ops[op].flags&pure != 0 }

// Commutative reports whether the two arguments may be exchanged.
func (op Op) Commutative() bool { return ops[op].flags&commutative != 0 }

// Terminator reports whether the operation ends a block.
func (op Op) Terminator() bool { return ops[op].flags&terminator != 0 }

// Reads reports whether the operation reads memory that stores change.
func (op Op) Reads() bool { return ops[op].flags&reads != 0 }

// Writes reports whether the operation changes memory, or lets other threads change it.
func (op Op) Writes() bool { return ops[op].flags&writes != 0 }

// Effect reports whether the operation must stay although nothing uses its value.
func (op Op) Effect() bool { return ops[op].flags&(effect|writes|terminator) != 0 }

// Atomic reports whether the operation accesses memory, where its first argument points, as
// one indivisible step.
func (op Op) Atomic() bool { return op >= OpAtomicAdd && op <= OpAtomicStore }

// Convergent reports whether threads wait for each other at the operation: all threads of the block
// or the warp that have not left the kernel must execute it together. No pass may make it depend on
// a branch that could diverge, nor remove such a branch from around it.
func (op Op) Convergent() bool { return ops[op].flags&convergent != 0 }

// Lanes returns the set of the warp's threads that an operation of a warp waits for: bit i is lane i. It returns nil
// if v waits for all threads of the warp, or is another operation.
func (v *Value) Lanes() *Value {
	if row := ops[v.Op]; row.flags&lanes != 0 && len(v.Args) == row.nargs+1 {
		return v.Args[row.nargs]
	}
	return nil
}

// Tuple reports whether a value of the operation is a tuple of numbers in a register each: an array that
// only extract takes apart.
func (op Op) Tuple() bool {
	switch op {
	case OpLoadMatrix, OpMMA, OpWGMMA, OpWGMMATiles, OpWGMMAWait:
		return true
	}
	return false
}

// InShared returns which arguments of the operation are addresses that must lie in shared memory.
func (op Op) InShared() []int {
	switch op {
	case OpLoadMatrix, OpStoreMatrix, OpFetchAsync, OpMBarrierInit, OpMBarrierArrive, OpMBarrierArriveAt, OpMBarrierTest, OpMBarrierWait:
		return []int{0}
	case OpPeer:
		return []int{0}
	case OpMBarrierSend:
		return []int{0, 1}
	case OpBulkFetch:
		return []int{0, 3}
	case OpBulkStore:
		return []int{0}
	case OpTileFetch, OpTileMulticast:
		return []int{0, 2}
	case OpTileStore:
		return []int{0}
	case OpWGMMA:
		return []int{0, 1}
	case OpWGMMATiles:
		return []int{0}
	}
	return nil
}

// InGlobal returns which argument of the operation is an address that must lie in global memory; 0 for none.
func (op Op) InGlobal() int {
	if op == OpBulkFetch || op == OpBulkStore {
		return 1
	}
	return 0
}

// Ops returns all operations.
func Ops() []Op {
	var all []Op
	for op := OpInvalid + 1; op < numOps; op++ {
		all = append(all, op)
	}
	return all
}

// lookupOp finds an operation by its name in the text form.
func lookupOp(name string) (Op, bool) {
	for op := OpInvalid + 1; op < numOps; op++ {
		if ops[op].name == name {
			return op, true
		}
	}
	return OpInvalid, false
}
