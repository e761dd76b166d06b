package panels

import (
	_ "embed"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// The blocks of a cluster of shared, and what each passes to which of them.
const (
	sharers      = 4
	sharedRounds = 3
)

// receivers has a bit for each block that the tiles of a block go to. Each block receives three tiles.
var receivers = [sharers]uint32{0b1111, 0b0110, 0b1001, 0b1111}

// shared adds up the tiles that the blocks of a cluster pass to each other in some rounds. A block fetches the next tile when all
// blocks have read those of the round.
//
//gpu:kernel
//gpu:block 32
//gpu:cluster 4
func shared(t gpu.Thread, from gpu.TensorMap[[8][16]int32], ranks [sharers]uint32, out []int32) {
	tiles, bars := gpu.Shared[[sharers][8][16]int32](t), gpu.Shared[[2]gpu.Barrier](t)
	full, empty := &bars[0], &bars[1]
	if t.ThreadX() == 0 {
		full.Init(t, 1)
		empty.Init(t, sharers)
	}
	for i := range sharers * 8 {
		for col := t.Lane() % 16; col < 16; col += 32 {
			tiles[i/8][i%8][col] = 0
		}
	}
	t.FenceAsync()
	t.SyncCluster()
	rank, sum := t.ClusterRank(), int32(0)
	for round := range sharedRounds {
		if t.ThreadX() == 0 {
			empty.Wait(t, round+1)
			full.Expect(t, 3*8*16*4)
			from.Multicast(t, &tiles[rank], gpu.Corner{X: 4 * rank, Y: round, Z: t.ClusterX()}, full, ranks[rank&3])
		}
		full.Wait(t, round)
		for i := range sharers * 4 {
			sum = 3*sum + tiles[i/4][i%4*2+t.Lane()/16][t.Lane()%16]
		}
		t.SyncWarp()
		// An arrival that no block waits for could come after the end of that block.
		if t.Lane() < sharers && round+1 < sharedRounds {
			empty.ArriveAt(t, t.Lane())
		}
	}
	out[t.GlobalX()] = sum
}

func multicast(r *check.Run) {
	const clusters, height, width = 2, 9, 24
	x := make([]int32, clusters*height*width)
	for i := range x {
		x[i] = int32(i*i%1009) + 1
	}
	from := device.MapTensor[[8][16]int32](check.Upload(r, x...), device.Extent{Width: width, Height: height, Depth: clusters})
	out := check.Make[int32](r, clusters*sharers*32)
	r.Launch(Shared(r.Stream, device.Blocks{X: clusters * sharers}, from, receivers, out))
	want := make([]int32, clusters*sharers*32)
	for i := range want {
		cluster, block, lane := i/(32*sharers), i/32%sharers, i%32
		for round := range sharedRounds {
			for k := range sharers * 4 {
				e := int32(0)
				row, col := round+k%4*2+lane/16, k/4*4+lane%16
				if receivers[k/4]>>block&1 != 0 && row < height && col < width {
					e = x[(cluster*height+row)*width+col]
				}
				want[i] = 3*want[i] + e
			}
		}
	}
	check.Want(r, out, want...)
}

//go:embed multicast.go
var multicastText string

// alone fetches a tile with the given receivers, of which the block is the only possible one.
//
//gpu:kernel
//gpu:block 32
func alone(t gpu.Thread, from gpu.TensorMap[[8][16]int32], ranks uint32, out []int32) {
	tile, full := gpu.Shared[[8][16]int32](t), gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() > 0 {
		return
	}
	full.Init(t, 1)
	full.Expect(t, 8*16*4)
	from.Multicast(t, tile, gpu.Corner{}, full, ranks) // multicast
	full.Wait(t, 0)
	out[0] = tile[7][15]
}

func multicastFaults(r *check.Run) {
	x := make([]int32, 8*16)
	x[8*16-1] = 7
	from := device.MapTensor[[8][16]int32](check.Upload(r, x...), device.Extent{Width: 16, Height: 8, Depth: 1})
	for _, ranks := range []uint32{0, 2, 3, 1 << 31} {
		r.Launch(Alone(r.Stream, one, from, ranks, check.Make[int32](r, 1)))
		r.Fault(device.Fault{Kernel: "alone", File: "multicast.go", Line: check.Line(multicastText, "multicast"), Message: "gpu.TensorMap: ranks of no blocks of the cluster"})
	}
	out := check.Make[int32](r, 1)
	r.Launch(Alone(r.Stream, one, from, 1, out))
	check.Want(r, out, 7)
}
