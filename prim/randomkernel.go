package prim

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	drawWidth = 256 // threads of a block
	// drawLanes is how many counters form a group. Number j of the counters of a group lie side by side in memory,
	// followed by number j+1 of them: so neighbouring threads write to neighbouring elements.
	drawLanes = 32
)

// source is where a launch draws from.
type source struct {
	seed   [2]uint32
	first  uint64 // counter of thread 0
	offset uint64 // number of element 0
}

// Which numbers are drawn, as a part of the counter.
const (
	drawUniform32 = iota
	drawUniform64
	drawNormal32
	drawNormal64
	drawIntegers32
	drawIntegers64
)

// drawn returns the bits of a thread's counter, and the element that its first number belongs to, which may be
// outside of the destination. The next numbers belong to the elements drawLanes apart.
func (d *source) drawn(t gpu.Thread, what uint32, perDraw uint64) (r [4]uint32, first int) {
	c := d.first + uint64(t.GlobalX())
	r = gpu.Philox4x32([4]uint32{uint32(c), uint32(c >> 32), what}, d.seed)
	return r, int(c/drawLanes*drawLanes*perDraw + c%drawLanes - d.offset)
}

// keepAt stores v in element i, if there is one.
func keepAt[T any](x []T, i int, v T) {
	if uint(i) < uint(len(x)) {
		x[i] = v
	}
}

//gpu:kernel
//gpu:block 256
//gpu:instance uniform32 = uniforms32[float32]
func uniforms32[F float32](t gpu.Thread, x []F, d source) {
	r, i := d.drawn(t, drawUniform32, 4)
	for j := range r {
		keepAt(x, i+j*drawLanes, F(gpu.Uniform32(r[j])))
	}
}

//gpu:kernel
//gpu:block 256
//gpu:instance uniform64 = uniforms64[float64]
func uniforms64[F float64](t gpu.Thread, x []F, d source) {
	r, i := d.drawn(t, drawUniform64, 2)
	keepAt(x, i, F(gpu.Uniform64(r[0], r[1])))
	keepAt(x, i+drawLanes, F(gpu.Uniform64(r[2], r[3])))
}

//gpu:kernel
//gpu:block 256
//gpu:instance normal32 = normals32[float32]
func normals32[F float32](t gpu.Thread, x []F, d source, of Gaussian[float32]) {
	r, i := d.drawn(t, drawNormal32, 4)
	for j := 0; j < 4; j += 2 {
		a, b := gauss32(r[j], r[j+1])
		keepAt(x, i+j*drawLanes, F(float32(a*of.Deviation)+of.Mean))
		keepAt(x, i+(j+1)*drawLanes, F(float32(b*of.Deviation)+of.Mean))
	}
}

//gpu:kernel
//gpu:block 256
//gpu:instance normal64 = normals64[float64]
func normals64[F float64](t gpu.Thread, x []F, d source, of Gaussian[float64]) {
	r, i := d.drawn(t, drawNormal64, 2)
	a, b := gauss64(uint64(r[0])<<32|uint64(r[1]), uint64(r[2])<<32|uint64(r[3]))
	keepAt(x, i, F(float64(a*of.Deviation)+of.Mean))
	keepAt(x, i+drawLanes, F(float64(b*of.Deviation)+of.Mean))
}

// scale is a range of integers: low, and how far the last one is from it.
type scale[T uint32 | uint64] struct{ low, span T }

//gpu:kernel
//gpu:block 256
//gpu:instance integers32 = integersOf32[uint32]
func integersOf32[U uint32](t gpu.Thread, x []U, d source, in scale[uint32]) {
	r, i := d.drawn(t, drawIntegers32, 2)
	keepAt(x, i, U(in.low+within32(r[0], r[1], in.span)))
	keepAt(x, i+drawLanes, U(in.low+within32(r[2], r[3], in.span)))
}

//gpu:kernel
//gpu:block 256
//gpu:instance integers64 = integersOf64[uint64]
func integersOf64[U uint64](t gpu.Thread, x []U, d source, in scale[uint64]) {
	r, i := d.drawn(t, drawIntegers64, 1)
	keepAt(x, i, U(in.low+within64(uint64(r[0])<<32|uint64(r[1]), uint64(r[2])<<32|uint64(r[3]), in.span)))
}

// within32 returns a number from 0 to span: the random number of 64 bits, as a fraction, times span+1.
func within32(high, low, span uint32) uint32 {
	product, _ := bits.Mul64(uint64(high)<<32|uint64(low), uint64(span)+1)
	return uint32(product)
}

// within64 is within32 for a random number of 128 bits.
func within64(high, low, span uint64) uint64 {
	// The product with span+1 is that with span, plus the number itself.
	carried, bottom := bits.Mul64(low, span)
	top, middle := bits.Mul64(high, span)
	middle, carry := bits.Add64(middle, carried, 0)
	top += carry
	_, carry = bits.Add64(bottom, low, 0)
	_, carry = bits.Add64(middle, high, carry)
	return top + carry
}

// gauss32 makes two independent normal numbers of random bits (Box and Muller, "A Note on the Generation of
// Random Normal Deviates", 1958).
func gauss32(a, b uint32) (x, y float32) {
	u := float32(float32(a)*0x1p-32) + 0x1p-33 // in (0, 1]
	r := math32.Sqrt(float32(-2 * math32.Log(u)))
	sin, cos := math32.Sincos(float32(float32(b>>8) * (2 * math.Pi * 0x1p-24)))
	return float32(r * cos), float32(r * sin)
}

// gauss64 is gauss32 in float64.
func gauss64(a, b uint64) (x, y float64) {
	u := float64(float64(a>>11)*0x1p-53) + 0x1p-54 // in (0, 1]
	r := math.Sqrt(float64(-2 * logarithm(u)))
	sin, cos := turn(float64(float64(b>>11) * 0x1p-53))
	return float64(r * cos), float64(r * sin)
}

// logarithm returns the natural logarithm of u, in (0, 1] and no subnormal number, within 2 units in the last place or,
// near 1, 1e-16. Package math's has other bits on other machines; here each operation is rounded as IEEE 754 says.
func logarithm(u float64) float64 {
	const rootOfHalf = 0x3fe6a09e667f3bcd // its bits
	b := math.Float64bits(u)
	exponent := (b - rootOfHalf) &^ (1<<52 - 1)
	f := math.Float64frombits(b-exponent) - 1 // of a significand from sqrt(1/2) to sqrt(2)
	s := f / (2 + f)
	z := float64(s * s) // at most 0.0295: log(1+f) = 2*(s + s**3/3 + s**5/5 + ...)
	p := float64(z*(1.0/23)) + 1.0/21
	p = float64(z*p) + 1.0/19
	p = float64(z*p) + 1.0/17
	p = float64(z*p) + 1.0/15
	p = float64(z*p) + 1.0/13
	p = float64(z*p) + 1.0/11
	p = float64(z*p) + 1.0/9
	p = float64(z*p) + 1.0/7
	p = float64(z*p) + 1.0/5
	p = float64(z*p) + 1.0/3
	return float64(float64(int64(exponent)>>52)*math.Ln2) + (float64(2*float64(s*float64(z*p))) + float64(2*s))
}

// turn returns the sine and the cosine of v turns, v in [0, 1), within 1e-16, by their series for the nearest quarter.
func turn(v float64) (sin, cos float64) {
	t := 4 * v
	quarter := uint32(t + 0.5)
	x := float64((t - float64(quarter)) * (math.Pi / 2)) // from -pi/4 to pi/4
	y := float64(x * x)
	s := float64(y*(1.0/355687428096000)) - 1.0/1307674368000
	s = float64(y*s) + 1.0/6227020800
	s = float64(y*s) - 1.0/39916800
	s = float64(y*s) + 1.0/362880
	s = float64(y*s) - 1.0/5040
	s = float64(y*s) + 1.0/120
	s = float64(y*s) - 1.0/6
	s = float64(float64(y*s)*x) + x
	c := float64(y*(1.0/20922789888000)) - 1.0/87178291200
	c = float64(y*c) + 1.0/479001600
	c = float64(y*c) - 1.0/3628800
	c = float64(y*c) + 1.0/40320
	c = float64(y*c) - 1.0/720
	c = float64(y*c) + 1.0/24
	c = float64(y*c) - 0.5
	c = float64(y*c) + 1
	switch quarter & 3 {
	case 0:
		return s, c
	case 1:
		return c, -s
	case 2:
		return -s, -c
	default:
		return -c, s
	}
}
