package random

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/blocks/blockstest"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// Options determine the types and values of a model's weights.
type Options struct {
	Mixture Mixture
	Seed    uint64
}

// GGUF returns the contents of a GGUF file, with a tokenizer and a chat template. If the number of columns of a matrix is not a multiple of
// the size of its type's blocks, gguf.Write returns an error that matches weights.ErrFormat.
func GGUF(s Shape, o Options) (*weights.File, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	g := newGenerator(o.Seed, weights.F32, func(name string) string { return name })
	g.tensors(s, func(m matrix) weights.Type { return o.Mixture.of(m, s.Layers) })
	return g.file("GGUF 3", s.metadata())
}

// Safetensors returns the contents of a safetensors file with bfloat16 weights.
func Safetensors(s Shape, seed uint64) (*weights.File, error) {
	g := newGenerator(seed, weights.BF16, huggingFace)
	g.tensors(s, func(matrix) weights.Type { return weights.BF16 })
	return g.file("", nil)
}

// kind distinguishes random numbers: their type, and the columns of the matrices that they are for.
type kind struct {
	of      weights.Type
	columns int
}

// generator makes tensors.
type generator struct {
	seed    uint64
	largest map[kind]int // elements of the largest matrix
	noise   map[kind][]byte
	norms   weights.Type
	rename  func(name string) string
	list    []*weights.Tensor
	err     error // the first
}

func newGenerator(seed uint64, norms weights.Type, rename func(name string) string) *generator {
	return &generator{seed: seed, largest: map[kind]int{}, noise: map[kind][]byte{}, norms: norms, rename: rename}
}

// tensors adds all tensors of a model, whose matrices have the types that the function of returns.
func (g *generator) tensors(s Shape, of func(matrix) weights.Type) {
	s.walk(func(m matrix) {
		k := kind{of(m), m.columns}
		g.largest[k] = max(g.largest[k], m.rows*m.columns)
	}, func(string, int) {})
	s.walk(func(m matrix) { g.matrix(m, of(m)) }, g.norm)
}

// file returns a file of a format with the tensors.
func (g *generator) file(format string, m weights.Metadata) (*weights.File, error) {
	if g.err != nil {
		return nil, g.err
	}
	return weights.New(weights.Contents{Format: format, Metadata: m, Tensors: g.list})
}

// norm adds the weights of a norm, which are 1.
func (g *generator) norm(name string, n int) {
	var ones []byte
	for range n {
		ones = appendNumber(ones, g.norms, 1)
	}
	g.add(weights.Spec{Name: name, Type: g.norms, Shape: []int{n}}, repeated{ones, 0})
}

// matrix adds a matrix of a type.
func (g *generator) matrix(m matrix, of weights.Type) {
	k := kind{of, m.columns}
	if g.noise[k] == nil {
		noise, err := k.numbers(rand.New(rand.NewPCG(g.seed, uint64(m.columns)<<8|uint64(of))), g.largest[k])
		if g.noise[k] = noise; err != nil {
			g.err = err
			return
		}
	}
	_, bytes := of.Block()
	from := int64(len(g.list)) * 1000003 * int64(bytes)
	g.add(weights.Spec{Name: m.name, Type: of, Shape: []int{m.rows, m.columns}}, repeated{g.noise[k], from})
}

func (g *generator) add(spec weights.Spec, from repeated) {
	spec.Name = g.rename(spec.Name) + ".weight"
	t, err := weights.NewTensor(spec, from)
	if err != nil && g.err == nil {
		g.err = fmt.Errorf("%s: %w", spec.Name, err)
	}
	g.list = append(g.list, t)
}

// numbers returns random numbers for matrices of at most n elements: n, or about four million. If they repeat in a matrix, the number of
// blocks is a prime, so that they are not aligned with rows.
func (k kind) numbers(r *rand.Rand, n int) (data []byte, err error) {
	deviation := 1 / math.Sqrt(float64(k.columns))
	elements, _ := k.of.Block()
	n = (n + elements - 1) / elements
	switch elements {
	case 1:
		span := math.Sqrt(3) * deviation
		for range min(n, 4194301) {
			data = appendNumber(data, k.of, span*(2*r.Float64()-1))
		}
		return data, nil
	case 32:
		return k.blocks(r, min(n, 131071), deviation)
	default:
		return k.blocks(r, min(n, 16381), deviation)
	}
}

// blocks returns n random blocks of numbers with a standard deviation. That of blockstest.Random is larger in some types, by a factor
// that the first blocks show.
func (k kind) blocks(r *rand.Rand, n int, deviation float64) (data []byte, err error) {
	const sample = 1000
	elements, _ := k.of.Block()
	for range sample {
		data = append(data, blockstest.Random(r, k.of.String(), 1)...)
	}
	w, sum := make([]float32, sample*elements), 0.
	if err := gguf.Dequantize(k.of, w, data); err != nil {
		return nil, err
	}
	for _, v := range w {
		sum += float64(v) * float64(v)
	}
	deviation /= math.Sqrt(sum / float64(len(w)))
	data = data[:0]
	for range n {
		data = append(data, blockstest.Random(r, k.of.String(), deviation)...)
	}
	return data, nil
}

// appendNumber appends a number of type F32, F16 or BF16.
func appendNumber(data []byte, of weights.Type, v float64) []byte {
	switch of {
	case weights.F32:
		return binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
	case weights.F16:
		return binary.LittleEndian.AppendUint16(data, uint16(dtype.F16From64(v)))
	}
	return binary.LittleEndian.AppendUint16(data, uint16(dtype.BF16From64(v)))
}

// repeated is an io.ReaderAt of data that repeats without end, from an offset on.
type repeated struct {
	data []byte
	from int64
}

// ReadAt implements io.ReaderAt.
func (r repeated) ReadAt(p []byte, off int64) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], r.data[(r.from+off+int64(n))%int64(len(r.data)):])
	}
	return len(p), nil
}
