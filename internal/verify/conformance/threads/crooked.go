package threads

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// crook is what a thread finds in its warp, 0 for what is arbitrary.
type crook struct{ Up, Down, Xor, At, Match, Votes, Once, Rounds, Before int32 }

// crooked exchanges numbers in blocks whose warps wrap around rows, whose last warp is not full and in which
// threads have left: those with a negative number. Warps do different things.
//
//gpu:kernel
func crooked(t gpu.Thread, in []int32, out []crook) {
	firsts := gpu.Shared[[8]int32](t)
	linear := t.ThreadX() + t.BlockDimX()*(t.ThreadY()+t.BlockDimY()*t.ThreadZ())
	i := t.BlockX()*t.BlockDimX()*t.BlockDimY()*t.BlockDimZ() + linear
	x := in[i]
	if x < 0 {
		return
	}
	there, lane, r := gpu.Ballot(t, true), t.Lane(), &out[i]
	up, down := gpu.ShuffleUp(t, x, int(x%8)), gpu.ShuffleDown(t, x, 2)
	xor, at := gpu.ShuffleXor(t, x, 5), gpu.Shuffle(t, x, lane*7)
	if from := lane - int(x%8); from < 0 || there>>from&1 != 0 {
		r.Up = up
	}
	if from := lane + 2; from > 31 || there>>from&1 != 0 {
		r.Down = down
	}
	if there>>(lane^5)&1 != 0 {
		r.Xor = xor
	}
	if there>>(lane*7%32)&1 != 0 {
		r.At = at
	}
	r.Match, r.Votes = int32(gpu.Match(t, x%3)), int32(gpu.Ballot(t, x%2 == 0))
	if t.Warp() == 1 {
		r.Once = gpu.WarpReduceMax(t, x%50) + gpu.WarpReduceAdd(t, x)
	}
	if gpu.Elect(t) {
		firsts[t.Warp()] = x
	}
	for gpu.Any(t, x > 40+10*r.Rounds) {
		r.Rounds++
	}
	t.Sync()
	if t.Warp() > 0 {
		r.Before = firsts[t.Warp()-1]
	}
}

func crookedCase(r *check.Run) {
	for _, block := range []device.Dim{{X: 5, Y: 7, Z: 3}, {X: 64, Y: 2, Z: 1}, {X: 33, Y: 1, Z: 1}, {X: 2, Y: 3, Z: 2}} {
		size := block.X * block.Y * block.Z
		in := make([]int32, 2*size)
		for i := range in {
			in[i] = int32(i*i%97 - 9*(i%3))
			if i%32 == 4 {
				in[i] = 60 // each warp has someone
			}
		}
		out := check.Make[crook](r, len(in))
		r.Launch(Crooked(r.Stream, device.Grid{Blocks: device.Dim{X: 2}, Block: block}, check.Upload(r, in...), out))
		got := check.Get(r, out)
		for first := 0; first < size; first += 32 {
			for _, start := range []int{0, size} {
				warp := in[start+first : start+min(first+32, size)]
				for lane := range warp {
					want := crookedThread(warp, lane, first/32)
					if warp[lane] >= 0 && first > 0 {
						want.Before = firstThere(in[start+first-32 : start+first])
					}
					check.Compare(r, fmt.Sprintf("block %v, thread %d", block, start+first+lane), got[start+first+lane], want)
				}
			}
		}
	}
}

func firstThere(warp []int32) int32 {
	for _, x := range warp {
		if x >= 0 {
			return x
		}
	}
	return 0
}

// crookedThread returns what the thread in a lane finds before the barrier.
func crookedThread(warp []int32, lane, number int) (c crook) {
	x := warp[lane]
	if x < 0 {
		return crook{}
	}
	get := func(from int) int32 {
		switch {
		case from < 0 || from > 31:
			return x
		case from >= len(warp):
			return 0
		}
		return max(0, warp[from])
	}
	c.Up, c.Down, c.Xor, c.At = get(lane-int(x%8)), get(lane+2), get(lane^5), get(lane*7%32)
	var match, votes uint32
	most, sum := int32(0), int32(0)
	for i, y := range warp {
		if y < 0 {
			continue
		}
		match |= uint32(toInt(y%3 == x%3)) << i
		votes |= uint32(toInt(y%2 == 0)) << i
		most, sum = max(most, y%50), sum+y
		for y > 40+10*c.Rounds {
			c.Rounds++
		}
	}
	c.Match, c.Votes = int32(match), int32(votes)
	if number == 1 {
		c.Once = most + sum
	}
	return c
}
