package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func orders(t gpu.Thread, x []int32, scope gpu.Memory, list []gpu.Memory) {
	gpu.AtomicAdd(&x[0], 1, scope)                    // want "gpu.AtomicAdd takes at most one order and one scope, which must be constants"
	gpu.AtomicAdd(&x[0], 1, gpu.Acquire, gpu.Release) // want "gpu.AtomicAdd takes at most one order"
	gpu.AtomicMin(&x[0], 1, list...)                  // want "gpu.AtomicMin takes at most one order"
	gpu.AtomicLoad(&x[0], gpu.Release)                // want "this order is not valid for gpu.AtomicLoad"
	gpu.AtomicStore(&x[0], 1, gpu.AcquireRelease)     // want "this order is not valid for gpu.AtomicStore"
	gpu.Fence(gpu.Relaxed, gpu.DeviceScope)           // want "this order is not valid for gpu.Fence"
	gpu.Fence(gpu.DeviceScope, gpu.BlockScope)        // want "gpu.Fence takes at most one order and one scope"
	gpu.AtomicAdd(&x[0], 1, 7)                        // want "gpu.AtomicAdd takes at most one order and one scope"
}

//gpu:kernel
func lanes(t gpu.Thread, x []int32, sets []uint32) {
	gpu.Shuffle(t, x[0], 3, sets...)              // want "Shuffle takes at most one set of lanes"
	x[0] = gpu.WarpReduceMax(t, x[1], 7, sets[0]) // want "WarpReduceMax takes at most one set of lanes"
	t.SyncWarp(1, 2)                              // want "SyncWarp takes at most one set of lanes"
	gpu.Elect(t, sets[1:]...)                     // want "Elect takes at most one set of lanes"
}
