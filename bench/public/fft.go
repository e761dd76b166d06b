package public

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// A block of fftThreads threads transforms fftPoints points, eight a thread.
const (
	fftPoints  = 512
	fftThreads = 64
)

// point is a complex number.
type point struct{ re, im float32 }

func (a point) plus(b point) point  { return point{a.re + b.re, a.im + b.im} }
func (a point) minus(b point) point { return point{a.re - b.re, a.im - b.im} }
func (a point) times(b point) point {
	return point{a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re}
}

// fft4 transforms four points.
func fft4(v [4]point) [4]point {
	s02, d02, s13, d13 := v[0].plus(v[2]), v[0].minus(v[2]), v[1].plus(v[3]), v[1].minus(v[3])
	turned := point{d13.im, -d13.re} // by -i
	return [4]point{s02.plus(s13), d02.plus(turned), s02.minus(s13), d02.minus(turned)}
}

// fft8 transforms eight points.
func fft8(v [8]point) [8]point {
	const half = 0.70710678
	even, odd := fft4([4]point{v[0], v[2], v[4], v[6]}), fft4([4]point{v[1], v[3], v[5], v[7]})
	odd[1] = odd[1].times(point{half, -half})
	odd[2] = point{odd[2].im, -odd[2].re}
	odd[3] = odd[3].times(point{-half, -half})
	return [8]point{
		even[0].plus(odd[0]), even[1].plus(odd[1]), even[2].plus(odd[2]), even[3].plus(odd[3]),
		even[0].minus(odd[0]), even[1].minus(odd[1]), even[2].minus(odd[2]), even[3].minus(odd[3]),
	}
}

// fftTwist multiplies points by the powers of the unit root at an angle.
func fftTwist(v [8]point, angle float32) [8]point {
	for k := 1; k < 8; k++ {
		sin, cos := math32.Sincos(angle * float32(k))
		v[k] = v[k].times(point{cos, sin})
	}
	return v
}

// fftPadded returns the index of point i in shared memory, which has an unused element after each 32.
func fftPadded(i int) int { return i + i/32 }

// fftShared is the shared memory of a block.
type fftShared [fftPoints + fftPoints/32]float32

// fftPlaces are places at intervals of stride.
type fftPlaces struct{ to, stride int }

// fftExchange stores each thread's points at some places and returns those at intervals of 64: the real parts, then
// the imaginary ones, through one array.
func fftExchange(t gpu.Thread, shared *fftShared, v [8]point, at fftPlaces) [8]point {
	me := t.ThreadX()
	for k := range v {
		shared[fftPadded(at.to+k*at.stride)] = v[k].re
	}
	t.Sync()
	for k := range v {
		v[k].re = shared[fftPadded(me+k*fftThreads)]
	}
	t.Sync()
	for k := range v {
		shared[fftPadded(at.to+k*at.stride)] = v[k].im
	}
	t.Sync()
	for k := range v {
		v[k].im = shared[fftPadded(me+k*fftThreads)]
	}
	t.Sync()
	return v
}

// fft512 transforms sequences of 512 points, as SHOC's fft does. A block of 64 threads transforms a sequence. In each of
// three passes, a thread transforms eight points in registers (Stockham's order, as in Govindaraju and others 2008), and exchanges
// points through shared memory.
//
//gpu:kernel
//gpu:block 64
func fft512(t gpu.Thread, data []point) {
	shared := gpu.Shared[fftShared](t)
	me := t.ThreadX()
	first := t.BlockX()*fftPoints + me
	var v [8]point
	for k := range v {
		v[k] = data[first+k*fftThreads]
	}
	v = fft8(v)
	v = fftExchange(t, shared, v, fftPlaces{me * 8, 1})
	v = fftTwist(v, -2*math.Pi/64*float32(me%8))
	v = fft8(v)
	v = fftExchange(t, shared, v, fftPlaces{me/8*64 + me%8, 8})
	v = fftTwist(v, -2*math.Pi/512*float32(me))
	v = fft8(v)
	for k := range v {
		data[first+k*fftThreads] = v[k]
	}
}

// newFFT prepares n sequences.
func newFFT(b *harness.Bench, n int) harness.Work {
	size, nan := n*fftPoints, harness.NaN[float32]()
	first := harness.Input(b, harness.Random(b, size, func(r *rand.Rand, i int) point { return point{harness.Signed(r, i), harness.Signed(r, i)} }))
	data := harness.Result(b, size, point{nan, nan})
	g := device.Grid{Blocks: device.Dim{X: n}, Block: device.Dim{X: fftThreads}}
	return harness.Work{
		Ours:    []harness.Launch{harness.Of("fft512", Fft512, g, data)},
		Restore: restore(data, first),
		Check: func() error {
			return harness.Examine(size, 1<<12, func(i int) error {
				var want complex128
				for k, p := range first.Host[i/fftPoints*fftPoints:][:fftPoints] {
					angle := -2 * math.Pi * float64(k*(i%fftPoints)%fftPoints) / fftPoints
					want += complex(float64(p.re), float64(p.im)) * cmplx.Rect(1, angle)
				}
				got := complex(float64(data.Host[i].re), float64(data.Host[i].im))
				if !(cmplx.Abs(got-want) <= 1e-4) {
					return fmt.Errorf("point %d is %v, want %v", i, got, want)
				}
				return nil
			})
		},
	}
}
