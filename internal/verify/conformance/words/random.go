package words

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// drawn is random numbers of a thread.
type drawn struct {
	Philox    [4]uint32
	Uniform32 float32
	Uniform64 float64
}

func draw(i uint32) (d drawn) {
	d.Philox = gpu.Philox4x32([4]uint32{i, i * i, 7, ^i}, [2]uint32{1234, i})
	d.Uniform32, d.Uniform64 = gpu.Uniform32(d.Philox[0]), gpu.Uniform64(d.Philox[1], d.Philox[2])
	return d
}

//gpu:kernel
func random(t gpu.Thread, in []uint32, out []drawn) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = draw(in[i])
	}
}

// timed is what clocks say.
type timed struct{ ClockRuns, TimerRuns bool }

//gpu:kernel
func clocks(t gpu.Thread, out []timed) {
	c, g := gpu.Clock(), gpu.GlobalTimer()
	t.Sync()
	gpu.Sleep(500)
	gpu.Sleep(-int(c & 1))
	out[t.ThreadX()] = timed{gpu.Clock() >= c, gpu.GlobalTimer() >= g && g > 0}
}

func randomCases() []check.Case {
	in := []uint32{0, 1, 2, 1000, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	return []check.Case{
		check.Fields("random", Random, draw, in...),
		check.Struct[timed]("time", func(r *check.Run) {
			out := check.Make[timed](r, 32)
			r.Launch(Clocks(r.Stream, check.Threads(32), out))
			for _, got := range check.Get(r, out) {
				check.Compare(r, "a thread", got, timed{true, true})
			}
		}),
	}
}
