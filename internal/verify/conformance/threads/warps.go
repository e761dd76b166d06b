package threads

import "github.com/gopherwarp/gopherwarp/gpu"

// warped is what operations of a warp return to a thread.
type warped struct {
	Shuffle, ShuffleSame, ShuffleFar, ShuffleUp, ShuffleUpEdge, ShuffleDown, ShuffleXor  int64
	Shuffle32, ShuffleFloat32, ShuffleFloat64, ShuffleUnsigned, Butterfly, Scan          int64
	Ballot, BallotNone, BallotAll, Any, AnyNone, All, AllNot, MatchParity, MatchUnique   int64
	MatchFloat, ReduceAdd, ReduceMin, ReduceMax, ReduceAnd, ReduceOr, ReduceXor          int64
	ReduceFloat, ReduceMinFloat, BlockSum, FirstLane, Rank, InLoop, InFunction, SyncWarp int64
}

//gpu:kernel
func warps(t gpu.Thread, in []int64, out []warped) {
	i := t.GlobalX()
	x, lane := in[i], t.Lane()
	r := &out[i]
	shuffles(t, x, r)
	votes(t, x, r)
	reduces(t, x, r)
	partial := gpu.Shared[[32]int64](t)
	if lane == 0 {
		partial[t.Warp()] = r.ReduceAdd
	}
	t.Sync()
	for _, p := range partial[:t.BlockDimX()/gpu.WarpSize] {
		r.BlockSum += p
	}
	t.Sync()
	cells := gpu.Shared[[128]int64](t)
	cells[t.ThreadX()] = x
	t.SyncWarp()
	r.SyncWarp = cells[t.ThreadX()^5]
}

func shuffles(t gpu.Thread, x int64, r *warped) {
	lane := t.Lane()
	r.Shuffle, r.ShuffleSame, r.ShuffleFar = gpu.Shuffle(t, x, 7), gpu.Shuffle(t, x, lane), gpu.Shuffle(t, x, lane+40)
	r.ShuffleUp, r.ShuffleUpEdge = gpu.ShuffleUp(t, x, 1), gpu.ShuffleUp(t, x, 20)
	r.ShuffleDown, r.ShuffleXor = gpu.ShuffleDown(t, x, 3), gpu.ShuffleXor(t, x, 6)
	r.Shuffle32 = int64(gpu.Shuffle(t, int32(x), 31-lane))
	r.ShuffleFloat32 = int64(gpu.ShuffleXor(t, float32(x)/2, 1) * 2)
	r.ShuffleFloat64 = int64(gpu.ShuffleXor(t, float64(x)/4, 16) * 4)
	r.ShuffleUnsigned = int64(gpu.Shuffle(t, uint64(x)<<40, lane^3) >> 40)
	sum := x
	for mask := gpu.WarpSize / 2; mask > 0; mask /= 2 {
		sum += gpu.ShuffleXor(t, sum, mask)
	}
	r.Butterfly = sum
	scan := x
	for distance := 1; distance < gpu.WarpSize; distance *= 2 {
		if v := gpu.ShuffleUp(t, scan, distance); lane >= distance {
			scan += v
		}
	}
	r.Scan = scan
	for step := range 3 {
		r.InLoop = r.InLoop*5 + gpu.Shuffle(t, x, lane+step)
	}
	r.InFunction = neighbour(t, x) - neighbour(t, x+1)
}

func neighbour(t gpu.Thread, x int64) int64 { return gpu.Shuffle(t, x*3, t.Lane()+1) }

func votes(t gpu.Thread, x int64, r *warped) {
	odd := gpu.Ballot(t, x%2 != 0)
	r.Ballot, r.BallotNone, r.BallotAll = int64(odd), int64(gpu.Ballot(t, false)), int64(gpu.Ballot(t, true))
	r.Any, r.AnyNone = toInt(gpu.Any(t, x%7 == 0)), toInt(gpu.Any(t, x < 0))
	r.All, r.AllNot = toInt(gpu.All(t, x >= 0)), toInt(gpu.All(t, x%7 != 0))
	r.MatchParity, r.MatchUnique = int64(gpu.Match(t, int32(x%2))), int64(gpu.Match(t, t.Lane()))
	r.MatchFloat = int64(gpu.Match(t, float64(x%3)/4))
	for bits := odd; bits&1 == 0 && bits != 0; bits >>= 1 {
		r.FirstLane++
	}
	for bits := odd & (1<<t.Lane() - 1); bits != 0; bits &= bits - 1 {
		r.Rank++
	}
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func reduces(t gpu.Thread, x int64, r *warped) {
	r.ReduceAdd, r.ReduceMin, r.ReduceMax = gpu.WarpReduceAdd(t, x), gpu.WarpReduceMin(t, x), gpu.WarpReduceMax(t, x)
	r.ReduceAnd = int64(gpu.WarpReduceAnd(t, uint32(x)|8))
	r.ReduceOr, r.ReduceXor = gpu.WarpReduceOr(t, x), int64(gpu.WarpReduceXor(t, int32(x)))
	r.ReduceFloat, r.ReduceMinFloat = int64(gpu.WarpReduceAdd(t, float32(x))), int64(gpu.WarpReduceMin(t, float64(x)/2)*2)
}
