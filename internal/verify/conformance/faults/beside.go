package faults

import "github.com/gopherwarp/gopherwarp/gpu"

// besideBarrier lets one thread fault before a barrier that the others reach.
//
//gpu:kernel
func besideBarrier(t gpu.Thread, who int, x []int32, out []int32) {
	cells := gpu.Shared[[64]int32](t)
	cells[t.ThreadX()] = 1
	if t.GlobalX() == who {
		x[len(x)] = 1 // beside barrier
	}
	t.Sync()
	out[t.GlobalX()] = cells[(t.ThreadX()+1)%t.BlockDimX()]
}

// besideBarriers lets one thread fault in the middle of a loop with barriers.
//
//gpu:kernel
func besideBarriers(t gpu.Thread, who, turn int, x []int32) {
	cells := gpu.Shared[[64]int32](t)
	for i := range 10 {
		cells[t.ThreadX()] = int32(i)
		t.Sync()
		if t.GlobalX() == who && i == turn {
			panic("in turn") // beside barriers
		}
		x[t.GlobalX()] += cells[(t.ThreadX()+i)%t.BlockDimX()]
		t.Sync()
	}
}

// besideCount lets one thread fault before barriers that have a result.
//
//gpu:kernel
func besideCount(t gpu.Thread, who int, x []int32) {
	if t.GlobalX() == who {
		x[-1+who*0] = 1 // beside count
	}
	x[t.GlobalX()] = int32(t.SyncCount(true))
	if t.SyncOr(false) || !t.SyncAnd(true) {
		x[t.GlobalX()] = 5
	}
}

// besideWarp lets one thread fault before operations of its warp.
//
//gpu:kernel
func besideWarp(t gpu.Thread, who int, x []int32) {
	if t.GlobalX() == who {
		x[len(x)+2] = 1 // beside warp
	}
	sum := gpu.WarpReduceAdd(t, int32(1))
	t.SyncWarp()
	if gpu.Any(t, sum > 100) {
		sum = gpu.ShuffleDown(t, sum, 1)
	}
	x[t.GlobalX()] = sum + int32(gpu.Ballot(t, true)&1)
}

// everyThread lets all threads fault at once, each with an index of its own.
//
//gpu:kernel
func everyThread(t gpu.Thread, x []int32) {
	x[1000+t.GlobalX()] = 1 // every thread
}

// inSpace lets one thread of a grid in three dimensions fault.
//
//gpu:kernel
func inSpace(t gpu.Thread, bx, by, bz, x, y, z int) {
	if t.BlockX() == bx && t.BlockY() == by && t.BlockZ() == bz && t.ThreadX() == x && t.ThreadY() == y && t.ThreadZ() == z {
		panic("here") // in space
	}
}

// printing prints, and then faults where n is 0.
//
//gpu:kernel
func printing(t gpu.Thread, n int) {
	gpu.Printf(t, "before\n")
	gpu.Printf(t, "%d\n", 100/n) // printing
}

// twoFaults faults in both of two places.
//
//gpu:kernel
func twoFaults(t gpu.Thread, n int, x []int32) {
	defended := n
	if n > 0 {
		defended = 1
	}
	x[defended] = 1 // first of two
	x[n] = 2        // second of two
}

// writes stores numbers, so that a launch after a fault can be seen to work.
//
//gpu:kernel
func writes(t gpu.Thread, x []int32, by int32) {
	x[t.GlobalX()] = int32(t.GlobalX()) * by // fault a million threads
}
