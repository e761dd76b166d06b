package barrier

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func bothSides(t gpu.Thread, x []float32) {
	if t.ThreadX() < 16 {
		t.Sync() // want `only some threads of the block reach this barrier, while others wait at another one \(the condition: k.go:7\)`
		x[t.ThreadX()] = 1
	} else {
		t.Sync() // want `only some threads`
	}
}

//gpu:kernel
func before(t gpu.Thread, x []float32) {
	if x[t.GlobalX()] > 0 {
		t.Sync() // want `only some threads`
	}
	x[t.GlobalX()]++
	t.Sync() // want `only some threads`
}

//gpu:kernel
func rounds(t gpu.Thread, x []int) {
	for range x[t.GlobalX()] {
		t.Sync() // want `only some threads`
	}
	t.SyncCount(true) // want `only some threads`
}

//gpu:kernel
func broken(t gpu.Thread, x []int, n int) {
	for i := range n {
		if x[t.GlobalX()] == i {
			break
		}
		t.Sync() // want `only some threads`
	}
	t.SyncGrid() // want `only some threads`
}

//gpu:kernel
func called(t gpu.Thread, x []int) {
	if t.Lane() == 3 {
		wait(t)
	}
	wait(t)
}

func wait(t gpu.Thread) {
	t.Sync() // want `only some threads`
}

// Barriers do not wait for threads that have exited.
//
//gpu:kernel
func leave(t gpu.Thread, x []float32) {
	i := t.GlobalX()
	if i >= len(x) {
		return
	}
	x[i]++
	t.Sync()
	if i%2 == 0 {
		t.Sync()
		x[i]++
	}
}

// All threads of a block take the same branch.
//
//gpu:kernel
func alike(t gpu.Thread, x []float32, n int) {
	s := gpu.Shared[int32](t)
	for i := range n {
		if t.BlockX() == i {
			t.Sync()
		}
		if t.SyncOr(x[t.GlobalX()] > 0) || t.SyncAnd(x[t.GlobalX()] < 5) {
			t.Sync()
		}
		if t.ThreadX() == 0 {
			*s = int32(i)
		}
		t.Sync()
		if *s > 3 {
			t.Sync()
		}
	}
}

// Some threads exit in between.
//
//gpu:kernel
func oneBlock(t gpu.Thread, x []float32) {
	if t.GlobalX() >= len(x) || t.ThreadX() < 3 && t.BlockX() == 1 {
		return
	}
	for range 4 {
		x[t.GlobalX()]++
		t.SyncGrid()
	}
}
