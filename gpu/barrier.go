package gpu

import "github.com/gopherwarp/gopherwarp/internal/simt"

// Barrier counts, in shared memory, arrivals of threads and bytes of bulk copies, phase after phase
// (PTX: mbarrier; from compute capability 9.0 on). A phase is over, and the next one begins, once as
// many arrivals have come as Init says, and all bytes that they announced.
//
//	full := gpu.Shared[gpu.Barrier](t)
//	if t.ThreadX() == 0 {
//		full.Init(t, 1)
//	}
//	t.Sync()
//	if t.ThreadX() == 0 {
//		full.Expect(t, gpu.PanelBytes)
//		a.Fetch(t, panel, gpu.Corner{X: x, Y: y}, full)
//	}
//	full.Wait(t, 0)
//
// A Barrier lies in shared memory. A thread that faults arrives nowhere: those that wait for it leave the kernel.
type Barrier struct{ word uint64 }

// Init readies b for its first phase, number 0, of so many arrivals in each. One thread calls it, before a Sync that
// all those pass that use b.
func (b *Barrier) Init(t Thread, arrivals int) { t.block.InitBarrier(&b.word, arrivals) }

// Arrive counts one arrival. What the thread did to memory before it is seen by those that wait
// for the phase.
func (b *Barrier) Arrive(t Thread) { t.block.Arrive(&b.word, 0) }

// Expect is Arrive, and makes the phase wait for so many bytes more, which copies that name b bring.
func (b *Barrier) Expect(t Thread, bytes int) { t.block.Arrive(&b.word, bytes) }

// Wait waits until the phase of the given number is over. Only its lowest bit counts: b tells
// a phase from the one before it. So Wait(t, 1) returns at once in phase 0.
func (b *Barrier) Wait(t Thread, phase int) {
	if !t.block.Passed(&b.word, phase) {
		t.block.Await(t.linear(), func() bool { return t.block.Passed(&b.word, phase) })
	}
}

// Done reports whether the phase of the given number is over. A loop may wait with it: should a thread that it waits for
// fault, the one that waits leaves the kernel.
func (b *Barrier) Done(t Thread, phase int) bool {
	simt.Pause()
	return t.block.Passed(&b.word, phase)
}

// WarpGroupSize is the number of threads that multiply panels together: four warps, of which the
// first has an index that is a multiple of four.
const WarpGroupSize = 4 * simt.WarpSize

// WarpGroup returns the index of the thread's group of four warps in the block.
func (t Thread) WarpGroup() int { return t.linear() / WarpGroupSize }
