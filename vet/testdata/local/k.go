package local

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func histogram(t gpu.Thread, x []uint8, out []int32) {
	var counts [16]int32 // want `this array of 64 bytes is in local memory, not in registers, because an index is not known at compile time \(the index: k.go:9\)`
	for _, v := range x {
		counts[v%16]++
	}
	for i, n := range counts {
		gpu.AtomicAdd(&out[i], n)
	}
}

// Loops with small trip counts are unrolled.
//
//gpu:kernel
func unrolled(t gpu.Thread, x []float32) {
	var window [4]float32
	for i := range window {
		window[i] = x[t.GlobalX()+i]
	}
	for i := range window {
		x[t.GlobalX()+i] = window[3-i]
	}
}

// All indices are constant once the loop over them is unrolled.
//
//gpu:kernel
func compared(t gpu.Thread, x []uint8, out []int32) {
	var counts [16]int32
	for _, v := range x {
		for i := range counts {
			if int(v%16) == i {
				counts[i]++
			}
		}
	}
	for i, n := range counts {
		gpu.AtomicAdd(&out[i], n)
	}
}

// mix has many operations, so that a loop over it is too long to be unrolled without a directive.
func mix(v float32) float32 {
	v = (((v*v+1)*v+2)*v+3)*v + 4
	v = (((v*v+1)/v+2)*v+3)*v + 4
	v = (((v*v+1)*v+2)/v+3)*v + 4
	v = (((v*v+1)*v+2)*v+3)/v + 4
	return (((v/v+1)*v+2)*v+3)*v + 4
}

//gpu:kernel
func directed(t gpu.Thread, x []float32) {
	var window [120]float32
	//gpu:unroll 120
	for i := range window {
		window[i] = mix(x[t.GlobalX()+i])
	}
	for i := range window {
		x[t.GlobalX()+i] = window[119-i]
	}
}

//gpu:kernel
func long(t gpu.Thread, x []float32) {
	var window [120]float32 // want `this array of 480 bytes is in local memory`
	for i := range window {
		window[i] = mix(x[t.GlobalX()+i])
	}
	for i := range window {
		x[t.GlobalX()+i] = window[119-i]
	}
}

// With the number 1, a directive keeps the compiler from unrolling.
//
//gpu:kernel
func kept(t gpu.Thread, x []float32) {
	var window [4]float32 // want `this array of 16 bytes is in local memory`
	//gpu:unroll 1
	for i := range window {
		window[i] = x[t.GlobalX()+i]
	}
	for i := range window {
		x[t.GlobalX()+i] = window[3-i]
	}
}
