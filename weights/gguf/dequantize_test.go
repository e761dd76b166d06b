package gguf_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// halves are the offsets of the float16 numbers in the blocks of all types that Dequantize supports.
var halves = map[weights.Type][]int{
	weights.Q4_0: {0}, weights.Q4_1: {0, 2}, weights.Q5_0: {0}, weights.Q5_1: {0, 2}, weights.Q8_0: {0},
	weights.Q2_K: {80, 82}, weights.Q3_K: {108}, weights.Q4_K: {0, 2}, weights.Q5_K: {0, 2}, weights.Q6_K: {208},
}

// floats returns the float32 numbers of which b are the bytes.
func floats(b []byte) []float32 {
	list := make([]float32, len(b)/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return list
}

// sameBits reports the first difference between two lists of numbers. All NaNs are equal.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: number %d is %v (%#x), want %v (%#x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// dequantized returns the elements of data.
func dequantized(t *testing.T, typ weights.Type, data []byte) []float32 {
	t.Helper()
	elements, size := typ.Block()
	w := make([]float32, len(data)/size*elements)
	if err := gguf.Dequantize(typ, w, data); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestVectors compares results with those of the Python package gguf, bit for bit.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		typ, ok := weights.ParseType(f[1])
		from, err := hex.DecodeString(f[2])
		to, err2 := hex.DecodeString(f[3])
		if !ok || err != nil || err2 != nil {
			t.Fatal(f[1], err, err2)
		}
		count[f[0]+" "+f[1]]++
		if f[0] == "dequantize" {
			sameBits(t, f[1], dequantized(t, typ, from), floats(to))
			continue
		}
		got, err := gguf.Quantize(typ, nil, floats(from))
		if err != nil || !bytes.Equal(got, to) {
			t.Errorf("%s: %v\n%x, want\n%x", f[1], err, got, to)
		}
	}
	if len(count) != len(halves)+3 {
		t.Errorf("compared %v", count)
	}
}

// randomBlocks returns blocks of random bytes with random scales, which are finite except that about one in a thousand is any float16.
func randomBlocks(typ weights.Type, n int, r *rand.Rand) []byte {
	_, size := typ.Block()
	data := make([]byte, n*size)
	for i := range data {
		data[i] = uint8(r.UintN(256))
	}
	for i := range n {
		for _, at := range halves[typ] {
			if i%1000 != 999 {
				data[i*size+at+1] &= 0xbf // an exponent below that of 2
			}
		}
	}
	return data
}

// TestPythonDequantize compares many random blocks with the Python package gguf, bit for bit.
func TestPythonDequantize(t *testing.T) {
	python := needPython(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range slices.AppendSeq([]weights.Type{weights.BF16}, maps.Keys(halves)) {
		data := randomBlocks(typ, 4096, r)
		want := floats(python.run(t, data, "dequantize", typ.String()))
		sameBits(t, typ.String(), dequantized(t, typ, data), want)
	}
}

// TestPythonQuantize compares random weights with the Python package gguf, bit for bit.
func TestPythonQuantize(t *testing.T) {
	python := needPython(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, typ := range []weights.Type{weights.Q4_0, weights.Q4_1, weights.Q8_0} {
		w := make([]float32, 32*4096)
		for i := range w {
			w[i] = float32(r.NormFloat64() * math.Exp2(float64(i/32%40-28)))
			if i/32%7 == 0 {
				w[i] = float32(math.Round(float64(w[i])*4)) + 0 // many equal magnitudes; no -0, as NumPy takes either for the least
			}
		}
		data, err := binary.Append(nil, binary.LittleEndian, w)
		if err != nil {
			t.Fatal(err)
		}
		got, err := gguf.Quantize(typ, nil, w)
		if err != nil {
			t.Fatal(err)
		}
		want := python.run(t, data, "quantize", typ.String())
		_, size := typ.Block()
		for i := 0; i < len(want); i += size {
			if !bytes.Equal(got[i:i+size], want[i:i+size]) {
				t.Fatalf("%s: %v\nis %x, want %x", typ, w[i/size*32:][:32], got[i:i+size], want[i:i+size])
			}
		}
	}
}

// TestQuantizeError demands that a quantized weight is off by half a step at most.
func TestQuantizeError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	w := make([]float32, 32*100)
	for i := range w {
		w[i] = float32(r.NormFloat64())
	}
	for typ, levels := range map[weights.Type]float32{weights.Q4_0: 8, weights.Q4_1: 15, weights.Q8_0: 127} {
		data, err := gguf.Quantize(typ, nil, w)
		if err != nil {
			t.Fatal(err)
		}
		got := dequantized(t, typ, data)
		for block := range slices.Chunk(w, 32) {
			low, high := slices.Min(block), slices.Max(block)
			step := max(-low, high) / levels
			if typ == weights.Q4_1 {
				step = (high - low) / levels
			}
			bound := step*0.5 + 0.002*max(-low, high)
			if typ == weights.Q4_0 { // which clips one end by a step
				bound = step * 1.01
			}
			for i, x := range block {
				if off := math.Abs(float64(got[i] - x)); off > float64(bound) {
					t.Fatalf("%s: %v becomes %v, off by more than %v", typ, x, got[i], bound)
				}
			}
			got = got[32:]
		}
	}
}

// TestQuantizeRefuses expects errors for weights that have no quantized form.
func TestQuantizeRefuses(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e30, math.MaxFloat32} {
		for _, typ := range []weights.Type{weights.Q4_0, weights.Q4_1, weights.Q8_0} {
			w := make([]float32, 64)
			w[40] = bad
			if _, err := gguf.Quantize(typ, nil, w); !errors.Is(err, blocks.ErrNotFinite) {
				t.Errorf("%s of %v: %v", typ, bad, err)
			}
		}
	}
	if _, err := gguf.Quantize(weights.Q6_K, nil, make([]float32, 256)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Q6_K: %v", err)
	}
	if _, err := gguf.Quantize(weights.Q8_0, nil, make([]float32, 33)); !errors.Is(err, weights.ErrFormat) {
		t.Errorf("33 weights: %v", err)
	}
	if err := gguf.Dequantize(weights.IQ2_XS, make([]float32, 256), make([]byte, 74)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("IQ2_XS: %v", err)
	}
	if err := gguf.Dequantize(weights.Q8_0, make([]float32, 32), make([]byte, 33)); !errors.Is(err, weights.ErrFormat) {
		t.Errorf("33 bytes: %v", err)
	}
}

// TestTinyWeights expects zeros for weights so small that the reciprocal of their scale overflows.
func TestTinyWeights(t *testing.T) {
	w := make([]float32, 32)
	w[3], w[5] = 1e-45, -1e-42
	for _, typ := range []weights.Type{weights.Q4_0, weights.Q4_1, weights.Q8_0} {
		data, err := gguf.Quantize(typ, nil, w)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range dequantized(t, typ, data) {
			if x != 0 {
				t.Errorf("%s: weight %d is %v", typ, i, x)
			}
		}
	}
}

// TestFloat32 reads parts of a dequantized tensor.
func TestFloat32(t *testing.T) {
	data := randomBlocks(weights.Q4_K, 6, rand.New(rand.NewPCG(7, 8)))
	q, err := weights.NewTensor(weights.Spec{Name: "q", Type: weights.Q4_K, Shape: []int{3, 512}}, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Float32(q)
	if err != nil {
		t.Fatal(err)
	}
	want := dequantized(t, weights.Q4_K, data)
	got, err := weights.Values[float32](f)
	if err != nil || !slices.Equal(f.Shape(), []int{3, 512}) {
		t.Fatal(f.Shape(), err)
	}
	sameBits(t, "all", got, want)
	all, err := binary.Append(nil, binary.LittleEndian, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][2]int{{0, 1}, {3, 1026}, {1023, 1}, {1024, 1024}, {5000, 1144}, {6144, 0}, {6143, 1}} {
		p := make([]byte, part[1])
		if n, err := f.ReadAt(p, int64(part[0])); n != len(p) || err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p, all[part[0]:][:n]) {
			t.Errorf("read of %d at %d: %d, %v", part[1], part[0], n, err)
		}
	}
	if n, err := f.ReadAt(make([]byte, 10), 6140); n != 4 || !errors.Is(err, io.EOF) {
		t.Errorf("read across the end: %d, %v", n, err)
	}
}
