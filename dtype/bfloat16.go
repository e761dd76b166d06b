package dtype

import (
	"fmt"
	"math"
	"runtime"
	"sync"
)

// BF16 is a bfloat16 number, represented by its bits: the upper half of a float32. It has the range
// of a float32 and 8 bits of precision. BF16 has no arithmetic: convert to float32, compute, and
// convert back.
type BF16 uint16

// Float32 returns h as a float32. The conversion is exact and preserves the bits of a NaN.
func (h BF16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// Float64 returns h as a float64. The conversion is exact.
func (h BF16) Float64() float64 { return float64(h.Float32()) }

// BF16From32 returns x rounded to nearest even. A value that is too large becomes an infinity.
// Every NaN becomes 0x7fff, as on NVIDIA's hardware.
func BF16From32(x float32) BF16 {
	if x != x {
		return 0x7fff
	}
	b := math.Float32bits(x)
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// BF16sFrom32 returns BF16From32 of each number. It converts long lists on all cores.
func BF16sFrom32(list []float32) []BF16 {
	const share = 1 << 18 // of a goroutine
	rounded := make([]BF16, len(list))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var done sync.WaitGroup
	for begin := 0; begin < len(list); begin += share {
		end := min(begin+share, len(list))
		free <- struct{}{}
		done.Go(func() {
			for i, x := range list[begin:end] {
				rounded[begin+i] = BF16From32(x)
			}
			<-free
		})
	}
	done.Wait()
	return rounded
}

// BF16From64 is like BF16From32 for a float64, which it rounds only once.
func BF16From64(x float64) BF16 {
	if x != x {
		return 0x7fff
	}
	return BF16(uint32(math.Float64bits(x)>>48&0x8000) | min(narrow64(x, 7, -126), 0x7f80))
}

// IsNaN reports whether h is a NaN.
func (h BF16) IsNaN() bool { return h&0x7fff > 0x7f80 }

// IsInf reports whether h is an infinity, according to sign. If sign > 0, IsInf reports whether h
// is positive infinity. If sign < 0, IsInf reports whether h is negative infinity. If sign == 0,
// IsInf reports whether h is either infinity.
func (h BF16) IsInf(sign int) bool { return sign >= 0 && h == 0x7f80 || sign <= 0 && h == 0xff80 }

// String returns the shortest decimal number that BF16From64 converts to h.
func (h BF16) String() string {
	return shortest(h.Float64(), func(x float64) bool { return BF16From64(x) == h })
}

// Format implements fmt.Formatter. It formats h as fmt formats floats, except that %v and %g
// without a precision print h.String().
func (h BF16) Format(s fmt.State, verb rune) { format(s, verb, h.Float64(), h.String) }
