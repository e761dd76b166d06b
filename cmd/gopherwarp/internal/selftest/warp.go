package selftest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// gathered is what a thread finds out about the others of its warp.
type gathered struct {
	lane, warp            int
	there, odd            uint32
	same32, same64        uint32
	any, all              bool
	from                  int32
	up                    uint64
	down                  float32
	xor                   float64
	sum                   int64
	total                 float32
	least, greatest       int32
	low                   float64
	and, or, parity, left uint64
}

// gather exchanges v with the other threads of the warp in each way that there is.
func gather(t gpu.Thread, v int32) gathered {
	f := float64(v) / 4
	return gathered{
		lane: t.Lane(), warp: t.Warp(),
		there: gpu.Ballot(t, true), odd: gpu.Ballot(t, v%2 != 0),
		same32: gpu.Match(t, v%3), same64: gpu.Match(t, float64(v%5)),
		any: gpu.Any(t, v == 3), all: gpu.All(t, v < 60),
		from: gpu.Shuffle(t, v, int(v)), up: gpu.ShuffleUp(t, uint64(v)<<40|uint64(v), 3),
		down: gpu.ShuffleDown(t, float32(f), 5), xor: gpu.ShuffleXor(t, f, 9),
		sum: gpu.WarpReduceAdd(t, int64(v)<<35), total: gpu.WarpReduceAdd(t, float32(f)),
		least: gpu.WarpReduceMin(t, -v), greatest: gpu.WarpReduceMax(t, v), low: gpu.WarpReduceMin(t, -f),
		and: gpu.WarpReduceAnd(t, ^(uint64(1) << uint(v))), or: gpu.WarpReduceOr(t, uint64(1)<<uint(v)),
		parity: gpu.WarpReduceXor(t, uint64(v)),
	}
}

// meet has all threads gather but those whose element of x is negative: they leave.
//
//gpu:kernel
func meet(t gpu.Thread, x []int32, out []gathered) {
	i := t.ThreadX() + t.BlockDimX()*(t.ThreadY()+t.BlockDimY()*t.ThreadZ())
	i += t.BlockX() * t.BlockDimX() * t.BlockDimY() * t.BlockDimZ()
	if x[i] < 0 {
		return
	}
	out[i] = gather(t, x[i])
	t.SyncWarp()
	out[i].left = uint64(t.SyncCount(x[i] < 30))
	if t.SyncAnd(x[i] < 60) {
		out[i].left += 1000
	}
	if t.SyncOr(x[i] == 33) {
		out[i].left += 2000
	}
}

// checkWarps runs meet in blocks whose last warp is not full, in which some threads leave.
func checkWarps(s *session) error {
	block := device.Dim{X: 5, Y: 4, Z: 4}
	x := make([]int32, 3*block.Count())
	for i := range x {
		x[i] = int32(i * 37 % 61)
		if i >= 80 && i%11 == 0 || i >= 100 && i < 110 {
			x[i] = -1
		}
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	out, err := upload(s, make([]gathered, len(x)))
	if err != nil {
		return err
	}
	if err := Meet(s.stream, device.Grid{Blocks: device.Dim{X: 3}, Block: block}, dx, out); err != nil {
		return err
	}
	got, err := download(s, out)
	if err != nil {
		return err
	}
	for i := range got {
		got[i].down, got[i].xor = number(got[i].down), number(got[i].xor)
		if want := expected(x[i/80*80:][:80], i%80, got[i]); got[i] != want {
			return fmt.Errorf("thread %d of %d has %+v, want %+v", i%80, i/80, got[i], want)
		}
	}
	return nil
}

// number returns f, or 0 for what is arbitrary and no number.
func number[F float32 | float64](f F) F {
	if f != f {
		return 0
	}
	return f
}

// expected returns what thread i of a block gathers. Where that is arbitrary it is what it got.
func expected(block []int32, i int, got gathered) gathered {
	v, lane := block[i], i%32
	if v < 0 {
		return gathered{}
	}
	warp := block[i-lane : min(len(block), i-lane+32)]
	g := gathered{lane: lane, warp: i / 32, all: true, and: ^uint64(0)}
	for l, u := range warp {
		if u >= 0 {
			g.add(l, u, v)
		}
	}
	// from returns what another lane has, or d where there is none.
	from := func(at int, d int32) (int32, bool) {
		switch {
		case at < 0 || at >= 32:
			return d, true
		case at >= len(warp) || warp[at] < 0:
			return 0, false
		}
		return warp[at], true
	}
	g.from, g.up, g.down, g.xor = got.from, got.up, got.down, got.xor
	if u, ok := from(int(v%32), 0); ok {
		g.from = u
	}
	if u, ok := from(lane-3, v); ok {
		g.up = uint64(u)<<40 | uint64(u)
	}
	if u, ok := from(lane+5, v); ok {
		g.down = float32(u) / 4
	}
	if u, ok := from(lane^9, v); ok {
		g.xor = float64(u) / 4
	}
	g.left = votes(block)
	return g
}

// add adds a thread of the warp of a thread that has v.
func (g *gathered) add(lane int, u, v int32) {
	bit := uint32(1) << lane
	g.there |= bit
	if u%2 != 0 {
		g.odd |= bit
	}
	if u%3 == v%3 {
		g.same32 |= bit
	}
	if u%5 == v%5 {
		g.same64 |= bit
	}
	g.any, g.all = g.any || u == 3, g.all && u < 60
	g.sum, g.total = g.sum+int64(u)<<35, g.total+float32(u)/4
	g.least, g.greatest, g.low = min(g.least, -u), max(g.greatest, u), min(g.low, -float64(u)/4)
	g.and, g.or, g.parity = g.and&^(1<<u), g.or|1<<u, g.parity^uint64(u)
}

// votes returns what the barriers of meet make of a block.
func votes(block []int32) uint64 {
	n, all, some := uint64(0), uint64(1000), uint64(0)
	for _, u := range block {
		if u >= 0 && u < 30 {
			n++
		}
		if u >= 60 {
			all = 0
		}
		if u == 33 {
			some = 2000
		}
	}
	return n + all + some
}

// stumble lets one thread of each warp run out of range where the others exchange values and
// wait for each other.
//
//gpu:kernel
func stumble(t gpu.Thread, x []int32, reach int) {
	i := t.GlobalX()
	if t.Lane() == 7 {
		i += reach
	}
	v := x[i]
	for range 3 {
		v = gpu.WarpReduceAdd(t, v)
		t.Sync()
		v += int32(t.SyncCount(v > 0))
		t.SyncWarp()
	}
	x[t.GlobalX()] = v
}

// checkStumble wants no thread to wait for ever for one that has faulted.
func checkStumble(s *session) error {
	x, err := upload(s, slices.Repeat([]int32{1}, 128))
	if err != nil {
		return err
	}
	if err := Stumble(s.stream, device.Cover(128, 64), x, 1000); err != nil {
		return err
	}
	f, ok := errors.AsType[*device.Fault](s.wait())
	if !ok || f.Thread[0]%32 != 7 || !strings.Contains(f.Message, "index out of range") {
		return fmt.Errorf("got %v, want a fault of the warp's thread 7", f)
	}
	if err := device.UploadTo(s.stream, x, slices.Repeat([]int32{1}, 128)); err != nil {
		return err
	}
	if err := Stumble(s.stream, device.Cover(128, 64), x, 0); err != nil {
		return err
	}
	v := int32(1)
	for range 3 {
		v = v*32 + 64
	}
	return expect(s, x, slices.Repeat([]int32{v}, 128))
}
