package devicetest

import (
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// factors are the arguments of Multiply.
type factors struct{ a, b, c device.Slice[float32] }

// startMultiply launches k, which is Multiply or a modified copy of it.
func startMultiply(s *device.Stream, k *driver.Kernel, g device.Grid, f factors) error {
	p := s.Plan(k, g)
	f.a.Pass(p)
	f.b.Pass(p)
	f.c.Pass(p)
	return p.Launch()
}

// target are the arguments of Poke and PokeSync.
type target struct {
	x         device.Slice[int32]
	at, index int
}

// startPoke launches k, which is Poke or PokeSync.
func startPoke(s *device.Stream, k *driver.Kernel, g device.Grid, to target) error {
	p := s.Plan(k, g)
	to.x.Pass(p)
	driver.Pass(p, to.at)
	driver.Pass(p, to.index)
	return p.Launch()
}

func (r *rig) testMultiply(t *testing.T) {
	s, k := r.stream(t), Multiply()
	for _, n := range []int{1, 31, 256, 257, 100_003} {
		a, b := numbers(n, 1), numbers(n, 2)
		// The buffer is longer than the slice: the elements after the slice must not change.
		c := upload(t, s, numbers(n+300, 3))
		want := append(products(a, b), numbers(n+300, 3)[n:]...)
		must(t, startMultiply(s, k, device.Cover(n, 256), factors{upload(t, s, a).All(), upload(t, s, b).All(), c.Slice(0, n)}))
		check(t, s, c, want)
	}
}

func (r *rig) testSum(t *testing.T) {
	s, k := r.stream(t), Sum()
	for _, block := range []int{1, 32, 64, 256} {
		t.Run(fmt.Sprint(block), func(t *testing.T) {
			const n = 5000
			in, g := numbers(n, 4), device.Cover(n, block)
			want := make([]float32, g.Blocks.X)
			for i, v := range in {
				want[i/block] += v
			}
			out := made[float32](t, s, len(want))
			p := s.Plan(k, g)
			upload(t, s, in).All().Pass(p)
			out.All().Pass(p)
			must(t, p.Launch())
			check(t, s, out, want)
		})
	}
}

func (r *rig) testWhere(t *testing.T) {
	s, k := r.stream(t), Where()
	for _, g := range []device.Grid{
		device.Cover(100, 32),
		{Blocks: device.Dim{X: 2, Y: 3, Z: 4}, Block: device.Dim{X: 5, Y: 4, Z: 2}},
		{Blocks: device.Dim{X: 1, Z: 3}, Block: device.Dim{X: 1, Y: 7}},
		device.Cover2(40, 20, device.Dim{X: 16, Y: 8}),
	} {
		t.Run(fmt.Sprintf("%v of %v", g.Blocks, g.Block), func(t *testing.T) {
			var want []Place
			each(g.Blocks, func(block [3]int32) {
				each(g.Block, func(thread [3]int32) { want = append(want, Place{block, thread}) })
			})
			out := made[Place](t, s, len(want))
			p := s.Plan(k, g)
			out.All().Pass(p)
			must(t, p.Launch())
			check(t, s, out, want)
		})
	}
}

// each calls f with all indices below d, x counting fastest.
func each(d device.Dim, f func([3]int32)) {
	for z := range max(1, d.Z) {
		for y := range max(1, d.Y) {
			for x := range d.X {
				f([3]int32{int32(x), int32(y), int32(z)})
			}
		}
	}
}

func (r *rig) testArgumentErrors(t *testing.T) {
	s, k, g := r.stream(t), Multiply(), device.Cover(3, 32)
	a := upload(t, s, []float32{1, 2, 3})
	closed := upload(t, s, []float32{1, 2, 3})
	must(t, closed.Close())
	foreign := upload(t, streamTo(t, opened(t, r.open), nil), []float32{1, 2, 3})
	var none *device.Buffer[float32]
	for _, c := range []struct {
		what  string
		slice device.Slice[float32]
		want  error
	}{
		{"a nil buffer", none.All(), device.ErrNilBuffer},
		{"a closed buffer", closed.All(), device.ErrClosed},
		{"another device's buffer", foreign.All(), device.ErrForeign},
		{"bounds out of range", a.Slice(0, 4), device.ErrRange},
	} {
		fails(t, s, c.what, c.want, func() error { return startMultiply(s, k, g, factors{a.All(), c.slice, a.All()}) })
	}
	must(t, startMultiply(s, k, g, factors{a.Slice(3, 3), a.Slice(3, 3), a.Slice(3, 3)}))
	check(t, s, a, []float32{1, 2, 3})
}

func (r *rig) testGridErrors(t *testing.T) {
	s, l := r.stream(t), r.device.Info().Limits
	a := upload(t, s, []float32{1, 2, 3}).All()
	one := device.Dim{X: 1}
	fixed, greedy := Multiply(), Multiply()
	fixed.Block = device.Dim{X: 32}
	greedy.Shared = l.SharedPerBlock + 1
	for _, c := range []struct {
		what string
		k    *driver.Kernel
		g    device.Grid
	}{
		{"no blocks and no threads", Multiply(), device.Grid{}},
		{"a negative number of elements", Multiply(), device.Cover(-1, 32)},
		{"no threads", Multiply(), device.Grid{Blocks: one}},
		{"a block of no threads", Multiply(), device.Cover(100, 0)},
		{"a negative count", Multiply(), device.Grid{Blocks: device.Dim{X: 1, Y: -1}, Block: one}},
		{"a picture of negative height", Multiply(), device.Cover2(10, -1, device.Dim{X: 8, Y: 8})},
		{"too many blocks", Multiply(), device.Grid{Blocks: device.Dim{X: 1, Y: l.Grid[1] + 1}, Block: one}},
		{"too many threads along x", Multiply(), device.Grid{Blocks: one, Block: device.Dim{X: l.Block[0] + 1}}},
		{"too many threads along z", Multiply(), device.Grid{Blocks: one, Block: device.Dim{X: 1, Z: l.Block[2] + 1}}},
		{"too many threads", Multiply(), device.Grid{Blocks: one, Block: device.Dim{X: l.ThreadsPerBlock, Y: 2}}},
		{"another block than the kernel's", fixed, device.Cover(3, 64)},
		{"too much shared memory", greedy, device.Cover(3, 32)},
	} {
		fails(t, s, c.what, device.ErrGrid, func() error { return startMultiply(s, c.k, c.g, factors{a, a, a}) })
	}
}

func (r *rig) testMismatch(t *testing.T) {
	s, k := r.stream(t), Poke()
	x := upload(t, s, []int32{1}).All()
	wide := upload(t, s, []int64{1}).All()
	for what, put := range map[string]func(*driver.Plan){
		"an argument missing":  func(p *driver.Plan) { x.Pass(p); driver.Pass(p, 1) },
		"none at all":          func(*driver.Plan) {},
		"one too many":         func(p *driver.Plan) { x.Pass(p); driver.Pass(p, 1); driver.Pass(p, 1); driver.Pass(p, 1) },
		"a number for a slice": func(p *driver.Plan) { driver.Pass(p, 1); driver.Pass(p, 1); driver.Pass(p, 1) },
		"a slice for a number": func(p *driver.Plan) { x.Pass(p); x.Pass(p); driver.Pass(p, 1) },
		"a number too small":   func(p *driver.Plan) { x.Pass(p); driver.Pass(p, int32(1)); driver.Pass(p, 1) },
		"elements too large":   func(p *driver.Plan) { wide.Pass(p); driver.Pass(p, 1); driver.Pass(p, 1) },
	} {
		fails(t, s, what, device.ErrMismatch, func() error {
			p := s.Plan(k, device.Cover(1, 1))
			put(p)
			return p.Launch()
		})
	}
}
