package panels

import (
	_ "embed"
	"strconv"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

const (
	sharers      = 4 // blocks of a cluster of shared
	sharedRounds = 3
)

// shared adds up the tiles that the blocks of a cluster pass to each other in some rounds. A block fetches the next tile when all
// blocks have read those of the round.
//
//gpu:kernel
//gpu:block 32
//gpu:cluster 4
func shared(t gpu.Thread, from gpu.TensorMap[[8][16]int32], out []int32) {
	tiles, bars := gpu.Shared[[sharers][8][16]int32](t), gpu.Shared[[2]gpu.Barrier](t)
	full, empty := &bars[0], &bars[1]
	if t.ThreadX() == 0 {
		full.Init(t, 1)
		empty.Init(t, sharers)
	}
	t.SyncCluster()
	rank, sum := t.ClusterRank(), int32(0)
	for round := range sharedRounds {
		if t.ThreadX() == 0 {
			empty.Wait(t, round+1)
			full.Expect(t, sharers*8*16*4)
			from.Multicast(t, &tiles[rank], gpu.Corner{X: 4 * rank, Y: round, Z: t.ClusterX()}, full)
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
	r.Launch(Shared(r.Stream, device.Blocks{X: clusters * sharers}, from, out))
	want := make([]int32, clusters*sharers*32)
	for i := range want {
		cluster, lane := i/(32*sharers), i%32
		for round := range sharedRounds {
			for k := range sharers * 4 {
				e := int32(0)
				row, col := round+k%4*2+lane/16, k/4*4+lane%16
				if row < height && col < width {
					e = x[(cluster*height+row)*width+col]
				}
				want[i] = 3*want[i] + e
			}
		}
	}
	check.Want(r, out, want...)
}

// absent arrives at a barrier of a block that the cluster does not have.
//
//gpu:kernel
//gpu:block 32
func absent(t gpu.Thread, rank int, out []int32) {
	bar := gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() > 0 {
		return
	}
	bar.Init(t, 1)
	bar.ArriveAt(t, rank) // absent
	bar.Wait(t, 0)
	out[0] = 7
}

//go:embed multicast.go
var multicastText string

func absentBlocks(r *check.Run) {
	for _, rank := range []int{-1, 1} {
		r.Launch(Absent(r.Stream, one, rank, check.Make[int32](r, 1)))
		r.Fault(device.Fault{Kernel: "absent", File: "multicast.go", Line: check.Line(multicastText, "absent"), Message: "gpu.Peer: block " + strconv.Itoa(rank) + " of a cluster of 1"})
	}
	out := check.Make[int32](r, 1)
	r.Launch(Absent(r.Stream, one, 0, out))
	check.Want(r, out, 7)
}
