package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// The size of the new model, a Llama whose tokens are bytes.
const (
	layers   = 3
	hidden   = 64  // the width of the residual stream
	inner    = 192 // the width of the feed-forward layers
	heads    = 4
	length   = 512 // the largest number of tokens, also in training
	endToken = 256 // ends an answer
)

// template makes the prompt "1987=" of the last message of a conversation.
const template = "{{ messages[-1].content }}{% if add_generation_prompt %}={% endif %}"

// metadata returns the metadata of the new model.
func metadata() weights.Metadata {
	tokens, types := append(byteTokens(), "<|end|>"), make([]int32, endToken+1)
	for i := range types {
		types[i] = 1 // normal
	}
	types[endToken] = 3 // control
	return weights.Metadata{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: "Roman"},
		{Key: "general.license", Value: "apache-2.0"},
		{Key: "llama.block_count", Value: uint32(layers)},
		{Key: "llama.context_length", Value: uint32(length)},
		{Key: "llama.embedding_length", Value: uint32(hidden)},
		{Key: "llama.feed_forward_length", Value: uint32(inner)},
		{Key: "llama.attention.head_count", Value: uint32(heads)},
		{Key: "llama.attention.head_count_kv", Value: uint32(heads)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "llama.rope.freq_base", Value: float32(10000)},
		{Key: "llama.rope.dimension_count", Value: uint32(hidden / heads)},
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: "gpt-2"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: []string{}},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(endToken)},
		{Key: "tokenizer.ggml.add_bos_token", Value: false},
		{Key: "tokenizer.chat_template", Value: template},
	}
}

// byteTokens returns a token for each byte, as vocabularies of byte-level BPE have them: printable characters of Latin-1 represent
// themselves, and other bytes are represented by the characters from U+0100 on.
func byteTokens() []string {
	list, next := make([]string, 256), rune(0x100)
	for b := range rune(256) {
		list[b] = string(b)
		if b <= ' ' || b > '~' && b <= 0xa0 || b == 0xad {
			list[b] = string(next)
			next++
		}
	}
	return list
}

// saveRandom writes the new model with random weights.
func saveRandom(name string, seed uint64) error {
	m := &maker{r: rand.New(rand.NewPCG(seed, 0)), all: weights.Contents{Metadata: metadata()}}
	m.matrix("token_embd", endToken+1, hidden)
	for i := range layers {
		block := fmt.Sprintf("blk.%d.", i)
		m.norm(block + "attn_norm")
		for _, matrix := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			m.matrix(block+matrix, hidden, hidden)
		}
		m.norm(block + "ffn_norm")
		m.matrix(block+"ffn_gate", inner, hidden)
		m.matrix(block+"ffn_up", inner, hidden)
		m.matrix(block+"ffn_down", hidden, inner)
	}
	m.norm("output_norm")
	if m.err != nil {
		return m.err
	}
	f, err := weights.New(m.all)
	if err != nil {
		return err
	}
	return gguf.Save(name, f)
}

// maker makes tensors of float32 elements, and keeps the first error.
type maker struct {
	r   *rand.Rand
	all weights.Contents
	err error
}

// norm adds the weights of a norm, which are 1.
func (m *maker) norm(name string) {
	m.add(weights.Spec{Name: name + ".weight", Type: weights.F32, Shape: []int{hidden}}, func() float32 { return 1 })
}

// matrix adds a matrix whose products with vectors are about as large as the vectors.
func (m *maker) matrix(name string, rows, columns int) {
	m.add(weights.Spec{Name: name + ".weight", Type: weights.F32, Shape: []int{rows, columns}}, func() float32 {
		return float32(m.r.NormFloat64() / math.Sqrt(float64(columns)))
	})
}

// add adds a tensor with values that next returns.
func (m *maker) add(s weights.Spec, next func() float32) {
	n := 1
	for _, size := range s.Shape {
		n *= size
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = next()
	}
	data, err := binary.Append(nil, binary.LittleEndian, values)
	t, failed := weights.NewTensor(s, bytes.NewReader(data))
	m.err = errors.Join(m.err, err, failed)
	m.all.Tensors = append(m.all.Tensors, t)
}

// quantize writes the model in the file from to a file whose matrices have 8 bits for each element.
func quantize(to, from string) error {
	f, err := gguf.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	all := weights.Contents{Metadata: f.Metadata}
	for _, t := range f.Tensors {
		if s := t.Shape(); len(s) == 2 {
			values, err := weights.Values[float32](t)
			if err != nil {
				return err
			}
			data, err := gguf.Quantize(weights.Q8_0, nil, values)
			if err != nil {
				return err
			}
			if t, err = weights.NewTensor(weights.Spec{Name: t.Name(), Type: weights.Q8_0, Shape: s}, bytes.NewReader(data)); err != nil {
				return err
			}
		}
		all.Tensors = append(all.Tensors, t)
	}
	quantized, err := weights.New(all)
	if err != nil {
		return err
	}
	return gguf.Save(to, quantized)
}
