package selftest

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// pair lies in dynamic shared memory.
type pair struct {
	a int32
	b float32
}

// reverse turns each block's part of x round, through memory whose size the launch says, and
// stores how many elements that memory has.
//
//gpu:kernel
func reverse(t gpu.Thread, x []int32, sizes []int) {
	all := gpu.DynamicShared[int32](t)
	pairs := gpu.DynamicShared[pair](t)
	i, last := t.ThreadX(), t.BlockDimX()-1
	all[2*i] = x[t.GlobalX()]
	t.Sync()
	v := pairs[last-i].a
	t.Sync()
	pairs[i].b = float32(v)
	t.Sync()
	x[t.GlobalX()] = v + int32(pairs[last-i].b)
	if t.GlobalX() == 0 {
		sizes[0], sizes[1], sizes[2] = len(all), len(pairs), cap(gpu.DynamicShared[[3]uint64](t))
	}
}

func checkDynamic(s *session) error {
	const blocks, block = 3, 32
	x, want := make([]int32, blocks*block), make([]int32, blocks*block)
	for i := range x {
		x[i] = int32(i)
	}
	for i := range want {
		want[i] = x[i^(block-1)] + x[i]
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	sizes, err := upload(s, make([]int, 3))
	if err != nil {
		return err
	}
	g := device.Cover(blocks*block, block)
	g.Shared = 8*block + 20
	if err := Reverse(s.stream, g, dx, sizes); err != nil {
		return err
	}
	if err := expect(s, dx, want); err != nil {
		return err
	}
	return expect(s, sizes, []int{2*block + 5, block + 2, (8*block + 20) / 24})
}

// large is more shared memory than every kernel may declare.
type large [14000]float32

// spread moves numbers through the far end of large shared memory, and through what the launch adds.
//
//gpu:kernel
func spread(t gpu.Thread, x []float32) {
	first := gpu.Shared[large](t)
	flag := gpu.Shared[[64]uint8](t)
	more := gpu.DynamicShared[float32](t)
	i := t.ThreadX()
	first[len(first)-1-i] = x[i]
	flag[i] = uint8(i)
	more[len(more)-1-i] = 2 * x[i]
	t.Sync()
	j := len(flag) - 1 - i
	x[i] = first[len(first)-1-j] + 1000*float32(flag[j]) + more[len(more)-1-j]
}

func checkLarge(s *session) error {
	x, want := make([]float32, 64), make([]float32, 64)
	for i := range x {
		x[i] = float32(i) / 4
	}
	for i := range want {
		want[i] = 3*x[63-i] + 1000*float32(63-i)
	}
	d, err := upload(s, x)
	if err != nil {
		return err
	}
	g := device.Cover(64, 64)
	g.Shared = 4 * 64
	if err := Spread(s.stream, g, d); err != nil {
		return err
	}
	return expect(s, d, want)
}
