package ptx

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// target is a compute capability and a version of the ISA.
type target struct {
	capability driver.Capability
	version    string
}

// targets are the compute capabilities that code is emitted for, and the lowest versions of
// the ISA that have them and what is emitted for each. The first has atomics and fences with a scope,
// and threads of a warp that go their own ways. Those above 8.0 are for code that asks for them.
var targets = [...]target{
	{driver.Capability{Major: 7, Minor: 0}, "6.0"},
	{driver.Capability{Major: 7, Minor: 5}, "7.0"},
	{driver.Capability{Major: 8, Minor: 0}, "7.0"},
	{driver.Capability{Major: 8, Minor: 6}, "7.1"},
	{driver.Capability{Major: 8, Minor: 7}, "7.4"},
	{driver.Capability{Major: 8, Minor: 9}, "7.8"},
	{driver.Capability{Major: 9, Minor: 0}, "8.0"},
	{driver.Capability{Major: 10, Minor: 0}, "8.6"},
	{driver.Capability{Major: 10, Minor: 3}, "8.8"},
	{driver.Capability{Major: 12, Minor: 0}, "8.7"},
	{driver.Capability{Major: 12, Minor: 1}, "8.8"},
}

// Known reports whether PTX has a target for a compute capability and, if exact is set, for that
// capability only (PTX ISA, .target: from sm_90a on).
func Known(c driver.Capability, exact bool) bool {
	return (!exact || c.Major >= 9) && slices.ContainsFunc(targets[:], func(t target) bool { return t.capability == c })
}

// better has the operations for which there are other instructions from a capability on.
var better = map[ir.Op]driver.Capability{
	ir.OpFToBF16:    {Major: 8, Minor: 0},
	ir.OpCopyAsync:  {Major: 8, Minor: 0},
	ir.OpWarpReduce: {Major: 8, Minor: 0},
	ir.OpFMin:       {Major: 8, Minor: 0}, // of float32
	ir.OpFMax:       {Major: 8, Minor: 0},

	ir.OpAwaitPrevious: {Major: 9, Minor: 0}, // before, kernels run one after the other
	ir.OpStartNext:     {Major: 9, Minor: 0},
}

// needs has the operations that there are only from a capability on.
var needs = map[ir.Op]driver.Capability{
	ir.OpLoadMatrix: {Major: 7, Minor: 5},
	ir.OpApproxTanh: {Major: 7, Minor: 5},
	ir.OpMMA:        {Major: 8, Minor: 0},
	ir.OpFetchAsync: {Major: 8, Minor: 0},

	ir.OpClusterid:        {Major: 9, Minor: 0},
	ir.OpNClusterCtaid:    {Major: 9, Minor: 0},
	ir.OpClusterCtaid:     {Major: 9, Minor: 0},
	ir.OpClusterRank:      {Major: 9, Minor: 0},
	ir.OpClusterSize:      {Major: 9, Minor: 0},
	ir.OpClusterBarrier:   {Major: 9, Minor: 0},
	ir.OpPeer:             {Major: 9, Minor: 0},
	ir.OpStoreMatrix:      {Major: 9, Minor: 0},
	ir.OpMBarrierInit:     {Major: 9, Minor: 0}, // those without try_wait, which sm_80 has, are of no use here
	ir.OpMBarrierArrive:   {Major: 9, Minor: 0},
	ir.OpMBarrierArriveAt: {Major: 9, Minor: 0},
	ir.OpMBarrierTest:     {Major: 9, Minor: 0},
	ir.OpMBarrierWait:     {Major: 9, Minor: 0},
	ir.OpMBarrierSend:     {Major: 9, Minor: 0},
	ir.OpTensorMap:        {Major: 9, Minor: 0},
	ir.OpTileFetch:        {Major: 9, Minor: 0},
	ir.OpTileMulticast:    {Major: 9, Minor: 0},
	ir.OpTileStore:        {Major: 9, Minor: 0},
	ir.OpTileCommit:       {Major: 9, Minor: 0},
	ir.OpBulkFetch:        {Major: 9, Minor: 0},
	ir.OpBulkStore:        {Major: 9, Minor: 0},
	ir.OpTileWait:         {Major: 9, Minor: 0},
	ir.OpAsyncFence:       {Major: 9, Minor: 0},
	ir.OpWGMMA:            {Major: 9, Minor: 0},
	ir.OpWGMMATiles:       {Major: 9, Minor: 0},
	ir.OpWGMMAFence:       {Major: 9, Minor: 0},
	ir.OpWGMMACommit:      {Major: 9, Minor: 0},
	ir.OpWGMMAWait:        {Major: 9, Minor: 0},
	ir.OpSetMaxNReg:       {Major: 9, Minor: 0},
}

// Exact reports whether f contains instructions that only one architecture has (PTX ISA, .target:
// sm_90a).
func Exact(f *ir.Func) bool {
	return uses(f, func(op ir.Op) bool { return op >= ir.OpWGMMA && op <= ir.OpSetMaxNReg })
}

// Targets returns the compute capabilities that f should be compiled for: first the lowest that has
// all its operations, then those for which there is better code.
func Targets(f *ir.Func) []driver.Capability {
	least, wanted := targets[0].capability, map[driver.Capability]bool{}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if c, ok := needs[v.Op]; ok && atLeast(c, least) {
				least = c
			}
			if c, ok := better[v.Op]; ok && v.Type.Kind != ir.KindF64 {
				wanted[c] = true
			}
		}
	}
	list := []driver.Capability{least}
	for _, t := range targets {
		if wanted[t.capability] && !atLeast(least, t.capability) {
			list = append(list, t.capability)
		}
	}
	return list
}

func atLeast(c, d driver.Capability) bool {
	return c.Major > d.Major || c.Major == d.Major && c.Minor >= d.Minor
}

// header returns the first lines of a module. 64-bit addresses are the only ones that drivers
// still take.
func header(c driver.Capability, exact bool, f *ir.Func) string {
	suffix := ""
	if exact {
		suffix = "a"
	}
	for _, t := range targets {
		if t.capability == c {
			if t.version == "6.0" && uses(f, func(op ir.Op) bool { return op == ir.OpSleep }) {
				t.version = "6.3" // ISA, nanosleep
			}
			if t.version == "8.0" && uses(f, func(op ir.Op) bool { return op == ir.OpMBarrierSend }) {
				t.version = "8.1" // ISA, st.async
			}
			return fmt.Sprintf(".version %s\n.target sm_%d%d%s\n.address_size 64\n", t.version, c.Major, c.Minor, suffix)
		}
	}
	panic(fmt.Sprintf("BUG: ptx: no target %v", c))
}
