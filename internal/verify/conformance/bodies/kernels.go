package bodies

import "github.com/gopherwarp/gopherwarp/gpu"

// which stores 70 and what it read of its shared memory.
//
//gpu:kernel
//gpu:block 32
func which(t gpu.Thread, x []int) { store(t, x, 70) }

//gpu:variant which
//gpu:target sm_80
func which80(t gpu.Thread, x []int) {
	tile := gpu.Shared[[5000][2]int](t) // more than a kernel may declare
	tile[t.ThreadX()+4000][1] = 80
	t.Sync()
	store(t, x, tile[4031-t.ThreadX()][1])
}

//gpu:variant which
//gpu:target sm_90a
func which90a(t gpu.Thread, x []int) {
	tile := gpu.Shared[[40]int](t)
	tile[t.ThreadX()] = 90
	t.Sync()
	store(t, x, tile[31-t.ThreadX()])
}

func store(t gpu.Thread, x []int, value int) { x[t.GlobalX()] = value }

// whichOf is generic, and its variant too.
//
//gpu:kernel
//gpu:instance whichOf[int|float64]
func whichOf[T int | float64](t gpu.Thread, x []T) { x[t.GlobalX()] = 70 }

//gpu:variant whichOf
//gpu:target sm_90
func whichOf90[T int | float64](t gpu.Thread, x []T) { x[t.GlobalX()] = 90 }

// late is not for old GPUs.
//
//gpu:kernel
//gpu:target sm_89
func late(t gpu.Thread, x []int) { store(t, x, 89) }
