package clusters

import (
	_ "embed"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

const sendRounds = 3

// send has each block send a number to all blocks of its cluster, and then what it got, with a barrier and a place for each round.
//
//gpu:kernel
//gpu:block 64
//gpu:cluster 4
func send(t gpu.Thread, out []uint64) {
	got, full := gpu.Shared[[sendRounds][4]uint64](t), gpu.Shared[[sendRounds]gpu.Barrier](t)
	i := t.ThreadX()
	if i == 0 {
		for round := range sendRounds {
			full[round].Init(t, 1)
		}
	}
	t.ArriveCluster()
	if i == 0 {
		for round := range sendRounds {
			full[round].Expect(t, 8*t.ClusterSize())
		}
	}
	t.Sync()
	t.WaitCluster()
	v := uint64(t.BlockX())<<40 + 1
	for round := range sendRounds {
		if i < t.ClusterSize() {
			full[round].Send(t, &got[round][t.ClusterRank()], v, i)
		}
		full[round].Wait(t, 0)
		v = mixed(&got[round])
	}
	out[t.GlobalX()] = v
}

// mixed returns a sum that depends on the order of the numbers.
func mixed(got *[4]uint64) (sum uint64) {
	for rank, v := range got {
		sum += uint64(rank+1) * v
	}
	return sum
}

// relay sends with one place and one barrier, which a barrier of the cluster protects in each round. Some threads leave early.
//
//gpu:kernel
//gpu:block 64
//gpu:cluster 4
func relay(t gpu.Thread, rounds int, out []uint64) {
	got, full := gpu.Shared[uint64](t), gpu.Shared[gpu.Barrier](t)
	i, next := t.ThreadX(), (t.ClusterRank()+1)%t.ClusterSize()
	if i == 0 {
		full.Init(t, 1)
	}
	t.SyncCluster()
	if i%5 == 3 {
		return
	}
	v := uint64(t.BlockX())
	for round := range rounds {
		if i == 0 {
			full.Expect(t, 8)
			full.Send(t, got, 3*v+uint64(round), next)
		}
		full.Wait(t, round)
		v = *got
		t.SyncCluster()
	}
	out[t.GlobalX()] = v
}

// aside lets threads fault beside others that send to them, and wait for what they should send.
//
//gpu:kernel
//gpu:block 64
//gpu:cluster 4
func aside(t gpu.Thread, kind, who, many int, out []uint64) {
	got, full := gpu.Shared[[4]uint64](t), gpu.Shared[gpu.Barrier](t)
	i, faults := t.ThreadX(), t.GlobalX() >= who && t.GlobalX() < who+many
	if i == 0 {
		full.Init(t, 1)
	}
	t.Sync()
	if faults && kind == 0 {
		panic("first") // first
	}
	t.ArriveCluster()
	if i == 0 {
		full.Expect(t, 8*t.ClusterSize())
	}
	if faults && kind == 1 {
		panic("between") // between
	}
	t.Sync()
	t.WaitCluster()
	if faults && kind == 2 {
		panic("last") // last
	}
	to := i
	if faults && kind == 3 {
		to = 4
	}
	if i < t.ClusterSize() {
		full.Send(t, &got[t.ClusterRank()], uint64(i), to) // send
	}
	full.Wait(t, 0)
	out[t.GlobalX()] = mixed(got)
}

//go:embed send.go
var sendText string

func sendCases() []check.Case {
	cases := []check.Case{{Name: "numbers sent", Run: sending}, {Name: "numbers sent in rounds", Run: relaying}}
	for kind, mark := range []string{"first", "between", "last", "send"} {
		message := mark
		if mark == "send" {
			message = "gpu.Peer: block 4 of a cluster of 4"
		}
		for _, many := range []int{1, 64} {
			cases = append(cases, check.Case{Name: fmt.Sprintf("faults beside what is sent: %s, %d threads", mark, many), Run: func(r *check.Run) {
				r.Launch(Aside(r.Stream, device.Blocks{X: 8}, kind, 128, many, check.Make[uint64](r, 512)))
				want := device.Fault{Kernel: "aside", File: "send.go", Line: check.Line(sendText, mark), Message: message}
				want.Block[0] = 2
				if many == 1 {
					r.Fault(want)
				} else {
					r.FaultOfAny(want)
				}
				again(r)
			}})
		}
	}
	return cases
}

func sending(r *check.Run) {
	const blocks = 8
	out, want := check.Make[uint64](r, blocks*64), make([]uint64, blocks*64)
	var v [blocks]uint64
	for block := range v {
		v[block] = uint64(block)<<40 + 1
	}
	for range sendRounds {
		was := v
		for block := range v {
			v[block] = mixed((*[4]uint64)(was[block/4*4:]))
		}
	}
	for i := range want {
		want[i] = v[i/64]
	}
	r.Launch(Send(r.Stream, device.Blocks{X: blocks}, out))
	check.Want(r, out, want...)
}

func relaying(r *check.Run) {
	const blocks, rounds = 8, 5
	out, want := check.Make[uint64](r, blocks*64), make([]uint64, blocks*64)
	var v [blocks]uint64
	for block := range v {
		v[block] = uint64(block)
	}
	for round := range rounds {
		was := v
		for block := range v {
			v[block] = 3*was[block/4*4+(block+3)%4] + uint64(round)
		}
	}
	for i := range want {
		if i%64%5 != 3 {
			want[i] = v[i/64]
		}
	}
	r.Launch(Relay(r.Stream, device.Blocks{X: blocks}, rounds, out))
	check.Want(r, out, want...)
}
