package rope

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const anglesThreads = 32 // of a block

// storeAngles stores the cosines and sines of a token with each block.
//
//gpu:kernel
//gpu:block 32
func storeAngles(t gpu.Thread, positions []int32, frequencies, angles []float32) {
	token, n := t.BlockX(), len(frequencies)
	position := float32(positions[token])
	first := 2 * token * n
	second := first + n
	cosines, sines := angles[first:first+n], angles[second:second+n]
	for i := t.ThreadX(); i < n; i += anglesThreads {
		sin, cos := math32.Sincos(position * frequencies[i])
		cosines[i], sines[i] = cos, sin
	}
}

// Angles stores for each position the cosines, then the sines of its products with all frequencies: 2*len(frequencies) numbers.
// The products are rounded to float32. Any position is allowed.
func Angles(s *device.Stream, positions device.Slice[int32], frequencies, angles device.Slice[float32]) error {
	if angles.Len() != 2*positions.Len()*frequencies.Len() {
		return fmt.Errorf("%w: %d angles of %d positions and %d frequencies", ErrShape, angles.Len(), positions.Len(), frequencies.Len())
	}
	if angles.Len() == 0 {
		return nil
	}
	return StoreAngles(s, device.Blocks{X: positions.Len()}, positions, frequencies, angles)
}
