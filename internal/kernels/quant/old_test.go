package quant

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestOldGPU multiplies on a GPU without the instructions of compute capability 8.0, as GPUs of Vulkan are: single vectors with the kernel
// lone, whose vector fills the shared memory in the longest rows, and others with the kernels for CPUs. Each format has a quarter of the products.
func TestOldGPU(t *testing.T) {
	open := func() (*device.Device, error) {
		return ptxinterp.OpenWith(ptxinterp.Options{Capability: device.Capability{Major: 7}, Checks: ptxinterp.Checked().Checks})
	}
	for format, f := range formats {
		t.Run(format, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for rows := 1; rows <= 3; rows++ {
				if sweep.Every(4, int(f)+rows) {
					multiplyTest[float32, float32](t, s, f, trial{Shape{35, 288}, rows, true})
				}
				if sweep.Every(4, int(f)+rows+2) {
					multiplyTest[dtype.BF16, dtype.BF16](t, s, f, trial{Shape{48, 1056}, rows, false})
				}
			}
			if sweep.Every(4, int(f)) {
				multiplyTest[float32, float32](t, s, f, trial{Shape{18, 13024}, 1, false})
				multiplyNorm(t, s, f, Shape{67, 288}.in(f))
			}
			if sweep.Every(4, int(f)+2) {
				multiplyTest[dtype.BF16, float32](t, s, f, trial{Shape{18, 13024}, 1, true})
				multiplyNorm(t, s, f, Shape{40, 2048}.in(f))
			}
		})
	}
}

// TestOldPlans tests that the plans for all lengths of rows fit in 48 KiB of shared memory.
func TestOldPlans(t *testing.T) {
	const limit = 48 << 10
	for name, f := range formats {
		for blocks := chunkSize; blocks < 4000; blocks += 1 + blocks/50 {
			m := Matrix{Shape: Shape{Rows: 16, Columns: blocks * BlockSize}, Format: f}
			p := newPlan[float32](Form{fewThreads, 1}, m, 1)
			p.kernel = fewOf(f, 1)
			p = p.sliced(m, 1, limit)
			if last := blocks - (p.slices-1)*p.share; p.share < chunkSize || last < chunkSize || last > p.share || p.shared() > limit {
				t.Fatalf("%s, %d blocks: %d slices of %d blocks, %d bytes", name, blocks, p.slices, p.share, p.shared())
			}
		}
	}
}
