package machine

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

const (
	warpSize = 32
	allLanes = 0xffffffff
)

// row is a register of a warp: a slot for each of its threads. A value stands in the low bits
// of its slot; those above the register's width are zero.
type row = [warpSize]uint64

// kind describes what an instruction does to the flow of control.
type kind uint8

const (
	plain  kind = iota // exec, then the next instruction
	branch             // to target
	indexBranch
	call
	ret
	exit
	trap
	blockBarrier
	warpSync
	phaseWait
	clusterWait
)

// instr is a decoded instruction. Operands are places of rows in a warp's registers: constants
// and special registers have rows too, so that no operand needs a case of its own.
type instr struct {
	kind    kind
	negate  bool // of guard
	fence   bool
	guard   int32 // a predicate, or -1
	target  int32
	a       int32
	b       int32
	c       int32
	d       int32 // destination
	p       int32 // predicate that is written, or -1
	q       int32 // second one, or -1
	exec    func(w *warp, in *instr, mask uint32)
	f1      func(a uint64) uint64
	f2      func(a, b uint64) uint64
	f3      func(a, b, c uint64) uint64
	rel     func(a, b uint64) bool
	all     func(a, b *row) uint32 // rel for all threads at once, or nil
	combine *combination           // of rel's outcome with a predicate
	imm     uint64
	mem     *access
	sync    *syncOp
	bar     *barOp
	pred    *predOp
	list    []int32 // targets of indexBranch
}

// access is what a load, store or atomic does to memory.
type access struct {
	space    ptx.Space
	size     uint64 // of an element
	count    int    // elements: 1, 2 or 4
	total    uint64 // bytes, and their alignment
	part     part
	signed   bool
	mask     uint64   // of the destination register
	rows     [4]int32 // destinations or sources; -1 for a sink
	near     int      // where the block keeps the region that this instruction met last
	write    bool
	reads    bool // and loads as well
	each     bool // thread counts, also where others have the same address: memory of its own, or an order of its own
	strong   bool // may order other accesses
	acquire  bool
	release  bool
	kind     race.Kind
	place    uint32                     // of the instruction
	swap     bool                       // compare and swap
	polls    bool                       // reads what other threads are expected to write
	noResult bool                       // red
	global   func(old, b uint64) uint64 // what an atomic does in global memory, where that differs
}

// position is where an instruction comes from.
type position struct {
	line int
	loc  ptx.Loc
	name string
}

// fill is a row with a value that is the same in all threads of a launch.
type fill struct {
	row   int32
	value uint64
}

// program is a kernel with the functions that it calls, decoded.
type program struct {
	name        string
	code        []instr
	positions   []position // of each instruction
	files       map[int]string
	rows        int      // of a warp, 32 slots each
	widths      []uint64 // of each row: a mask of the bits it has
	preds       int
	consts      []fill
	specials    []specialRow
	nears       int
	paramBytes  int
	shared      int  // bytes of static shared memory
	local       int  // bytes of local memory of a thread
	fineGrained bool // more than barriers of whole blocks may order its threads
	copies      bool // asynchronous ones are made
	proxies     bool // bulk copies or products access shared memory
	reqThreads  [3]int
	maxThreads  [3]int
}
