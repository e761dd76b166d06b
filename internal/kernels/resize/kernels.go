package resize

import "github.com/gopherwarp/gopherwarp/gpu"

// Side is the number of pixels of a side of the square.
const Side = 224

// Fraction is the number of bits after the binary point of a weight: with 8 bits of a color, a sum fits in 32 bits.
const Fraction = 22

// source locates the pixels of a pass: pixel i of line j is at i*Along + j*Across. Last is the last one of a line.
type source struct{ Along, Across, Last, Taps int }

// colors are sums of weighted colors.
type colors struct{ r, g, b int32 }

// add adds a pixel.
func (c *colors) add(pixel uint32, weight int32) {
	c.r += int32(pixel&255) * weight
	c.g += int32(pixel>>8&255) * weight
	c.b += int32(pixel>>16&255) * weight
}

// rounded are sums of no pixels: bits that are cut off are rounded.
func rounded() colors {
	const half = 1 << (Fraction - 1)
	return colors{half, half, half}
}

// clip returns the color of a sum.
func clip(sum int32) uint32 { return uint32(max(0, min(sum>>Fraction, 255))) }

// firstPass stores Side pixels of a line in each block. Pixels have red, green and blue in their lowest bytes. windows are the first source
// pixels of the results, and then their weights, tap after tap.
//
//gpu:kernel
//gpu:block 224
func firstPass(t gpu.Thread, to, from []uint32, windows []int32, s source) {
	i, line := t.ThreadX(), t.BlockX()
	first, sum := int(windows[i]), rounded()
	for k := range s.Taps {
		sum.add(from[min(first+k, s.Last)*s.Along+line*s.Across], windows[(k+1)*Side+i])
	}
	to[line*Side+i] = clip(sum.r) | clip(sum.g)<<8 | clip(sum.b)<<16
}

// Normalization is what a color between 0 and 1 becomes: the difference to the mean, divided by the deviation. The colors are red, green
// and blue.
type Normalization struct{ Mean, Deviation [3]float32 }

// place says where the pixels of a result go: pixel i of line j is pixel j*Down + i*Right.
type place struct {
	Down, Right int
	Normalization
}

// secondPass computes the pixels of a line in each block, and stores normalized colors.
//
//gpu:kernel
//gpu:block 224
func secondPass(t gpu.Thread, to []float32, from []uint32, windows []int32, s source, p place) {
	i, line := t.ThreadX(), t.BlockX()
	first, sum := int(windows[line]), rounded()
	for k := range s.Taps {
		sum.add(from[min(first+k, s.Last)*s.Along+i*s.Across], windows[(k+1)*Side+line])
	}
	at := 3 * (line*p.Down + i*p.Right)
	for c, v := range [3]uint32{clip(sum.r), clip(sum.g), clip(sum.b)} {
		to[at+c] = (float32(v)/255 - p.Mean[c]) / p.Deviation[c]
	}
}
