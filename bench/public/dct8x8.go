package public

import (
	"math"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// dctSide is the side of a block of pixels and of threads.
const dctSide = 8

// dctMatrix has the cosine transform of eight numbers: row k is that of frequency k.
var dctMatrix = [dctSide * dctSide]float32{
	0.353553391, 0.353553391, 0.353553391, 0.353553391, 0.353553391, 0.353553391, 0.353553391, 0.353553391,
	0.49039264, 0.415734806, 0.277785117, 0.097545161, -0.097545161, -0.277785117, -0.415734806, -0.49039264,
	0.461939766, 0.191341716, -0.191341716, -0.461939766, -0.461939766, -0.191341716, 0.191341716, 0.461939766,
	0.415734806, -0.097545161, -0.49039264, -0.277785117, 0.277785117, 0.49039264, 0.097545161, -0.415734806,
	0.353553391, -0.353553391, -0.353553391, 0.353553391, 0.353553391, -0.353553391, -0.353553391, 0.353553391,
	0.277785117, -0.49039264, 0.097545161, 0.415734806, -0.415734806, -0.097545161, 0.49039264, -0.277785117,
	0.191341716, -0.461939766, 0.461939766, -0.191341716, -0.191341716, 0.461939766, -0.461939766, 0.191341716,
	0.097545161, -0.277785117, 0.415734806, -0.49039264, 0.49039264, -0.415734806, 0.277785117, -0.097545161,
}

// dct8x8 transforms each 8 x 8 block of an image by the discrete cosine transform (Ahmed, Natarajan and Rao 1974): the
// first kernel of CUDA's dct8x8 sample. A block of 8 x 8 threads computes the product D*X*D' in shared memory, where D
// is the matrix of the transform and X has the pixels.
//
//gpu:kernel
//gpu:block 8,8
func dct8x8(t gpu.Thread, image, frequencies []float32, width int) {
	pixels := gpu.Shared[[dctSide * dctSide]float32](t)
	half := gpu.Shared[[dctSide * dctSide]float32](t)
	x, y := t.ThreadX(), t.ThreadY()
	at := (t.BlockY()*dctSide+y)*width + t.BlockX()*dctSide + x
	pixels[y*dctSide+x] = image[at]
	t.Sync()
	var sum float32
	for i := range dctSide {
		sum += dctMatrix[y*dctSide+i] * pixels[i*dctSide+x]
	}
	half[y*dctSide+x] = sum
	t.Sync()
	sum = 0
	for i := range dctSide {
		sum += half[y*dctSide+i] * dctMatrix[x*dctSide+i]
	}
	frequencies[at] = sum
}

// newDCT8x8 prepares an image of n x n pixels; n is a multiple of 8.
func newDCT8x8(b *harness.Bench, n int) harness.Work {
	image, frequencies := harness.Input(b, harness.Random(b, n*n, harness.Between(-128, 127))), harness.Result(b, n*n, harness.NaN[float32]())
	g := plane(n, n, device.Dim{X: dctSide, Y: dctSide})
	return harness.Work{
		Ours: []harness.Launch{harness.Of("dct8x8", Dct8x8, g, image, frequencies, harness.ByValue(n))},
		Check: func() error {
			return harness.Compare(harness.Comparison{Relative: 1e-5, Scale: 100, Most: 1 << 18}, frequencies.Host, func(i int) (sum float64) {
				u, v, first := i%n%dctSide, i/n%dctSide, i/n/dctSide*dctSide*n+i%n/dctSide*dctSide
				for k := range dctSide * dctSide {
					x, y := k%dctSide, k/dctSide
					sum += float64(image.Host[first+y*n+x]) * cosine(x, u) * cosine(y, v)
				}
				return sum
			})
		},
	}
}

// cosine returns the factor of number i in the cosine transform at a frequency.
func cosine(i, frequency int) float64 {
	if frequency == 0 {
		return math.Sqrt(1.0 / dctSide)
	}
	return 0.5 * math.Cos(float64((2*i+1)*frequency)*math.Pi/(2*dctSide))
}
