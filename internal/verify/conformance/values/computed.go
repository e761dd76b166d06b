package values

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// Tables that functions compute when the program starts, or here: when it is compiled.
var (
	sines              = makeSines()
	remainders         = remaindersOf(0xedb88320)
	primesBelow        = sieve(200)
	strides, fractions = makeBoth(9)
	mixedList          = [...]float64{1, math.Sqrt(2), math.Exp(math.Pi), hypotenuse(3, 5), 1 / float64(len(sines))}
	bends              = []bend{bendOf(1), {Name: 7, At: [2]int16{-1, 2}}, bendOf(-3)}
	longest            = primesBelow[len(primesBelow)-1] * 2
	sorted             = func() [6]int8 {
		x := [6]int8{5, -128, 127, 0, -7, 3}
		s := x[:]
		for i := range s {
			for j := i; j > 0 && s[j] < s[j-1]; j-- {
				s[j], s[j-1] = s[j-1], s[j]
			}
		}
		return x
	}()
	digitsOf = textValues("3141592653589793")
)

func makeSines() (x [64]float32) {
	for i := range x {
		x[i] = float32(math.Sin(2 * math.Pi * float64(i) / float64(len(x))))
	}
	return x
}

// remaindersOf returns the table of CRC-32 for a polynomial.
func remaindersOf(polynomial uint32) (table [256]uint32) {
	for i := range table {
		r := uint32(i)
		for range 8 {
			if r&1 == 1 {
				r = r>>1 ^ polynomial
			} else {
				r >>= 1
			}
		}
		table[i] = r
	}
	return table
}

func sieve(n int) []int {
	composite := make([]bool, n)
	var primes []int
	for i := 2; i < n; i++ {
		if composite[i] {
			continue
		}
		primes = append(primes, i)
		for j := i * i; j < n; j += i {
			composite[j] = true
		}
	}
	return primes
}

func makeBoth(n int) (strides []uint16, fractions [5]float64) {
	for i := range uint16(n) {
		strides = append(strides, i*i<<3-i%5|1)
	}
	for i := range fractions {
		fractions[i] = math.Ldexp(1, -i) + float64(bits.Reverse8(uint8(i)))
	}
	return strides, fractions
}

func hypotenuse(a, b float64) float64 { return math.Sqrt(a*a + b*b) }

type bend struct {
	Name   uint8
	Inside bool
	At     [2]int16
	Weight float64
}

func bendOf(n int) (c bend) {
	c.Name, c.Inside = uint8(n), n > 0
	p := &c.At[1]
	*p = int16(n * 1000)
	c.At[0] = -*p / 7
	scale := func(x float64) float64 { return x * float64(n) }
	c.Weight = scale(math.Cbrt(2)) + math.Inf(1-2*n)*0
	if math.IsNaN(c.Weight) {
		c.Weight = math.Float64frombits(uint64(n) * 0x0123456789abcdef)
	}
	return c
}

func textValues(s string) []uint8 {
	var out []uint8
	for i := range len(s) {
		out = append(out, s[i]-'0')
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// tabulated is what a kernel reads from the tables.
type tabulated struct {
	Sine      float32
	Remainder uint32
	Prime     int
	Step      uint16
	Half      float64
	Mixed     float64
	Corner    bend
	Longest   int
	Sorted    int8
	Digit     uint8
	Lengths   int
}

// lookUp reads the tables, each at its own index.
func lookUp(i int) (r tabulated) {
	r.Sine, r.Remainder = sines[i%len(sines)], remainders[i%len(remainders)]
	r.Prime, r.Step, r.Half = primesBelow[i%len(primesBelow)], strides[i%len(strides)], fractions[i%len(fractions)]
	r.Mixed, r.Corner, r.Longest = mixedList[i%len(mixedList)], bends[i%len(bends)], longest
	r.Sorted, r.Digit = sorted[i%len(sorted)], digitsOf[i%len(digitsOf)]
	r.Lengths = len(primesBelow)*1000 + len(digitsOf)
	return r
}

//gpu:kernel
func lookUpAll(t gpu.Thread, out []tabulated) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = lookUp(i)
	}
}

func lookUps(r *check.Run) {
	const n = 300
	out := check.Make[tabulated](r, n)
	r.Launch(LookUpAll(r.Stream, device.Cover(n, 64), out))
	for i, got := range check.Get(r, out) {
		check.Compare(r, "element "+strconv.Itoa(i), got, lookUp(i))
	}
}
