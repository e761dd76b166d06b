package public

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// The sequences of quasirandom: their dimensions, and the bits of a number.
const (
	quasiDimensions = 3
	quasiBits       = 31
	quasiScale      = 1.0 / 0x80000001
)

// quasirandom stores n points of a low-discrepancy sequence. A point is the exclusive or of the direction numbers that
// the bits of its index select (Bratley and Fox 1988). It is the first kernel of CUDA's quasirandomGenerator sample, in
// blocks of 128 threads for each of three dimensions.
//
//gpu:kernel
//gpu:block 128,3
func quasirandom(t gpu.Thread, directions []uint32, points []float32, seed uint32, n int) {
	for i := t.GlobalX(); i < n; i += t.BlockDimX() * t.GridDimX() {
		result, data := uint32(0), seed+uint32(i)
		for bit := range quasiBits {
			if data&1 != 0 {
				result ^= directions[bit+t.ThreadY()*quasiBits]
			}
			data >>= 1
		}
		points[t.ThreadY()*n+i] = float32(result+1) * quasiScale
	}
}

// moro returns the number below which a normally distributed one is with a probability of x, in units of 2^-32, by the
// approximation of Moro (1995).
func moro(x uint32) float32 {
	negate := false
	if x >= 0x80000000 {
		x = 0xffffffff - x
		negate = true
	}
	p := float32(x)*(1.0/4294967296) + 0.5/4294967296
	y := p - 0.5
	var z float32
	if p > 0.08 {
		z = y * y
		z = y * (((-25.44106049637*z+41.39119773534)*z-18.61500062529)*z + 2.50662823884) /
			((((3.13082909833*z-21.06224101826)*z+23.08336743743)*z-8.4735109309)*z + 1)
	} else {
		z = math32.Log(-math32.Log(p))
		z = -(0.337475482272615 + z*(0.976169019091719+z*(0.160797971491821+z*(2.76438810333863e-2+z*(3.8405729373609e-3+
			z*(3.951896511919e-4+z*(3.21767881768e-5+z*(2.888167364e-7+z*3.960315187e-7))))))))
	}
	if negate {
		return -z
	}
	return z
}

// quasiNormal stores n equally spaced quantiles of the normal distribution: the second kernel of CUDA's
// quasirandomGenerator.
//
//gpu:kernel
//gpu:block 128
func quasiNormal(t gpu.Thread, quantiles []float32, n int) {
	distance := uint32(0xffffffff) / uint32(n+1)
	for i := t.GlobalX(); i < n; i += t.BlockDimX() * t.GridDimX() {
		quantiles[i] = moro(uint32(i+1) * distance)
	}
}

// newQuasirandom prepares n points, and n quantiles.
func newQuasirandom(b *harness.Bench, n int) harness.Work {
	directions := harness.Input(b, sobol())
	points, quantiles := harness.Result(b, quasiDimensions*n, float32(-1)), harness.Result(b, n, harness.NaN[float32]())
	g := device.Grid{Blocks: device.Dim{X: 128}, Block: device.Dim{X: 128, Y: quasiDimensions}}
	return harness.Work{
		Ours: []harness.Launch{
			harness.Of("quasirandom", Quasirandom, g, directions, points, harness.ByValue(uint32(0)), harness.ByValue(n)),
			harness.Of("quasiNormal", QuasiNormal, device.Grid{Blocks: device.Dim{X: 128}, Block: device.Dim{X: 128}}, quantiles, harness.ByValue(n)),
		},
		Check: func() error {
			err := harness.Exactly(points.Host, func(i int) float32 {
				result, dimension := uint32(0), i/n
				for bits := uint32(i % n); bits != 0; bits &= bits - 1 {
					result ^= directions.Host[dimension*quasiBits+trailing(bits)]
				}
				return float32(result+1) * quasiScale
			})
			if err != nil {
				return err
			}
			return harness.Compare(harness.Comparison{Relative: 1e-5, Scale: 1}, quantiles.Host, func(i int) float64 {
				p := (float64(uint32(i+1)*(0xffffffff/uint32(n+1))) + 0.5) / (1 << 32)
				return math.Sqrt2 * math.Erfinv(2*p-1)
			})
		},
	}
}

func trailing(x uint32) int { return bits.TrailingZeros32(x) }

// sobol returns the direction numbers of Sobol's sequence (1967) in three dimensions: those of van der Corput's
// sequence, and those of the polynomials x+1 and x^2+x+1.
func sobol() []uint32 {
	numbers := make([]uint32, quasiDimensions*quasiBits)
	first, second, third := numbers[:quasiBits], numbers[quasiBits:2*quasiBits], numbers[2*quasiBits:]
	for i := range quasiBits {
		first[i] = 1 << (quasiBits - 1 - i)
		switch {
		case i == 0:
			second[i], third[i] = first[0], first[0]
		case i == 1:
			second[i], third[i] = second[0]^second[0]>>1, 3*first[1]
		default:
			second[i], third[i] = second[i-1]^second[i-1]>>1, third[i-1]^third[i-2]^third[i-2]>>2
		}
	}
	return numbers
}
