package prim_test

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/prim"
)

var little = binary.LittleEndian

// drawn returns the random bits of number e of a sequence, where each counter gives perDraw numbers, and the
// number's place among these. It follows the documentation of the layout: 32 counters form a group.
func drawn(seed, e uint64, what uint32, perDraw uint64) (r [4]uint32, place int) {
	group, rest := e/(32*perDraw), e%(32*perDraw)
	c := 32*group + rest%32
	return gpu.Philox4x32([4]uint32{uint32(c), uint32(c >> 32), what}, [2]uint32{uint32(seed), uint32(seed >> 32)}), int(rest / 32)
}

// sequences are some, with offsets that are no multiples of anything, and large ones.
var sequences = []prim.Sequence{{}, {Seed: 42}, {Seed: 1 << 40, Offset: 3}, {Seed: math.MaxUint64, Offset: 5<<33 + 77}}

// filled returns n elements that fill has filled.
func filled[T any](b *bench, n int, fill func(x device.Slice[T]) error) []T {
	b.Helper()
	x := put(b, make([]T, n))
	if err := fill(x); err != nil {
		b.Fatal(err)
	}
	return get(b, x)
}

func TestUniform(t *testing.T) {
	everywhere(t, func(b *bench) {
		for _, from := range sequences {
			for _, n := range []int{0, 1, 31, 128, 1000} {
				single := filled(b, n, func(x device.Slice[float32]) error { return prim.Uniform(b.Stream, x, from) })
				for i, got := range single {
					r, place := drawn(from.Seed, from.Offset+uint64(i), 0, 4)
					if want := gpu.Uniform32(r[place]); got != want {
						b.Fatalf("%+v: number %d of float32 is %v, want %v", from, i, got, want)
					}
				}
				double := filled(b, n, func(x device.Slice[float64]) error { return prim.Uniform(b.Stream, x, from) })
				for i, got := range double {
					r, place := drawn(from.Seed, from.Offset+uint64(i), 1, 2)
					if want := gpu.Uniform64(r[2*place], r[2*place+1]); got != want {
						b.Fatalf("%+v: number %d of float64 is %v, want %v", from, i, got, want)
					}
				}
			}
		}
	})
}

// TestNormal compares with the method of Box and Muller by package math.
func TestNormal(t *testing.T) {
	everywhere(t, func(b *bench) {
		for _, from := range sequences {
			single := filled(b, 1000, func(x device.Slice[float32]) error {
				return prim.Normal(b.Stream, x, from, prim.Gaussian[float32]{Mean: 3, Deviation: 2})
			})
			for i, got := range single {
				r, place := drawn(from.Seed, from.Offset+uint64(i), 2, 4)
				u, v := (float64(r[place&2])+0.5)*0x1p-32, float64(r[place&2+1]>>8)*0x1p-24
				if want := 3 + 2*boxMuller(u, v, place&1); math.Abs(float64(got)-want) > 1e-5 {
					b.Fatalf("%+v: number %d of float32 is %v, want %v", from, i, got, want)
				}
			}
			double := filled(b, 1000, func(x device.Slice[float64]) error {
				return prim.Normal(b.Stream, x, from, prim.Gaussian[float64]{Mean: -1, Deviation: 0.5})
			})
			for i, got := range double {
				r, place := drawn(from.Seed, from.Offset+uint64(i), 3, 2)
				u, v := gpu.Uniform64(r[0], r[1])+0x1p-54, gpu.Uniform64(r[2], r[3])
				if want := -1 + boxMuller(u, v, place)/2; math.Abs(got-want) > 2e-15 {
					b.Fatalf("%+v: number %d of float64 is %v, want %v", from, i, got, want)
				}
			}
		}
	})
}

func boxMuller(u, v float64, place int) float64 {
	sin, cos := math.Sincos(2 * math.Pi * v)
	return math.Sqrt(-2*math.Log(u)) * []float64{cos, sin}[place]
}

// TestNormalBits demands the same bits on every device.
func TestNormalBits(t *testing.T) {
	everywhere(t, func(b *bench) {
		h := fnv.New64a()
		for _, from := range sequences {
			for _, v := range filled(b, 3000, func(x device.Slice[float32]) error {
				return prim.Normal(b.Stream, x, from, prim.Gaussian[float32]{Mean: 0.1, Deviation: 1.7})
			}) {
				_, _ = h.Write(little.AppendUint32(nil, math.Float32bits(v)))
			}
			for _, v := range filled(b, 3000, func(x device.Slice[float64]) error {
				return prim.Normal(b.Stream, x, from, prim.Gaussian[float64]{Mean: 0.1, Deviation: 1.7})
			}) {
				_, _ = h.Write(little.AppendUint64(nil, math.Float64bits(v)))
			}
		}
		const want = 0xf2a935902a583995
		if got := h.Sum64(); got != want {
			b.Errorf("the numbers have the hash %#x, want %#x", got, uint64(want))
		}
	})
}

func TestIntegers(t *testing.T) {
	everywhere(t, func(b *bench) {
		for _, from := range sequences {
			integersOf(b, from, prim.Range[int32]{Low: -3, High: 5})
			integersOf(b, from, prim.Range[uint32]{High: math.MaxUint32})
			integersOf(b, from, prim.Range[int32]{Low: math.MinInt32, High: math.MaxInt32})
			integersOf(b, from, prim.Range[int]{Low: -1 << 40, High: 1 << 41})
			integersOf(b, from, prim.Range[int64]{Low: math.MinInt64, High: math.MaxInt64})
			integersOf(b, from, prim.Range[uint64]{Low: 7, High: 7})
			integersOf(b, from, prim.Range[uint64]{Low: 1, High: 1<<63 + 9})
		}
	})
}

// integersOf compares integers with products of large numbers.
func integersOf[T int | int32 | int64 | uint32 | uint64](b *bench, from prim.Sequence, in prim.Range[T]) {
	b.Helper()
	wide := reflect.TypeFor[T]().Size() == 8
	span := new(big.Int).Sub(bigOf(in.High), bigOf(in.Low))
	span.Add(span, big.NewInt(1))
	for i, got := range filled(b, 500, func(x device.Slice[T]) error { return prim.Integers(b.Stream, x, from, in) }) {
		e := from.Offset + uint64(i)
		r, place := drawn(from.Seed, e, 4, 2)
		words := r[2*place : 2*place+2]
		if wide {
			r, _ = drawn(from.Seed, e, 5, 1)
			words = r[:]
		}
		random := new(big.Int)
		for _, w := range words {
			random.Add(random.Lsh(random, 32), big.NewInt(int64(w)))
		}
		want := random.Rsh(random.Mul(random, span), uint(32*len(words)))
		if want.Add(want, bigOf(in.Low)); bigOf(got).Cmp(want) != 0 {
			b.Fatalf("%+v in %+v: number %d is %v, want %v", from, in, i, got, want)
		}
	}
}

func bigOf[T int | int32 | int64 | uint32 | uint64](v T) *big.Int {
	if v < 0 {
		return big.NewInt(int64(v))
	}
	return new(big.Int).SetUint64(uint64(v))
}

// TestRandomMoments looks at means and variances of many numbers, and at how often integers occur.
func TestRandomMoments(t *testing.T) {
	everywhere(t, func(b *bench) {
		n := 100000
		from := prim.Sequence{Seed: 7}
		moments(b, filled(b, n, func(x device.Slice[float32]) error { return prim.Uniform(b.Stream, x, from) }), 0.5, 1.0/12)
		moments(b, filled(b, n, func(x device.Slice[float64]) error { return prim.Uniform(b.Stream, x, from) }), 0.5, 1.0/12)
		moments(b, filled(b, n, func(x device.Slice[float32]) error {
			return prim.Normal(b.Stream, x, from, prim.Gaussian[float32]{Mean: 3, Deviation: 2})
		}), 3, 4)
		normal := filled(b, n, func(x device.Slice[float64]) error {
			return prim.Normal(b.Stream, x, from, prim.Gaussian[float64]{Deviation: 1})
		})
		moments(b, normal, 0, 1)
		beyond := 0
		for _, v := range normal {
			if math.Abs(v) > 2 {
				beyond++
			}
		}
		if want := 0.0455 * float64(n); math.Abs(float64(beyond)-want) > 5*math.Sqrt(want) {
			b.Errorf("%d of %d normal numbers are beyond two deviations, want about %v", beyond, n, want)
		}
		counts := make([]float64, 6)
		for _, v := range filled(b, n, func(x device.Slice[int32]) error {
			return prim.Integers(b.Stream, x, from, prim.Range[int32]{Low: 1, High: 6})
		}) {
			counts[v-1]++
		}
		chi := 0.0
		for _, c := range counts {
			d := c - float64(n)/6
			chi += d * d / (float64(n) / 6)
		}
		if chi > 25 { // which five degrees of freedom exceed once in 7,000 times
			b.Errorf("a die falls %v", counts)
		}
	})
}

// moments demands a mean and a variance of numbers, and that neighbours are not correlated.
func moments[T float32 | float64](b *bench, x []T, mean, variance float64) {
	b.Helper()
	sum, squares, neighbours, last := 0.0, 0.0, 0.0, 0.0
	for _, v := range x {
		d := float64(v) - mean
		sum, squares, neighbours, last = sum+d, squares+d*d, neighbours+d*last, d
	}
	n := float64(len(x))
	if math.Abs(sum/n) > 5*math.Sqrt(variance/n) || math.Abs(squares/n-variance) > 0.03*variance || math.Abs(neighbours/n) > 5*variance/math.Sqrt(n) {
		b.Errorf("mean %v, variance %v, correlation of neighbours %v, want %v, %v, 0", mean+sum/n, squares/n, neighbours/n/variance, mean, variance)
	}
}

// TestRandomParts fills a slice in parts, and has a graph fill it.
func TestRandomParts(t *testing.T) {
	everywhere(t, func(b *bench) {
		of := prim.Gaussian[float32]{Deviation: 1}
		fill := func(s *device.Stream, x device.Slice[float32], offset uint64) error {
			return prim.Normal(s, x, prim.Sequence{Seed: 9, Offset: offset}, of)
		}
		whole := filled(b, 500, func(x device.Slice[float32]) error { return fill(b.Stream, x, 100) })
		parts := filled(b, 500, func(x device.Slice[float32]) error {
			return errors.Join(fill(b.Stream, x.Slice(0, 33), 100), fill(b.Stream, x.Slice(33, 400), 133), fill(b.Stream, x.Slice(400, 500), 500))
		})
		if !slices.Equal(whole, parts) {
			b.Error("a slice that is filled in parts has other numbers")
		}
		x := put(b, make([]float32, 500))
		g, err := b.Device().Capture(func(s *device.Stream) error { return fill(s, x, 100) })
		if errors.Is(err, device.ErrUnsupported) {
			return
		}
		if err := errors.Join(err, g.Launch(b.Stream)); err != nil {
			b.Fatal(err)
		}
		if !slices.Equal(get(b, x), whole) {
			b.Error("a graph fills with other numbers")
		}
		if err := g.Close(); err != nil {
			b.Error(err)
		}
	})
}

func TestRandomMistakes(t *testing.T) {
	everywhere(t, func(b *bench) {
		x := put(b, make([]int32, 10))
		if err := prim.Integers(b.Stream, x, prim.Sequence{}, prim.Range[int32]{Low: 3, High: 2}); !errors.Is(err, device.ErrRange) {
			b.Errorf("an empty range: %v", err)
		}
		_ = b.Synchronize(b.Context())
		if err := prim.Integers(b.Stream, x, prim.Sequence{Offset: math.MaxUint64 - 5}, prim.Range[int32]{}); !errors.Is(err, device.ErrRange) {
			b.Errorf("an offset that is too large: %v", err)
		}
		_ = b.Synchronize(b.Context())
	})
}
