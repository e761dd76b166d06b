package threads

import (
	_ "embed"
	"fmt"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed masked.go
var maskedText string

// someLanes is what threads that go different ways exchange with those that go theirs.
type someLanes struct {
	Ballot, Match              uint32
	Shuffle, Up, Down, Xor     int32
	Wide                       int64
	Single                     float32
	Add, Min                   int32
	Max, Or                    uint32
	AddWide                    int64
	MaxDouble                  float64
	Any, All, Elected          bool
	InLoop                     int32
	OfAll, AfterExit, InShared uint32
}

// exchangeAmong lets the threads of a warp take one of four ways.
//
//gpu:kernel
//gpu:block 80
func exchangeAmong(t gpu.Thread, in []int32, out []someLanes) {
	i, k := t.GlobalX(), t.ThreadX()
	v, lane, r := in[i], t.Lane(), &out[i]
	cells := gpu.Shared[[80]int32](t)
	some, others, left, leave := gpu.Ballot(t, v%4 == 1), gpu.Ballot(t, v%4 == 2), gpu.Ballot(t, v%4 == 3), gpu.Ballot(t, v%4 == 0)
	switch v % 4 {
	case 1:
		first := bits.TrailingZeros32(some)
		r.Ballot = gpu.Ballot(t, v > 20, some)
		r.Match = gpu.Match(t, v/8, some)
		r.Shuffle = gpu.Shuffle(t, v, first, some)
		r.Up = present(gpu.ShuffleUp(t, v, 3, some), lane-3, some, v)
		r.Down = present(gpu.ShuffleDown(t, v, 5, some), lane+5, some, v)
		r.Xor = present(gpu.ShuffleXor(t, v, 9, some), lane^9, some, v)
		r.Wide = gpu.Shuffle(t, int64(v)<<33, first, some)
		r.Single = gpu.Shuffle(t, float32(v)/2, first, some)
		r.Any, r.All = gpu.Any(t, v > 60, some), gpu.All(t, v < 60, some)
		r.Elected = gpu.Elect(t, some)
		cells[k] = v
		t.SyncWarp(some)
		r.InShared = uint32(cells[k&^31+first])
	case 2:
		r.Add = gpu.WarpReduceAdd(t, v, others)
		r.Min = gpu.WarpReduceMin(t, -v, others)
		r.Max = gpu.WarpReduceMax(t, uint32(v), others)
		r.Or = gpu.WarpReduceOr(t, uint32(1)<<lane, others)
		r.AddWide = gpu.WarpReduceAdd(t, int64(v)<<32, others)
		r.MaxDouble = gpu.WarpReduceMax(t, float64(v)/4, others)
	case 3:
		for n := v % 5; n >= 0; n-- {
			r.InLoop += gpu.WarpReduceAdd(t, n+1, left)
			left = gpu.Ballot(t, n > 0, left)
		}
	}
	r.OfAll = gpu.Ballot(t, v%4 == 3)
	if v%4 == 0 {
		return
	}
	r.AfterExit = gpu.Ballot(t, true, ^(leave & -leave))
}

// present returns what a thread got from a lane, or 0 if the lane is not among the others.
func present(got int32, lane int, lanes uint32, own int32) int32 {
	switch {
	case lane < 0 || lane > 31:
		return got - own + 1 // its own
	case lanes>>lane&1 == 0:
		return 0
	}
	return got
}

// exchangedAmong returns what exchangeAmong leaves for a warp with the given numbers.
func exchangedAmong(in []int32) []someLanes {
	out, ways := make([]someLanes, len(in)), [4]uint32{}
	for i, v := range in {
		ways[v%4] |= 1 << i
	}
	some := ways[1]
	at := func(lane int) int32 { return in[lane] }
	first := bits.TrailingZeros32(some)
	for i, v := range in {
		r := &out[i]
		from := func(lane int) int32 {
			if lane < 0 || lane > 31 {
				return 1
			}
			if some>>lane&1 == 0 {
				return 0
			}
			return at(lane)
		}
		r.OfAll = ways[3]
		if v%4 > 0 {
			r.AfterExit = ways[1] | ways[2] | ways[3]
		}
		switch v % 4 {
		case 1:
			r.Shuffle, r.Wide, r.Single, r.InShared = at(first), int64(at(first))<<33, float32(at(first))/2, uint32(at(first))
			r.Up, r.Down, r.Xor = from(i-3), from(i+5), from(i^9)
			r.All, r.Elected = true, i == first
		case 2:
			r.Min, r.Or = -v, ways[2]
		}
		for j, w := range in {
			switch {
			case w%4 != v%4:
			case v%4 == 1:
				r.Any = r.Any || w > 60
				r.All = r.All && w < 60
				if w > 20 {
					r.Ballot |= 1 << j
				}
				if w/8 == v/8 {
					r.Match |= 1 << j
				}
			case v%4 == 2:
				r.Add, r.AddWide = r.Add+w, r.AddWide+int64(w)<<32
				r.Min, r.Max, r.MaxDouble = min(r.Min, -w), max(r.Max, uint32(w)), max(r.MaxDouble, float64(w)/4)
			case v%4 == 3:
				for n, m := v%5, w%5; n >= 0 && m >= 0; n, m = n-1, m-1 {
					r.InLoop += m + 1
				}
			}
		}
	}
	return out
}

func exchangesAmong(r *check.Run) {
	const block, n = 80, 4 * 80
	in := make([]int32, n)
	for i, v := range numbers(n) {
		in[i] = int32(v % 64)
	}
	out := check.Make[someLanes](r, n)
	r.Launch(ExchangeAmong(r.Stream, device.Blocks{X: n / block}, check.Upload(r, in...), out))
	got := check.Get(r, out)
	for b := 0; b < n; b += block {
		for w := b; w < b+block; w += 32 {
			for i, want := range exchangedAmong(in[w:min(w+32, b+block)]) {
				check.Compare(r, fmt.Sprintf("thread %d", w+i), got[w+i], want)
			}
		}
	}
}

// handedOn has each lane of the first eight exchange with the next one, and before that with the one before, so that a lane waits for one that
// waits for another one.
//
//gpu:kernel
func handedOn(t gpu.Thread, out []uint32) {
	lane, sum := t.Lane(), uint32(0)
	for pair := 6; pair >= 0; pair-- {
		if lane == pair || lane == pair+1 {
			sum += gpu.Ballot(t, lane == pair, uint32(3)<<pair)
		}
	}
	out[t.GlobalX()] = sum
}

func handsOn(r *check.Run) {
	out := check.Make[uint32](r, 80)
	r.Launch(HandedOn(r.Stream, check.Blocks(2, 40), out))
	want := make([]uint32, 80)
	for i := range want {
		for pair := range 7 {
			if lane := i % 40 % 32; lane == pair || lane == pair+1 {
				want[i] += 1 << pair
			}
		}
	}
	check.Want(r, out, want...)
}

// outsider exchanges values with a set of lanes that may not contain the thread.
//
//gpu:kernel
func outsider(t gpu.Thread, lanes uint32, out []int32) {
	if t.Lane() < 4 {
		out[t.Lane()] = gpu.Shuffle(t, int32(t.Lane()), 2, lanes) // outside
	}
}

func outsiders(r *check.Run) {
	out := check.Make[int32](r, 4)
	r.Launch(Outsider(r.Stream, check.Threads(8), 15, out))
	check.Want(r, out, 2, 2, 2, 2)
	r.Launch(Outsider(r.Stream, check.Threads(8), 13, out))
	r.Fault(device.Fault{
		Kernel: "outsider", File: "masked.go", Line: check.Line(maskedText, "outside"), Thread: [3]int{1, 0, 0},
		Message: "the set of lanes does not contain the thread",
	})
}
