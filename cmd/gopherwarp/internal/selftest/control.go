package selftest

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// collatz counts the steps from n to 1, with more kinds of jumps than it needs.
func collatz(n uint32) (steps uint32) {
	for ; ; steps++ {
		switch {
		case n == 1:
			return steps
		case n%2 == 0:
			n /= 2
			continue
		}
		for i := range 3 {
			if i == 2 {
				n++
				break
			}
			if i == 0 {
				n *= 3
			}
		}
	}
}

//gpu:kernel
func steps(t gpu.Thread, counts []uint32) {
	for i := t.GlobalX(); i < len(counts); i += t.BlockDimX() * t.GridDimX() {
		counts[i] = collatz(uint32(i) + 1)
	}
}

func checkControl(s *session) error {
	want := make([]uint32, 3000)
	for i := range want {
		want[i] = collatz(uint32(i) + 1)
	}
	d, err := upload(s, make([]uint32, len(want)))
	if err != nil {
		return err
	}
	g := device.Grid{Blocks: device.Dim{X: 5}, Block: device.Dim{X: 96}}
	if err := Steps(s.stream, g, d); err != nil {
		return err
	}
	return expect(s, d, want)
}

// place stores a thread's indices as one number, in its own element.
//
//gpu:kernel
func place(t gpu.Thread, out []int) {
	x, y, z := t.GlobalX(), t.GlobalY(), t.GlobalZ()
	width, height := t.GridDimX()*t.BlockDimX(), t.GridDimY()*t.BlockDimY()
	i := x + width*(y+height*z)
	out[i] = t.ThreadX() + 10*t.ThreadY() + 100*t.ThreadZ() + 1000*t.BlockX() + 10000*t.BlockY() + 100000*t.BlockZ() +
		1000000*t.GridDimZ() + 10000000*t.BlockDimZ()
}

func checkIndices(s *session) error {
	blocks, block := device.Dim{X: 3, Y: 2, Z: 4}, device.Dim{X: 4, Y: 5, Z: 2}
	want := make([]int, blocks.Count()*block.Count())
	d, err := upload(s, make([]int, len(want)))
	if err != nil {
		return err
	}
	for i := range want {
		x, y, z := i%12, i/12%10, i/120
		want[i] = x%4 + 10*(y%5) + 100*(z%2) + 1000*(x/4) + 10000*(y/5) + 100000*(z/2) + 1000000*4 + 10000000*2
	}
	if err := Place(s.stream, device.Grid{Blocks: blocks, Block: block}, d); err != nil {
		return err
	}
	return expect(s, d, want)
}
