package pass

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// coarseRuns is the number of grids that a coarse kernel is run on.
const coarseRuns = 400

// sameElements runs all threads of small grids of the kernel before, and the threads that do
// the same elements after it was coarsened. It returns the number of grids without a fault.
func sameElements(t *testing.T, before, after *ir.Func) (complete int) {
	t.Helper()
	for seed := range uint64(coarseRuns) {
		r := rand.New(rand.NewPCG(seed, 1))
		block, blocks := 1+r.IntN(5), 1+r.IntN(5)
		if n := before.Block[0]; n > 0 {
			block = n
		}
		want, err := runGrid(before, seed, block, blocks)
		if err != nil {
			continue
		}
		got, err := runGrid(after, seed, block, blocks)
		if err != nil {
			t.Fatalf("%s: seed %d: %v", before.Name, seed, err)
		}
		for _, f := range got.faults {
			if !slices.Contains(want.faults, f) {
				t.Fatalf("%s: seed %d: fault %q, want one of %q", before.Name, seed, f, want.faults)
			}
		}
		if (len(got.faults) > 0) != (len(want.faults) > 0) {
			t.Fatalf("%s: seed %d: faults %q, want one of %q", before.Name, seed, got.faults, want.faults)
		}
		if len(want.faults) > 0 {
			continue
		}
		complete++
		if diff := cmp.Diff(want.memory, got.memory); diff != "" {
			t.Fatalf("%s: seed %d: memory (-want +got)\n%s", before.Name, seed, diff)
		}
	}
	return complete
}

// ran is what the threads of a grid leave: the faults, each with the thread that it is
// about, and the memory.
type ran struct {
	faults []string
	memory string
}

// runGrid launches a one-dimensional grid on arguments that depend on the seed. A coarse kernel
// gets the number of elements as its last parameter, and fewer blocks.
func runGrid(f *ir.Func, seed uint64, block, blocks int) (out ran, err error) {
	m := newMachine(usual)
	m.apart = true // a thread must not store what another one loads
	params := f.Params
	if f.Coarse > 0 {
		params = params[:len(params)-1]
	}
	args := m.arguments(f, params, rand.New(rand.NewPCG(seed, 0)))
	if f.Coarse > 0 {
		args = append(args, datum{bits: uint64(block * blocks)})
		blocks = (blocks + f.Coarse - 1) / f.Coarse
	}
	visible := 0
	for thread := range block * blocks {
		visible = len(m.regions)
		m.steps, m.limit = 0, maxSteps
		m.ids[ir.OpTid], m.ids[ir.OpCtaid] = [3]uint32{uint32(thread % block)}, [3]uint32{uint32(thread / block)}
		m.ids[ir.OpNTid], m.ids[ir.OpNCtaid] = [3]uint32{uint32(block), 1, 1}, [3]uint32{uint32(blocks), 1, 1}
		o, err := m.try(f, args)
		if err != nil {
			return out, err
		}
		switch {
		case o.fault == "":
		case f.Coarse > 0:
			out.faults = append(out.faults, strings.TrimSpace(o.fault))
		default:
			out.faults = append(out.faults, fmt.Sprintf("%s %#x", strings.TrimSpace(o.fault), thread))
		}
	}
	out.memory = m.contents(visible)
	return out, nil
}
