package ir

// flags of an operation.
type flags uint8

const (
	pure        flags = 1 << iota
	commutative       // with two arguments
	reads
	writes
	effect
	terminator
	convergent // threads wait for each other; see Op.Convergent
	lanes      // after its arguments, the value may have one more: see Value.Lanes
)

// attr describes what a value of the operation carries besides arguments.
type attr uint8

const (
	attrNone   attr = iota
	attrConst       // Imm: the bits, extended by sign
	attrImm         // Imm: what the comment in the table says
	attrType        // Aux: *Type
	attrVar         // Aux: *Variable
	attrFunc        // Aux: *Func
	attrSite        // Aux: *Site
	attrMemory      // Imm: order and scope, see Memory; in the text nothing for 0
)

// row describes an operation: nargs is -1 where the number of arguments varies; rule says
// what the types must be (see rules.go).
type row struct {
	name  string
	nargs int
	attr  attr
	flags flags
	rule  rule
}

var ops = [numOps]row{
	OpInvalid: {"invalid", 0, attrNone, 0, never},

	OpParam:  {"param", 0, attrImm, pure, any1},      // parameter Imm of a function; in a kernel, at byte Imm of the parameter block
	OpConst:  {"const", 0, attrConst, pure, scalar},  // a number; for a pointer, nil only
	OpZero:   {"zero", 0, attrNone, pure, aggregate}, // the zero value of a struct or array
	OpPhi:    {"phi", -1, attrNone, 0, phi},          // argument i where the block is entered from predecessor i
	OpSelect: {"select", 3, attrNone, pure, selects}, // arg0 ? arg1 : arg2

	OpAdd:    {"add", 2, attrNone, pure | commutative, intBinary}, // wraps, as the next two
	OpSub:    {"sub", 2, attrNone, pure, intBinary},
	OpMul:    {"mul", 2, attrNone, pure | commutative, intBinary},
	OpSDiv:   {"sdiv", 2, attrNone, pure, intBinary}, // truncates; the smallest number by -1 wraps; by 0 is arbitrary but harmless
	OpUDiv:   {"udiv", 2, attrNone, pure, intBinary},
	OpSRem:   {"srem", 2, attrNone, pure, intBinary}, // has the dividend's sign
	OpURem:   {"urem", 2, attrNone, pure, intBinary},
	OpSMulHi: {"smulhi", 2, attrNone, pure | commutative, intBinary}, // upper half of the product
	OpUMulHi: {"umulhi", 2, attrNone, pure | commutative, intBinary},
	OpAnd:    {"and", 2, attrNone, pure | commutative, intBinary},
	OpOr:     {"or", 2, attrNone, pure | commutative, intBinary},
	OpXor:    {"xor", 2, attrNone, pure | commutative, intBinary},
	OpShl:    {"shl", 2, attrNone, pure, shift}, // by an unsigned i32; by the width or more: 0
	OpLShr:   {"lshr", 2, attrNone, pure, shift},
	OpAShr:   {"ashr", 2, attrNone, pure, shift},    // by the width or more: all bits the sign
	OpPopc:   {"popc", 1, attrNone, pure, intUnary}, // number of ones
	OpClz:    {"clz", 1, attrNone, pure, intUnary},  // leading zeros; the width for 0
	OpBrev:   {"brev", 1, attrNone, pure, intUnary}, // bits reversed

	OpEq:  {"eq", 2, attrNone, pure | commutative, intCompare}, // integers or pointers
	OpNe:  {"ne", 2, attrNone, pure | commutative, intCompare},
	OpSLt: {"slt", 2, attrNone, pure, intCompare},
	OpSLe: {"sle", 2, attrNone, pure, intCompare},
	OpULt: {"ult", 2, attrNone, pure, intCompare},
	OpULe: {"ule", 2, attrNone, pure, intCompare},
	OpFEq: {"feq", 2, attrNone, pure | commutative, floatCompare}, // false with a NaN, as flt and fle
	OpFNe: {"fne", 2, attrNone, pure | commutative, floatCompare}, // true with a NaN
	OpFLt: {"flt", 2, attrNone, pure, floatCompare},
	OpFLe: {"fle", 2, attrNone, pure, floatCompare},

	OpFAdd:      {"fadd", 2, attrNone, pure | commutative, floatBinary}, // rounds to nearest even, as all float arithmetic
	OpFSub:      {"fsub", 2, attrNone, pure, floatBinary},
	OpFMul:      {"fmul", 2, attrImm, pure | commutative, floatBinary}, // Imm 1: the source rounds it explicitly, it must not become part of an fma
	OpFDiv:      {"fdiv", 2, attrImm, pure, floatBinary},               // Imm 1, of f64: the divisor is between 1 and 4, and a quotient that is used has a dividend between 2^-900 and 2^900
	OpFNeg:      {"fneg", 1, attrNone, pure, floatUnary},               // flips the sign, of NaN too
	OpFma:       {"fma", 3, attrNone, pure, floatTernary},              // arg0*arg1+arg2, rounded once
	OpFSqrt:     {"fsqrt", 1, attrNone, pure, floatUnary},
	OpFAbs:      {"fabs", 1, attrNone, pure, floatUnary},
	OpFFloor:    {"ffloor", 1, attrNone, pure, floatUnary},
	OpFCeil:     {"fceil", 1, attrNone, pure, floatUnary},
	OpFTrunc:    {"ftrunc", 1, attrNone, pure, floatUnary},              // to an integral value, towards zero
	OpFRint:     {"frint", 1, attrNone, pure, floatUnary},               // to an integral value, ties to even
	OpFMin:      {"fmin", 2, attrNone, pure | commutative, floatBinary}, // NaN with a NaN; -0 is less than 0
	OpFMax:      {"fmax", 2, attrNone, pure | commutative, floatBinary},
	OpFCopysign: {"fcopysign", 2, attrNone, pure, floatBinary}, // arg0 with arg1's sign

	OpApproxRcp:   {"approxrcp", 1, attrImm, pure, approximate}, // within what the ISA of PTX allows, as the next eight; not the same on every machine. Imm 1: subnormal arguments and results may be zero
	OpApproxSqrt:  {"approxsqrt", 1, attrNone, pure, approximate},
	OpApproxRsqrt: {"approxrsqrt", 1, attrImm, pure, approximate}, // Imm as above
	OpApproxExp2:  {"approxexp2", 1, attrNone, pure, approximate},
	OpApproxLog2:  {"approxlog2", 1, attrNone, pure, approximate},
	OpApproxSin:   {"approxsin", 1, attrNone, pure, approximate},
	OpApproxCos:   {"approxcos", 1, attrNone, pure, approximate},
	OpApproxTanh:  {"approxtanh", 1, attrNone, pure, approximate},
	OpApproxDiv:   {"approxdiv", 2, attrNone, pure, approximate},

	OpTrunc:   {"trunc", 1, attrNone, pure, narrower},
	OpSExt:    {"sext", 1, attrNone, pure, wider},
	OpZExt:    {"zext", 1, attrNone, pure, wider},
	OpSToF:    {"stof", 1, attrNone, pure, intToFloat},
	OpUToF:    {"utof", 1, attrNone, pure, intToFloat},
	OpFToS:    {"ftos", 1, attrNone, pure, floatToInt}, // towards zero; out of range: the nearest number; NaN: 0
	OpFToU:    {"ftou", 1, attrNone, pure, floatToInt},
	OpFExt:    {"fext", 1, attrNone, pure, wider},
	OpFRound:  {"fround", 1, attrNone, pure, narrower}, // to the narrower float type
	OpBitcast: {"bitcast", 1, attrNone, pure, sameBits},
	OpF16ToF:  {"f16tof", 1, attrNone, pure, halfToFloat}, // of the bits of an F16; a NaN becomes any NaN
	OpFToF16:  {"ftof16", 1, attrNone, pure, floatToHalf}, // to nearest even; NaN: 0x7fff, as the last
	OpBF16ToF: {"bf16tof", 1, attrNone, pure, halfToFloat},
	OpFToBF16: {"ftobf16", 1, attrNone, pure, floatToHalf},

	OpStruct:  {"struct", -1, attrNone, pure, parts},  // of its fields or elements
	OpExtract: {"extract", 1, attrImm, pure, extract}, // field or element Imm of arg0
	OpInsert:  {"insert", 2, attrImm, pure, insert},   // arg0 with field or element Imm replaced by arg1

	OpAlloca: {"alloca", 0, attrType, effect, pointer}, // the address of a variable of the thread, zero when the value is reached
	OpVar:    {"var", 0, attrVar, pure, pointer},       // the address of a shared or constant variable
	OpOffset: {"offset", 1, attrImm, pure, offset},     // arg0 + Imm bytes
	OpIndex:  {"index", 2, attrImm, pure, index},       // arg0 + arg1*Imm bytes; arg1 is a signed i64 or i32
	OpLoad:   {"load", 1, attrNone, reads, load},
	OpStore:  {"store", 2, attrNone, writes, store}, // *arg0 = arg1

	OpAtomicAdd:   {"atomicadd", 2, attrMemory, reads | writes, atomicAdd}, // *arg0 += arg1; returns what was there, as the next nine
	OpAtomicSMin:  {"atomicsmin", 2, attrMemory, reads | writes, atomicInt},
	OpAtomicUMin:  {"atomicumin", 2, attrMemory, reads | writes, atomicInt},
	OpAtomicSMax:  {"atomicsmax", 2, attrMemory, reads | writes, atomicInt},
	OpAtomicUMax:  {"atomicumax", 2, attrMemory, reads | writes, atomicInt},
	OpAtomicAnd:   {"atomicand", 2, attrMemory, reads | writes, atomicInt},
	OpAtomicOr:    {"atomicor", 2, attrMemory, reads | writes, atomicInt},
	OpAtomicXor:   {"atomicxor", 2, attrMemory, reads | writes, atomicInt},
	OpAtomicXchg:  {"atomicxchg", 2, attrMemory, reads | writes, atomicInt},    // *arg0 = arg1
	OpAtomicCAS:   {"atomiccas", 3, attrMemory, reads | writes, atomicInt},     // *arg0 = arg2 where it was arg1
	OpAtomicLoad:  {"atomicload", 1, attrMemory, reads | writes, atomicLoad},   // writes: what acquires lets other threads' writes be seen
	OpAtomicStore: {"atomicstore", 2, attrMemory, reads | writes, atomicStore}, // *arg0 = arg1
	OpFence:       {"fence", 0, attrMemory, reads | writes | effect, fence},
	OpCopyAsync:   {"copyasync", 2, attrImm, reads | writes, copyAsync},        // Imm bytes (4, 8 or 16) from arg1 to arg0, both aligned to that, at some time up to the copywait for it
	OpFetchAsync:  {"fetchasync", 3, attrImm, reads | writes, fetchAsync},      // likewise, but of the Imm bytes only arg2 from there, 0 or Imm; the others are zero
	OpCopyCommit:  {"copycommit", 0, attrNone, writes | effect, nothing},       // makes a group of the thread's copies since the last one
	OpCopyWait:    {"copywait", 0, attrImm, reads | writes | effect, copyWait}, // until all but the thread's last Imm groups are done

	OpTid:           {"tid", 0, attrImm, pure, special}, // index of the thread in the block along axis Imm
	OpNTid:          {"ntid", 0, attrImm, pure, special},
	OpCtaid:         {"ctaid", 0, attrImm, pure, special},
	OpNCtaid:        {"nctaid", 0, attrImm, pure, special},
	OpClusterid:     {"clusterid", 0, attrImm, pure, special},     // index of the cluster in the grid
	OpNClusterCtaid: {"nclusterctaid", 0, attrImm, pure, special}, // blocks of a cluster
	OpClusterCtaid:  {"clusterctaid", 0, attrImm, pure, special},  // index of the block in its cluster
	OpClusterRank:   {"clusterrank", 0, attrNone, pure, word},     // the same, x counting fastest
	OpClusterSize:   {"clustersize", 0, attrNone, pure, word},     // blocks of a cluster, in all
	OpLane:          {"lane", 0, attrNone, pure, word},            // index of the thread in its warp
	OpDynamicBytes:  {"dynamicbytes", 0, attrNone, pure, word},    // of shared memory that the launch adds; a shared variable of size 0 is the address of it
	OpClock:         {"clock", 0, attrImm, 0, clock},              // a time: in cycles (Imm 0), or in nanoseconds and the same for the device (1)

	OpSleep: {"sleep", 1, attrNone, reads | writes | effect, sleep}, // for about arg0 nanoseconds

	OpBarrier:        {"barrier", 0, attrNone, reads | writes | effect | convergent, nothing},              // of the block
	OpBarrierCount:   {"barriercount", 1, attrNone, reads | writes | effect | convergent, barrierCount},    // and for how many threads arg0 holds
	OpBarrierAnd:     {"barrierand", 1, attrNone, reads | writes | effect | convergent, vote},              // and whether arg0 holds for all threads
	OpBarrierOr:      {"barrieror", 1, attrNone, reads | writes | effect | convergent, vote},               // and whether it holds for any
	OpGridBarrier:    {"gridbarrier", 0, attrNone, reads | writes | effect | convergent, nothing},          // of all blocks, at least one thread of each
	OpAwaitPrevious:  {"awaitprevious", 0, attrNone, reads | writes | effect, nothing},                     // until the kernels before this one in the stream are done
	OpStartNext:      {"startnext", 0, attrNone, reads | writes | effect, nothing},                         // the next kernel in the stream may start once all blocks have come here or are done
	OpClusterBarrier: {"clusterbarrier", 0, attrImm, reads | writes | effect | convergent, clusterBarrier}, // of the cluster's threads; Imm 1: arrives only, 2: only waits for the last arrival
	OpPeer:           {"peer", 2, attrNone, pure, peer},                                                    // the address that arg0, in shared memory, has in the block of rank arg1 of the cluster
	OpWarpBarrier:    {"warpbarrier", 0, attrNone, reads | writes | effect | convergent | lanes, nothing},
	OpBallot:         {"ballot", 1, attrNone, effect | convergent | lanes, ballot},       // the set of the warp's threads for which arg0 holds
	OpMatch:          {"match", 1, attrNone, effect | convergent | lanes, match},         // the set of the warp's threads that have the same arg0
	OpShuffle:        {"shuffle", 2, attrNone, effect | convergent | lanes, shuffle},     // arg0 of the warp's thread at lane arg1; as in the next three, its lower 5 bits
	OpShuffleUp:      {"shuffleup", 2, attrNone, effect | convergent | lanes, shuffle},   // at the own lane - arg1; arg0 where there is none
	OpShuffleDown:    {"shuffledown", 2, attrNone, effect | convergent | lanes, shuffle}, // at the own lane + arg1; arg0 where there is none
	OpShuffleXor:     {"shufflexor", 2, attrNone, effect | convergent | lanes, shuffle},  // at the own lane ^ arg1

	OpWarpReduce: {"warpreduce", 1, attrImm, effect | convergent | lanes, warpReduce}, // arg0 of all the warp's threads, combined by the Reduction Imm

	OpLoadMatrix: {"loadmatrix", 1, attrImm, reads | effect | convergent, loadMatrix}, // 1, 2 or 4 tiles of 8x8 elements of 16 bits, whose rows the lanes' arg0 point to; Imm 1: each transposed
	OpMMA:        {"mma", 10, attrImm, effect | convergent, mma},                      // of 16x16 by 16x8: args 0 to 3 by args 4 and 5, plus args 6 to 9; Imm: a Format

	OpStoreMatrix: {"storematrix", 5, attrNone, writes | effect | convergent, storeMatrix}, // four tiles, args 1 to 4, to the rows that the lanes' arg0 point to

	OpMBarrierInit:     {"mbarrierinit", 2, attrNone, reads | writes | effect, mbarrier},              // the 8 bytes at arg0 become a barrier for arg1 arrivals in each phase
	OpMBarrierArrive:   {"mbarrierarrive", 2, attrNone, reads | writes | effect, mbarrier},            // arrives, and makes the phase wait for arg1 bytes more
	OpMBarrierArriveAt: {"mbarrierarriveat", 2, attrNone, reads | writes | effect, mbarrier},          // arrives at the barrier that corresponds to arg0 in the block of rank arg1 of the cluster
	OpMBarrierTest:     {"mbarriertest", 2, attrNone, reads | writes | effect, mbarrierTest},          // whether the phase of parity arg1 is over
	OpMBarrierWait:     {"mbarrierwait", 2, attrNone, reads | writes | effect, mbarrier},              // until it is over
	OpMBarrierSend:     {"mbarriersend", 4, attrNone, reads | writes | effect, mbarrierSend},          // stores arg2 at what arg1 is in block arg3 of the cluster, whose 8 bytes what arg0 is there counts
	OpTensorMap:        {"tensormap", 0, attrImm, pure, pointer},                                      // the address of the tensor map at byte Imm of the parameter block
	OpTileFetch:        {"tilefetch", 6, attrNone, reads | writes | effect, tileFetch},                // begins to copy the tile at (arg3, arg4, arg5) of map arg1 to arg0, whose bytes barrier arg2 counts
	OpTileMulticast:    {"tilemulticast", 7, attrNone, reads | writes | effect, tileFetch},            // likewise, to the blocks of the cluster whose ranks are the bits of arg6
	OpTileStore:        {"tilestore", 5, attrNone, reads | writes | effect, tileStore},                // begins to copy arg0 to the tile at (arg2, arg3, arg4) of map arg1
	OpBulkFetch:        {"bulkfetch", 4, attrNone, reads | writes | effect, bulkFetch},                // begins to copy arg2 bytes from arg1 to arg0, which barrier arg3 counts; all multiples of 16
	OpBulkStore:        {"bulkstore", 3, attrNone, reads | writes | effect, bulkStore},                // begins to copy arg2 bytes from arg0, in shared memory, to arg1; in a group of tile stores
	OpTileCommit:       {"tilecommit", 0, attrNone, reads | writes | effect, nothing},                 // makes a group of the thread's tile stores since the last one
	OpTileWait:         {"tilewait", 0, attrImm, reads | writes | effect, tileWait},                   // until all but the thread's last Imm&7 groups are done; with 8, until they have been read
	OpAsyncFence:       {"asyncfence", 0, attrNone, reads | writes | effect, nothing},                 // the thread's accesses to shared memory come before later ones of tile copies and products
	OpWGMMA:            {"wgmma", -1, attrImm, reads | writes | effect | convergent, wgmma},           // starts to add the product of the panels at arg0 and arg1 to the accumulator, the other args; without those, the product is the result; Imm: see Product
	OpWGMMATiles:       {"wgmmatiles", -1, attrImm, reads | writes | effect | convergent, wgmmaTiles}, // likewise of the four tiles args 1 to 4 and the panels at arg0; a product reads its tiles until it is complete
	OpWGMMAFence:       {"wgmmafence", 0, attrNone, reads | writes | effect | convergent, nothing},
	OpWGMMACommit:      {"wgmmacommit", 0, attrNone, reads | writes | effect | convergent, nothing},
	OpWGMMAWait:        {"wgmmawait", -1, attrImm, reads | writes | effect | convergent, wgmmaWait},  // until all but the warp's last Imm groups of products are done; the accumulator, its args, then counts
	OpSetMaxNReg:       {"setmaxnreg", 0, attrImm, reads | writes | effect | convergent, setMaxNReg}, // the warp has Imm registers a thread from here on; -Imm: it gives all others up

	OpCheck:  {"check", -1, attrSite, effect, check}, // arg0 must be true; where it is not, the thread faults with the other arguments
	OpPrint:  {"print", -1, attrSite, effect, anyArgs},
	OpUnroll: {"unroll", 0, attrImm, effect, unroll}, // the iterations of the innermost loop around it: Imm of them follow each other; no effect when it runs
	OpCall:   {"call", -1, attrFunc, reads | writes | effect, call},

	OpJump:  {"jump", 0, attrNone, terminator, nothing},   // to Succs[0]
	OpIf:    {"if", 1, attrNone, terminator, condition},   // to Succs[0] where arg0 holds, else to Succs[1]
	OpRet:   {"ret", -1, attrNone, terminator, ret},       // with the function's result, where it has one
	OpFault: {"fault", -1, attrSite, terminator, anyArgs}, // the thread faults; no successor
}
