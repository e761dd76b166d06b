package matrices

import (
	_ "embed"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

//go:embed kernels.go
var source string

// Cases returns the cases of the package.
func Cases() []check.Case {
	bf16 := func(x float32) dtype.BF16 { return dtype.BF16From32(x) }
	f16 := func(x float32) dtype.F16 { return dtype.F16From32(x) }
	return []check.Case{
		{Name: "load", Run: load32},
		{Name: "product/bf16", Run: func(r *check.Run) { product(r, ProductBF16, bf16) }},
		{Name: "product/f16", Run: func(r *check.Run) { product(r, ProductF16, f16) }},
		{Name: "copy", Run: copied},
		{Name: "copy/misaligned", Run: refused},
		{Name: "copy/dynamic", Run: fetched},
	}
}

var one = device.Blocks(device.Dim{X: 1})

func load32(r *check.Run) {
	in := make([][8]dtype.BF16, 32)
	for i := range in {
		for j := range in[i] {
			in[i][j] = dtype.BF16(i<<8 | j)
		}
	}
	out := check.Make[[14]uint32](r, 32)
	r.Launch(Loads(r.Stream, one, check.Upload(r, in...), out))
	for lane, got := range check.Get(r, out) {
		// A tile of its own tells which rows it is made of, by order, and whether it is transposed.
		for i, tile := range [14]struct {
			row        func(i int) int
			transposed bool
		}{
			{at(0), false}, {at(0), false}, {at(8), false}, {at(0), false}, {at(8), false}, {at(16), false}, {at(24), false},
			{func(i int) int { return i ^ 1 }, true}, {at(0), true}, {at(8), true},
			{down(31), true}, {down(23), true}, {down(15), true}, {down(7), true},
		} {
			a, b := lane/4, lane%4*2
			low, high := in[tile.row(a)][b], in[tile.row(a)][b+1]
			if tile.transposed {
				low, high = in[tile.row(b)][a], in[tile.row(b+1)][a]
			}
			if want := uint32(high)<<16 | uint32(low); got[i] != want {
				r.Wrong("lane %d has %#x of tile %d, want %#x", lane, got[i], i, want)
			}
		}
	}
}

func at(first int) func(int) int   { return func(i int) int { return first + i } }
func down(first int) func(int) int { return func(i int) int { return first - i } }

// half is a float of 16 bits.
type half interface {
	dtype.F16 | dtype.BF16
	Float64() float64
}

type launcher[T half] func(s *device.Stream, g device.Blocks, a device.Slice[[2][8]T], b device.Slice[[8]T], c device.Slice[float32]) error

// product multiplies matrices of small numbers, and of numbers of all magnitudes.
func product[T half](r *check.Run, launch launcher[T], from func(float32) T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, next := range [...]func() float32{
		func() float32 { return float32(random.IntN(17) - 8) },
		func() float32 { return float32(random.NormFloat64()) },
		func() float32 { return float32(math.Ldexp(random.NormFloat64(), random.IntN(24)-14)) },
	} {
		a, b, c := make([][2][8]T, 16), make([][8]T, 16), make([]float32, 128)
		for i := range 16 {
			for j := range 16 {
				a[i][j/8][j%8] = from(next())
			}
			for j := range 8 {
				b[i][j], c[8*i+j] = from(next()), next()
			}
		}
		d := check.Upload(r, c...)
		r.Launch(launch(r.Stream, one, check.Upload(r, a...), check.Upload(r, b...), d))
		for i, got := range check.Get(r, d) {
			want, size := float64(c[i]), math.Abs(float64(c[i]))
			for k := range 16 {
				p := a[i/8][k/8][k%8].Float64() * b[k][i%8].Float64()
				want, size = want+p, size+math.Abs(p)
			}
			if math.Abs(float64(got)-want) > size/(1<<20) {
				r.Wrong("row %d, column %d: %v, want %v", i/8, i%8, got, want)
			}
		}
	}
}

func copied(r *check.Run) {
	const n, from = 100, 50
	wide, middle, narrow := make([][4]uint32, n), make([][2]float32, n), make([]int32, n)
	for i := range n {
		u := uint32(i)
		wide[i] = [4]uint32{u, u + 1000, u + 2000, u + 3000}
		middle[i] = [2]float32{float32(i), float32(2 * i)}
		narrow[i] = int32(3 * i)
	}
	out := check.Make[[7]uint32](r, 64)
	r.Launch(Copies(r.Stream, one, check.Upload(r, wide...), check.Upload(r, middle...), check.Upload(r, narrow...), from, out))
	for i, got := range check.Get(r, out) {
		j := 63 - i
		var want [7]uint32
		if from+j < n {
			copy(want[:], wide[from+j][:])
		}
		want[4], want[5] = uint32(i), uint32(2*j)
		if from-j >= 0 {
			want[6] = uint32(narrow[from-j])
		}
		if got != want {
			r.Wrong("thread %d has %v, want %v", i, got, want)
		}
	}
}

func fetched(r *check.Run) {
	out := check.Make[int32](r, 8)
	g := check.Threads(8)
	g.Shared = 8 * 4
	r.Launch(Fetches(r.Stream, g, check.Upload[int32](r, 0, 10, 20, 30, 40), 2, out))
	check.Want(r, out, 0, 0, 0, 0, 0, 40, 30, 20)
}

func refused(r *check.Run) {
	r.Launch(Misaligned(r.Stream, one, check.Upload(r, make([]dtype.BF16, 100)...), 8))
	r.Wait()
	r.Launch(Misaligned(r.Stream, one, check.Upload(r, make([]dtype.BF16, 100)...), 4))
	err := r.Stream.Synchronize(r.Context)
	if f, ok := err.(*device.Fault); !ok || f.Line != check.Line(source, "misaligned") || f.Message != "gpu.CopyAsync: address is not a multiple of the size" {
		r.Wrong("a misaligned copy ends with %v", err)
	}
}
