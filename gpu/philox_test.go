package gpu_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// TestPhiloxKnownAnswers uses the test vectors of Random123, the authors' library.
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{
			[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := gpu.Philox4x32(c.counter, c.key); got != c.want {
			t.Errorf("counter %#x, key %#x: %#x, want %#x", c.counter, c.key, got, c.want)
		}
	}
}

func TestUniform(t *testing.T) {
	for bits, want := range map[uint32]float32{0: 0, 255: 0, 256: 0x1p-24, 1 << 31: 0.5, math.MaxUint32: 1 - 0x1p-24} {
		if got := gpu.Uniform32(bits); got != want {
			t.Errorf("Uniform32(%#x) is %v, want %v", bits, got, want)
		}
	}
	for bits, want := range map[[2]uint32]float64{{}: 0, {0, 1 << 11}: 0x1p-53, {1 << 31}: 0.5, {math.MaxUint32, math.MaxUint32}: 1 - 0x1p-53} {
		if got := gpu.Uniform64(bits[0], bits[1]); got != want {
			t.Errorf("Uniform64(%#x) is %v, want %v", bits, got, want)
		}
	}
}

// TestUniformMean checks that the mean of many numbers is near 1/2 and their mean square near 1/3.
func TestUniformMean(t *testing.T) {
	const n = 1 << 16
	var sum, squares float64
	for i := range uint32(n) {
		for _, r := range gpu.Philox4x32([4]uint32{i}, [2]uint32{7, 8}) {
			x := float64(gpu.Uniform32(r))
			sum, squares = sum+x, squares+x*x
		}
	}
	if mean, square := sum/(4*n), squares/(4*n); math.Abs(mean-0.5) > 0.003 || math.Abs(square-1./3) > 0.003 {
		t.Errorf("mean %v, mean square %v", mean, square)
	}
}

func ExamplePhilox4x32() {
	const seed = 42
	for thread := range uint32(3) {
		r := gpu.Philox4x32([4]uint32{thread}, [2]uint32{seed})
		fmt.Printf("%.3f %.3f\n", gpu.Uniform32(r[0]), gpu.Uniform32(r[1]))
	}
	// Output:
	// 0.613 0.469
	// 0.988 0.327
	// 0.826 0.658
}
