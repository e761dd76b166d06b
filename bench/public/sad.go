package public

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// The search of sad: macroblocks of sadSide x sadSide pixels, offsets of up to sadRange pixels along each axis.
const (
	sadSide   = 16
	sadRange  = 16
	sadPlaces = (2*sadRange + 1) * (2*sadRange + 1)
)

// sad4 stores the sums of absolute differences between each 4 x 4 block of a frame and the blocks around its place in
// another frame: the first kernel of Parboil's sad, for H.264 video encoding. A block of 128 threads computes the 16
// blocks of a macroblock, which it holds in shared memory. Each thread computes one offset. Pixels outside the frame have the value
// of the nearest pixel.
//
//gpu:kernel
//gpu:block 128
func sad4(t gpu.Thread, frame, reference, sums []uint16, width, height int) {
	own := gpu.Shared[[sadSide * sadSide]uint16](t)
	x0, y0 := t.BlockX()*sadSide, t.BlockY()*sadSide
	for i := t.ThreadX(); i < sadSide*sadSide; i += 128 {
		own[i] = frame[(y0+i/sadSide)*width+x0+i%sadSide]
	}
	t.Sync()
	first := (t.BlockY()*t.GridDimX() + t.BlockX()) * 16 * sadPlaces
	for place := t.ThreadX(); place < sadPlaces; place += 128 {
		dx, dy := place%(2*sadRange+1)-sadRange, place/(2*sadRange+1)-sadRange
		for block := range 16 {
			bx, by := block%4*4, block/4*4
			sum := int32(0)
			for y := range 4 {
				ry := min(max(y0+by+y+dy, 0), height-1)
				for x := range 4 {
					rx := min(max(x0+bx+x+dx, 0), width-1)
					d := int32(own[(by+y)*sadSide+bx+x]) - int32(reference[ry*width+rx])
					sum += max(d, -d)
				}
			}
			sums[first+block*sadPlaces+place] = uint16(sum)
		}
	}
}

// sad8 computes the sums of each 8 x 8 block from those of its four 4 x 4 blocks. A block of 128 threads computes a
// macroblock.
//
//gpu:kernel
//gpu:block 128
func sad8(t gpu.Thread, sums, sums8 []uint16) {
	from, to := t.BlockX()*16*sadPlaces, t.BlockX()*4*sadPlaces
	for place := t.ThreadX(); place < sadPlaces; place += 128 {
		for block := range 4 {
			at := from + (block/2*8+block%2*2)*sadPlaces + place
			sums8[to+block*sadPlaces+place] = sums[at] + sums[at+sadPlaces] + sums[at+4*sadPlaces] + sums[at+5*sadPlaces]
		}
	}
}

// sad16 computes the sums of each macroblock from those of its four 8 x 8 blocks.
//
//gpu:kernel
//gpu:block 128
func sad16(t gpu.Thread, sums8, sums16 []uint16) {
	from, to := t.BlockX()*4*sadPlaces, t.BlockX()*sadPlaces
	for place := t.ThreadX(); place < sadPlaces; place += 128 {
		at := from + place
		sums16[to+place] = sums8[at] + sums8[at+sadPlaces] + sums8[at+2*sadPlaces] + sums8[at+3*sadPlaces]
	}
}

// newSAD prepares frames of n x n/2 pixels; n is a multiple of 32.
func newSAD(b *harness.Bench, n int) harness.Work {
	width, height := n, n/2
	pixel := func(r *rand.Rand, _ int) uint16 { return uint16(r.IntN(256)) }
	frame, reference := harness.Input(b, harness.Random(b, width*height, pixel)), harness.Input(b, harness.Random(b, width*height, pixel))
	blocks := width / sadSide * (height / sadSide)
	sums, sums8 := harness.Result(b, blocks*16*sadPlaces, uint16(0xffff)), harness.Scratch[uint16](b, blocks*4*sadPlaces)
	sums16 := harness.Result(b, blocks*sadPlaces, uint16(0xffff))
	g := device.Grid{Blocks: device.Dim{X: width / sadSide, Y: height / sadSide}, Block: device.Dim{X: 128}}
	line := device.Grid{Blocks: device.Dim{X: blocks}, Block: device.Dim{X: 128}}
	want := func(macroblock, x, y, side, place int) (sum uint16) {
		x0, y0 := macroblock%(width/sadSide)*sadSide+x, macroblock/(width/sadSide)*sadSide+y
		dx, dy := place%(2*sadRange+1)-sadRange, place/(2*sadRange+1)-sadRange
		for i := range side * side {
			x, y := x0+i%side, y0+i/side
			a, b := frame.Host[y*width+x], reference.Host[min(max(y+dy, 0), height-1)*width+min(max(x+dx, 0), width-1)]
			sum += max(a, b) - min(a, b)
		}
		return sum
	}
	return harness.Work{
		Ours: []harness.Launch{
			harness.Of("sad4", Sad4, g, frame, reference, sums, harness.ByValue(width), harness.ByValue(height)),
			harness.Of("sad8", Sad8, line, sums, sums8), harness.Of("sad16", Sad16, line, sums8, sums16),
		},
		Check: func() error {
			err := harness.Exactly(sums.Host, func(i int) uint16 {
				block := i / sadPlaces % 16
				return want(i/(16*sadPlaces), block%4*4, block/4*4, 4, i%sadPlaces)
			})
			if err != nil {
				return err
			}
			return harness.Exactly(sums16.Host, func(i int) uint16 { return want(i/sadPlaces, 0, 0, sadSide, i%sadPlaces) })
		},
	}
}
