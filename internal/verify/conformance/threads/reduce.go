package threads

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// reduced is what a thread finds of its warp.
type reduced struct {
	Add, Min, Max, And, Or, Xor                               int32
	AddUnsigned, MinUnsigned, MaxUnsigned, BitsUnsigned, Kind uint32
	Elected, InLoop                                           int32
}

type mask uint32

// reductions combines numbers of 32 bits. Threads of which the index modulo every is 1 have left, if every is not 0.
//
//gpu:kernel
func reductions(t gpu.Thread, every int, in []int32, out []reduced) {
	i := t.GlobalX()
	if every > 0 && i%every == 1 {
		return
	}
	x, r := in[i], &out[i]
	u := uint32(x)
	r.Add, r.Min, r.Max = gpu.WarpReduceAdd(t, x), gpu.WarpReduceMin(t, x), gpu.WarpReduceMax(t, x)
	r.And, r.Or, r.Xor = gpu.WarpReduceAnd(t, x|64), gpu.WarpReduceOr(t, x&^7), gpu.WarpReduceXor(t, x)
	r.AddUnsigned, r.MinUnsigned, r.MaxUnsigned = gpu.WarpReduceAdd(t, u), gpu.WarpReduceMin(t, u), gpu.WarpReduceMax(t, u)
	r.BitsUnsigned = gpu.WarpReduceAnd(t, u|0xf0) ^ gpu.WarpReduceOr(t, u)<<1 ^ gpu.WarpReduceXor(t, u*3)
	r.Kind = uint32(gpu.WarpReduceOr(t, mask(u)))
	if gpu.Elect(t) {
		r.Elected = 1
	}
	for n := range 3 {
		r.InLoop += gpu.WarpReduceMax(t, x*int32(n)) - gpu.WarpReduceAdd(t, r.InLoop)
	}
}

func reductionCase(r *check.Run) {
	const blocks, threads = 2, 80
	for _, every := range []int{0, 2, 5, 32} {
		in := make([]int32, blocks*threads)
		for i := range in {
			in[i] = int32(uint32(i)*2654435761) >> (i % 20)
		}
		out := check.Make[reduced](r, len(in))
		r.Launch(Reductions(r.Stream, check.Blocks(blocks, threads), every, check.Upload(r, in...), out))
		got := check.Get(r, out)
		for b := range blocks {
			for from := 0; from < threads; from += 32 {
				warp := b*threads + from
				n := min(32, threads-from)
				for i, want := range reducedWarp(in[warp:][:n], warp, every) {
					check.Compare(r, fmt.Sprintf("every %d, thread %d", every, warp+i), got[warp+i], want)
				}
			}
		}
	}
}

// reducedWarp returns what the threads of a warp find whose first one has the given index.
func reducedWarp(in []int32, first, every int) []reduced {
	var live []int
	for i := range in {
		if every == 0 || (first+i)%every != 1 {
			live = append(live, i)
		}
	}
	all := reduced{Min: 1<<31 - 1, Max: -1 << 31, And: -1, MinUnsigned: 1<<32 - 1}
	and, or, xor := ^uint32(0), uint32(0), uint32(0)
	for _, i := range live {
		x, u := in[i], uint32(in[i])
		all.Add, all.Min, all.Max = all.Add+x, min(all.Min, x), max(all.Max, x)
		all.And, all.Or, all.Xor = all.And&(x|64), all.Or|x&^7, all.Xor^x
		all.AddUnsigned, all.MinUnsigned, all.MaxUnsigned = all.AddUnsigned+u, min(all.MinUnsigned, u), max(all.MaxUnsigned, u)
		and, or, xor = and&(u|0xf0), or|u, xor^u*3
	}
	all.BitsUnsigned, all.Kind = and^or<<1^xor, or
	out := make([]reduced, len(in))
	loop := make([]int32, len(in))
	for n := range 3 {
		most, sum := int32(-1<<31), int32(0)
		for _, i := range live {
			most, sum = max(most, in[i]*int32(n)), sum+loop[i]
		}
		for _, i := range live {
			loop[i] += most - sum
		}
	}
	for k, i := range live {
		out[i] = all
		out[i].InLoop = loop[i]
		if k == 0 {
			out[i].Elected = 1
		}
	}
	return out
}
