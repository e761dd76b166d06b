package array

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// conversion is the types of transform's elements.
type conversion struct{ X, Out dtype.Type }

// transform stores elements at positions A as ones of another type at positions C.
//
//gpu:kernel
//gpu:block 128
func transform(t gpu.Thread, x8, out8 []uint8, x16, out16 []uint16, x32, out32 []uint32, x64, out64 []uint64, of conversion, p places) {
	for i := first(t); i < p.N; i += uint32(t.GridDimX()) * block {
		a, _, c := p.at(i)
		var f float64
		var n int64
		switch of.X {
		case dtype.Int32:
			n = int64(int32(x32[a]))
			f = float64(n)
		case dtype.Int64:
			n = int64(x64[a])
			f = float64(n)
			if of.Out != dtype.Float64 {
				f = float64(sticky(n))
			}
		case dtype.Bool, dtype.Uint8:
			n = int64(x8[a])
			f = float64(n)
		case dtype.Float32:
			f = float64(math.Float32frombits(x32[a]))
			n = saturated(of.Out, f)
		case dtype.Float64:
			f = math.Float64frombits(x64[a])
			n = saturated(of.Out, f)
		default:
			f = float64((&floats{x16, nil}).load(of.X, a))
			n = saturated(of.Out, f)
		}
		switch of.Out {
		case dtype.Int32:
			out32[c] = uint32(n)
		case dtype.Int64:
			out64[c] = uint64(n)
		case dtype.Uint8:
			out8[c] = uint8(n)
		case dtype.Bool:
			out8[c] = uint8(truth[int64](f != 0))
		case dtype.Float32:
			out32[c] = math.Float32bits(float32(f))
		case dtype.Float64:
			out64[c] = math.Float64bits(f)
		default:
			(&floats{out16, nil}).store(of.Out, c, odd(f))
		}
	}
}

// sticky returns n if float64 represents n exactly. Otherwise it returns one of the two neighbouring multiples of 2048, the odd one unless
// n is a multiple. Like odd, it keeps a second rounding, to a float of at most 24 bits, from being one from halfway when n is not.
func sticky(n int64) int64 {
	const exact, low = 1 << 53, 1<<11 - 1
	if n >= -exact && n <= exact {
		return n
	}
	return n&^low | (n&low+low)&(low+1)
}

// odd rounds x to a float32, and to the neighbour with an odd significand if x is between two. Rounded again to half precision, that
// gives the nearest number to x (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
func odd(x float64) float32 {
	y := float32(x)
	if d := float64(y); d != x && x == x && math.Float32bits(y)&1 == 0 {
		if (d < x) == (x > 0) { // y is nearer to 0 than x is
			return math.Float32frombits(math.Float32bits(y) + 1)
		}
		return math.Float32frombits(math.Float32bits(y) - 1)
	}
	return y
}

// saturated returns x without its fraction, or the nearest number of an integer type, or 0 for NaN.
func saturated(of dtype.Type, x float64) int64 {
	low, high := float64(math.MinInt64), float64(math.MaxInt64)
	switch of {
	case dtype.Int32:
		low, high = math.MinInt32, math.MaxInt32
	case dtype.Uint8:
		low, high = 0, math.MaxUint8
	}
	switch {
	case x != x:
		return 0
	case x <= low:
		return int64(low)
	case x < high:
		return int64(x)
	case of == dtype.Int32 || of == dtype.Uint8:
		return int64(high)
	}
	return math.MaxInt64
}

// Convert stores the elements of x as elements of out's type, with the same shape. Numbers are rounded to the nearest float, to even from
// halfway. A float becomes an integer without its fraction, or the nearest integer of the type, or 0 if it is NaN; an integer keeps
// its low bits. A number is true if it is not 0.
func Convert(s *device.Stream, shape []int, out, x Array) error {
	if err := supported(out.Type, x.Type); err != nil {
		return err
	}
	p, err := placesOf(shape, &x, new(Array), &out)
	if err != nil || p.N == 0 {
		return err
	}
	return Transform(s, blocksFor(s, p.N), elements[uint8](&x), elements[uint8](&out), elements[uint16](&x), elements[uint16](&out),
		elements[uint32](&x), elements[uint32](&out), elements[uint64](&x), elements[uint64](&out), conversion{x.Type, out.Type}, p)
}
