package public

import (
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// mriChunk is the number of samples that a launch of mriQ adds.
const mriChunk = 1024

// mriSample is a sample of the scanner: its place in frequency space and its squared magnitude.
type mriSample struct{ kx, ky, kz, magnitude float32 }

// mriMagnitude stores the squared magnitudes of the samples: the first kernel of Parboil's mri-q, with blocks of 512
// threads.
//
//gpu:kernel
//gpu:block 512
func mriMagnitude(t gpu.Thread, re, im []float32, samples []mriSample) {
	i := t.GlobalX()
	if i < len(samples) {
		samples[i].magnitude = re[i]*re[i] + im[i]*im[i]
	}
}

// mriQ adds the contributions of some samples to each voxel's entry of the matrix Q. It is the second kernel of Parboil's mri-q (Stone and others
// 2008), with a thread for each voxel and blocks of 256. In Parboil the samples of a launch are in constant memory; here, all samples are in global
// memory, in Go and in CUDA C++.
//
//gpu:kernel
//gpu:block 256
func mriQ(t gpu.Thread, samples []mriSample, x, y, z, qr, qi []float32, start int) {
	i := t.GlobalX()
	if i >= len(qr) {
		return
	}
	px, py, pz, sumR, sumI := x[i], y[i], z[i], qr[i], qi[i]
	for k := start; k < start+mriChunk; k++ {
		s := samples[k]
		sin, cos := math32.Sincos(2 * math.Pi * (s.kx*px + s.ky*py + s.kz*pz))
		sumR += s.magnitude * cos
		sumI += s.magnitude * sin
	}
	qr[i], qi[i] = sumR, sumI
}

// newMRIQ prepares n voxels and 2048 samples.
func newMRIQ(b *harness.Bench, n int) harness.Work {
	const count = 2 * mriChunk
	re, im := harness.Input(b, harness.Random(b, count, harness.Signed)), harness.Input(b, harness.Random(b, count, harness.Signed))
	samples := harness.Input(b, harness.Random(b, count, func(r *rand.Rand, i int) mriSample {
		return mriSample{kx: harness.Signed(r, i), ky: harness.Signed(r, i), kz: harness.Signed(r, i)}
	}))
	x, y, z := harness.Input(b, harness.Random(b, n, harness.Signed)), harness.Input(b, harness.Random(b, n, harness.Signed)), harness.Input(b, harness.Random(b, n, harness.Signed))
	zeros, qr, qi := harness.Scratch[float32](b, n), harness.Result(b, n, harness.NaN[float32]()), harness.Result(b, n, harness.NaN[float32]())
	ls := []harness.Launch{harness.Of("mriMagnitude", MriMagnitude, device.Cover(count, 512), re, im, samples)}
	for start := 0; start < count; start += mriChunk {
		ls = append(ls, harness.Of("mriQ", MriQ, device.Cover(n, 256), samples, x, y, z, qr, qi, harness.ByValue(start)))
	}
	want := func(i int) (wantR, wantI float64) {
		for k, s := range samples.Host {
			magnitude := float64(re.Host[k])*float64(re.Host[k]) + float64(im.Host[k])*float64(im.Host[k])
			sin, cos := math.Sincos(2 * math.Pi * (float64(s.kx)*float64(x.Host[i]) + float64(s.ky)*float64(y.Host[i]) + float64(s.kz)*float64(z.Host[i])))
			wantR, wantI = wantR+magnitude*cos, wantI+magnitude*sin
		}
		return wantR, wantI
	}
	return harness.Work{
		Ours: ls,
		Restore: func(s *device.Stream) error {
			if err := restore(qr, zeros)(s); err != nil {
				return err
			}
			return restore(qi, zeros)(s)
		},
		Check: func() error {
			c := harness.Comparison{Relative: 1e-5, Scale: 100, Most: 1 << 12}
			if err := harness.Compare(c, qr.Host, func(i int) float64 { r, _ := want(i); return r }); err != nil {
				return err
			}
			return harness.Compare(c, qi.Host, func(i int) float64 { _, m := want(i); return m })
		},
	}
}
