package quant

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// TestWeights compares weights with those that the Python package gguf computes, bit for bit.
func TestWeights(t *testing.T) {
	text, err := os.ReadFile("testdata/weights.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		block, err := hex.DecodeString(f[1])
		if err != nil {
			t.Fatal(err)
		}
		var w [BlockSize]float32
		switch f[0] {
		case "Q4_1":
			var b BlockQ4
			if _, err := binary.Decode(block, binary.LittleEndian, &b); err != nil {
				t.Fatal(err)
			}
			w = b.Weights()
		case "Q8_0":
			var b BlockQ8
			if _, err := binary.Decode(block, binary.LittleEndian, &b); err != nil {
				t.Fatal(err)
			}
			w = b.Weights()
		}
		got, err := binary.Append(nil, binary.LittleEndian, &w)
		if err != nil {
			t.Fatal(err)
		}
		if hex.EncodeToString(got) != f[2] {
			t.Errorf("%s %s has the weights\n%x, want\n%s", f[0], f[1], got, f[2])
		}
		count[f[0]]++
	}
	if count["Q4_1"] == 0 || count["Q8_0"] == 0 {
		t.Errorf("compared %v", count)
	}
}

func random(n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), 5)) }

// blocksQ4 returns random blocks for a matrix.
func blocksQ4(s Shape) []BlockQ4 {
	r, blocks := random(s.Columns), make([]BlockQ4, s.Rows*s.Blocks())
	for i := range blocks {
		b := &blocks[i]
		b.D, b.M = dtype.F16From64(r.NormFloat64()/64), dtype.F16From64(r.NormFloat64()/8)
		for k := range b.Q {
			b.Q[k] = uint8(r.UintN(256))
		}
	}
	return blocks
}

func blocksQ8(s Shape) []BlockQ8 {
	r, blocks := random(s.Columns), make([]BlockQ8, s.Rows*s.Blocks())
	for i := range blocks {
		b := &blocks[i]
		b.D = dtype.F16From64(r.NormFloat64() / 1024)
		for k := range b.Q {
			b.Q[k] = int8(r.IntN(256) - 128)
		}
	}
	return blocks
}

func vector(n int) []float32 {
	r, x := random(n), make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// product is a matrix on a device, ready to be multiplied.
type product struct {
	s    *device.Stream
	v    Vectors
	want func() (y, scale []float64) // and the sums of the terms' magnitudes
	run  func(f Form) error
}

// upload returns a slice of a copy of host in device memory.
func upload[T any](tb testing.TB, s *device.Stream, host []T) device.Slice[T] {
	tb.Helper()
	b, err := device.Upload(s, host)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := b.Close(); err != nil {
			tb.Error(err)
		}
	})
	return b.All()
}

// newProduct returns a product of a matrix of a format.
func newProduct(tb testing.TB, s *device.Stream, format string, shape Shape) *product {
	tb.Helper()
	x := vector(shape.Columns)
	p := &product{s: s, v: Vectors{upload(tb, s, x), upload(tb, s, make([]float32, shape.Rows)), upload(tb, s, make([]float32, shape.Blocks()))}}
	var weights func() []float32
	if format == "Q4_1" {
		blocks := blocksQ4(shape)
		m, err := PackQ4(blocks, shape)
		if err != nil {
			tb.Fatal(err)
		}
		d := DeviceQ4{shape, upload(tb, s, m.Planes), upload(tb, s, m.Scales), upload(tb, s, m.Minima)}
		p.run = func(f Form) error { return d.Multiply(s, f, p.v) }
		weights = func() (w []float32) { return flatten(blocks, (*BlockQ4).Weights) }
	} else {
		blocks := blocksQ8(shape)
		m, err := PackQ8(blocks, shape)
		if err != nil {
			tb.Fatal(err)
		}
		d := DeviceQ8{shape, upload(tb, s, m.Planes), upload(tb, s, m.Scales)}
		p.run = func(f Form) error { return d.Multiply(s, f, p.v) }
		weights = func() (w []float32) { return flatten(blocks, (*BlockQ8).Weights) }
	}
	p.want = func() (y, scale []float64) {
		w := weights()
		return Multiply(w, x), Multiply(absolute(w), absolute(x))
	}
	return p
}

func flatten[B any](blocks []B, weights func(*B) [BlockSize]float32) (list []float32) {
	for i := range blocks {
		w := weights(&blocks[i])
		list = append(list, w[:]...)
	}
	return list
}

func absolute(x []float32) []float32 {
	list := make([]float32, len(x))
	for i, v := range x {
		list[i] = float32(math.Abs(float64(v)))
	}
	return list
}

// open returns a stream of a device.
func open(tb testing.TB, open func() (*device.Device, error)) *device.Stream {
	tb.Helper()
	dev, err := open()
	if err != nil {
		tb.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = dev.Close() })
	return s
}

func threads(way cpu.Threads) func() (*device.Device, error) {
	return func() (*device.Device, error) { return cpu.OpenThreads(way) }
}

// TestMultiply compares products with the reference: of float32 sums, an error of a few units in the last place of the sum of
// the magnitudes.
func TestMultiply(t *testing.T) {
	ways := map[string]func() (*device.Device, error){"vectors": cpu.Open, "scalar": threads(cpu.Scalar), "native": cpu.OpenNative, "interp": ptxinterp.Open}
	if cpu.VectorLanes() > 8 {
		ways["AVX2"] = threads(cpu.AVX2)
	}
	for name, way := range ways {
		for _, format := range []string{"Q4_1", "Q8_0"} {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := open(t, way)
				for _, shape := range []Shape{{1, 32}, {16, 64}, {40, 576}, {67, 288}} {
					p := newProduct(t, s, format, shape)
					want, scale := p.want()
					for _, f := range []Form{Tiles, Warps} {
						if err := p.run(f); err != nil {
							t.Fatal(err)
						}
						got := make([]float32, shape.Rows)
						if err := errors.Join(device.Download(s, got, p.v.Y), s.Synchronize(t.Context())); err != nil {
							t.Fatal(err)
						}
						for i := range want {
							if math.Abs(float64(got[i])-want[i]) > 1e-6*scale[i] {
								t.Fatalf("%v, form %d: row %d is %v, want %v", shape, f, i, got[i], want[i])
							}
						}
					}
				}
			})
		}
	}
}
