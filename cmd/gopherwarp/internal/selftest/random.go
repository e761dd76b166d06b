package selftest

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// draw is what a thread makes of its random numbers.
type draw struct {
	words [4]uint32
	half  float32
	full  float64
}

func drawn(i int, key [2]uint32) draw {
	r := gpu.Philox4x32([4]uint32{uint32(i), uint32(i >> 3), 7}, key)
	return draw{words: r, half: gpu.Uniform32(r[1]), full: gpu.Uniform64(r[2], r[3])}
}

//gpu:kernel
func random(t gpu.Thread, draws []draw, key [2]uint32) {
	if i := t.GlobalX(); i < len(draws) {
		draws[i] = drawn(i, key)
	}
}

func checkRandom(s *session) error {
	key := [2]uint32{0xdeadbeef, 42}
	want := make([]draw, 500)
	for i := range want {
		want[i] = drawn(i, key)
	}
	draws, err := upload(s, make([]draw, len(want)))
	if err != nil {
		return err
	}
	if err := Random(s.stream, device.Cover(len(want), 64), draws, key); err != nil {
		return err
	}
	return expect(s, draws, want)
}

// watch reads both clocks around some work.
//
//gpu:kernel
func watch(t gpu.Thread, x []float32, ticks []int64) {
	start, first := gpu.GlobalTimer(), gpu.Clock()
	v := x[t.ThreadX()]
	for range 100 {
		v = v*v/3 + 1
	}
	x[t.ThreadX()] = v
	t.Sync()
	ticks[2*t.ThreadX()] = gpu.Clock() - first
	ticks[2*t.ThreadX()+1] = gpu.GlobalTimer() - start
}

// checkClocks wants clocks that do not run backwards, nor for an hour.
func checkClocks(s *session) error {
	const n, hour = 64, 3600e9
	x, err := upload(s, make([]float32, n))
	if err != nil {
		return err
	}
	ticks, err := upload(s, make([]int64, 2*n))
	if err != nil {
		return err
	}
	if err := Watch(s.stream, device.Cover(n, n), x, ticks); err != nil {
		return err
	}
	got, err := download(s, ticks)
	if err != nil {
		return err
	}
	for i, n := range got {
		if n < 0 || n > hour || i == 0 && n == 0 {
			return fmt.Errorf("clock %d of thread %d went %d on", i%2, i/2, n)
		}
	}
	return nil
}

//gpu:kernel
func insist(t gpu.Thread, x []int32) {
	i := t.GlobalX()
	gpu.Assert(x[i] != 13, "100% of x differ from 13")
	x[i]++
}

func checkAssert(s *session) error {
	host := make([]int32, 128)
	host[77] = 13
	x, err := upload(s, host)
	if err != nil {
		return err
	}
	if err := Insist(s.stream, device.Cover(128, 32), x); err != nil {
		return err
	}
	return checkFault(s.wait(), "assertion failed: 100% of x differ from 13", [3]int{2, 0, 0}, [3]int{13, 0, 0})
}
