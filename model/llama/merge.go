package llama

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// ConfigOf returns the Config of a GGUF file. For safetensors files, use ParseConfig. The errors match ErrArchitecture and ErrConfig.
func ConfigOf(f *weights.File) (Config, error) { return ofMetadata(f) }

// Linears returns the linear layers that an adapter may change: those of the model's decoder layers.
func (c Config) Linears() (list []lora.Linear) {
	n := newNetwork(c)
	for i := range n.Layers {
		for _, s := range n.Layers[i].slots() {
			list = append(list, lora.Linear{Name: nameOf(i, s.name), In: s.in, Out: s.out})
		}
	}
	return list
}

// inGGUF are the names of the linear layers in GGUF files.
var inGGUF = strings.NewReplacer("model.layers.", "blk.", "self_attn.q_proj", "attn_q", "self_attn.k_proj", "attn_k", "self_attn.v_proj", "attn_v",
	"self_attn.o_proj", "attn_output", "mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up", "mlp.down_proj", "ffn_down")

// nameIn returns the name of a layer in a file.
func nameIn(f *weights.File, layer string) string {
	if strings.HasPrefix(f.Format, "GGUF") {
		return inGGUF.Replace(layer)
	}
	return layer
}

// Merge adds an adapter to the matrices of a model, and returns the changed model as a file. f is the model's file; o and list are the adapter,
// as lora.Read returns it. Changed matrices keep the type float32, float16 or bfloat16; quantized matrices become float16. The result reads
// its tensors from f, so f must remain open. The error matches ErrAdapter.
func (c Config) Merge(f *weights.File, o lora.Options, list []lora.Matrices) (*weights.File, error) {
	by, all := map[string]lora.Matrices{}, weights.Contents{Format: f.Format, Metadata: f.Metadata}
	for _, m := range list {
		by[nameIn(f, m.Name)+".weight"] = m
	}
	for _, t := range f.Tensors {
		if m, ok := by[t.Name()]; ok {
			var err error
			if t, err = c.merge(t, o, m); err != nil {
				return nil, err
			}
			delete(by, t.Name())
		}
		all.Tensors = append(all.Tensors, t)
	}
	for name := range by {
		return nil, fmt.Errorf("%w: the model has no %s", ErrAdapter, name)
	}
	return weights.New(all)
}

// merge returns the tensor of a layer with the matrices of an adapter.
func (c Config) merge(t *weights.Tensor, o lora.Options, m lora.Matrices) (*weights.Tensor, error) {
	if s := t.Shape(); len(s) != 2 || s[0] != m.Out || s[1] != m.In {
		return nil, fmt.Errorf("%w: %s is %v, want [%d %d]", ErrAdapter, t.Name(), s, m.Out, m.In)
	}
	x := &merged{from: t, of: written(t.Type()), matrices: m, rank: o.Rank, scale: float32(o.Scale()), order: c.order(t.Name())}
	return computed(t, x.compute)
}

// written returns the type of a matrix of new values instead of one of a type.
func written(of weights.Type) weights.Type {
	if of == weights.F32 || of == weights.BF16 {
		return of
	}
	return weights.F16
}

// computed returns a tensor of new values instead of t.
func computed(t *weights.Tensor, compute func() ([]byte, error)) (*weights.Tensor, error) {
	return weights.NewComputed(weights.Spec{Name: t.Name(), Type: written(t.Type()), Shape: t.Shape()}, compute)
}

// merged is the values of a matrix with those of an adapter.
type merged struct {
	from     *weights.Tensor
	of       weights.Type
	matrices lora.Matrices
	rank     int
	scale    float32
	order    func(row int) int // of the file for a row of B, or nil
}

// compute returns the data.
func (m *merged) compute() ([]byte, error) {
	wide, err := gguf.Float32(m.from)
	if err != nil {
		return nil, err
	}
	w, err := weights.Values[float32](wide)
	if err != nil {
		return nil, err
	}
	w = append([]float32(nil), w...) // which may be the memory of a mapped file
	in := m.matrices.In
	for row := range m.matrices.Out {
		at := row
		if m.order != nil {
			at = m.order(row)
		}
		to := w[at*in : (at+1)*in]
		m.add(to, m.matrices.B[row*m.rank:(row+1)*m.rank])
		if m.matrices.Norms != nil {
			setNorm(to, m.matrices.Norms[row])
		}
	}
	return encode(m.of, w)
}

// add adds the product of a row of B and A to a row of the matrix.
func (m *merged) add(row, b []float32) {
	for i := range row {
		var sum float32
		for j, v := range b {
			sum += v * m.matrices.A[j*len(row)+i]
		}
		row[i] += m.scale * sum
	}
}

// setNorm multiplies a row so that it has a norm.
func setNorm(row []float32, norm float32) {
	var sum float64
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	factor := float64(norm) / math.Sqrt(sum)
	for i, v := range row {
		row[i] = float32(float64(v) * factor)
	}
}

// encode returns numbers as elements of a type.
func encode(of weights.Type, w []float32) ([]byte, error) {
	switch of {
	case weights.F32:
		return binary.Append(nil, binary.LittleEndian, w)
	case weights.BF16:
		data := make([]byte, 0, 2*len(w))
		for _, v := range w {
			data = binary.LittleEndian.AppendUint16(data, uint16(dtype.BF16From32(v)))
		}
		return data, nil
	}
	data := make([]byte, 0, 2*len(w))
	for _, v := range w {
		x := dtype.F16From32(v)
		if math.IsInf(float64(x.Float32()), 0) && !math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%w: the weight %g exceeds float16", ErrAdapter, v)
		}
		data = binary.LittleEndian.AppendUint16(data, uint16(x))
	}
	return data, nil
}

// ExportAdapter returns an adapter as a GGUF file for llama.cpp. f is the file of the adapter's model, and must be a GGUF file.
func (c Config) ExportAdapter(f *weights.File, o lora.Options, list []lora.Matrices) (*weights.File, error) {
	architecture, err := weights.Get[string](f.Metadata, "general.architecture")
	if err != nil {
		return nil, fmt.Errorf("%w: the model is not a GGUF file: %w", ErrAdapter, err)
	}
	if o.DoRA {
		return nil, fmt.Errorf("%w: llama.cpp has no DoRA; merge the adapter instead", ErrAdapter)
	}
	all := weights.Contents{Metadata: weights.Metadata{
		{Key: "general.type", Value: "adapter"}, {Key: "general.architecture", Value: architecture},
		{Key: "adapter.type", Value: "lora"}, {Key: "adapter.lora.alpha", Value: float32(o.Scale() * float64(o.Rank))},
	}}
	var errs []error
	for _, m := range list {
		name := inGGUF.Replace(m.Name) + ".weight"
		a, err := tensorOf(weights.Spec{Name: name + ".lora_a", Type: weights.F32, Shape: []int{o.Rank, m.In}}, m.A)
		b, other := tensorOf(weights.Spec{Name: name + ".lora_b", Type: weights.F32, Shape: []int{m.Out, o.Rank}}, c.ordered(name, m, o.Rank))
		all.Tensors, errs = append(all.Tensors, a, b), append(errs, err, other)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return weights.New(all)
}

// ordered returns the rows of B in the order of a GGUF file.
func (c Config) ordered(name string, m lora.Matrices, rank int) []float32 {
	order := c.order(name)
	if order == nil {
		return m.B
	}
	b := make([]float32, len(m.B))
	for row := range m.Out {
		copy(b[order(row)*rank:][:rank], m.B[row*rank:])
	}
	return b
}

// tensorOf returns a tensor of float32 numbers.
func tensorOf(spec weights.Spec, values []float32) (*weights.Tensor, error) {
	data, err := encode(weights.F32, values)
	if err != nil {
		return nil, err
	}
	return weights.NewTensor(spec, bytes.NewReader(data))
}
