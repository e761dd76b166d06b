package generic

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
//gpu:block 32,8
//gpu:instance transpose[float32|int32]
func transpose[T any](t gpu.Thread, x, y []T, n int) {
	s := gpu.Shared[[32][32]T](t)
	for i := 0; i < 32; i += 8 {
		s[t.ThreadY()+i][t.ThreadX()] = x[(t.GlobalY()+i)*n+t.GlobalX()]
	}
	t.Sync()
	for i := 0; i < 32; i += 8 {
		y[(t.GlobalY()+i)*n+t.GlobalX()] = s[t.ThreadX()][t.ThreadY()+i] // want `this access to shared memory has a 32-way bank conflict`
	}
}

// instances uses the instances of the kernel, as the generated file does.
func instances(t gpu.Thread) {
	transpose[float32](t, nil, nil, 0)
	transpose[int32](t, nil, nil, 0)
}
