package llamatest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/blocks/blockstest"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// The sizes of the models. With the option Wide, Hidden is 256, FFN 512 and Heads 16.
const (
	Layers, Hidden, FFN      = 2, 64, 96
	Heads, KeyHeads, HeadDim = 4, 2, 16
	Context                  = 200
	Vocabulary               = 258 // the 256 bytes, and two tokens that begin and end a message
)

// Base is the base of the rotary embedding.
const Base = 10000

// Template is the chat template of the models.
const Template = "{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>{% endif %}"

// Options are the options of Write.
type Options struct {
	Seed     uint64
	Matrices weights.Type // the type of matrices; Q8_0 by default
	Head     bool         // whether to write an output matrix; without it, the model uses its embedding table
	Wide     bool         // whether rows of matrices consist of whole blocks of 256 elements
	// Of, unless it is nil, returns the type of the matrix with the given name. Without Of, the type is Q8_0 for the embedding table, and Matrices for the other matrices.
	Of func(name string) weights.Type
	// Change may change the contents of the file.
	Change func(c *weights.Contents)
}

// Write writes a model to a file in a temporary folder, and returns the file's path.
func Write(tb testing.TB, o Options) string {
	tb.Helper()
	if o.Matrices == weights.Invalid {
		o.Matrices = weights.Q8_0
	}
	w := writer{tb: tb, r: rand.New(rand.NewPCG(o.Seed, 1)), matrices: o.Matrices, table: weights.Q8_0, of: o.Of, size: sizeOf(o.Wide), rename: func(name string) string { return name }}
	w.all(o.Head)
	c := weights.Contents{Metadata: metadata(w.size), Tensors: w.list}
	if o.Change != nil {
		o.Change(&c)
	}
	f, err := weights.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "model.gguf")
	if err := gguf.Save(path, f); err != nil {
		tb.Fatal(err)
	}
	return path
}

// size is the part of a model's size that depends on the options, and the deviation of weights by which activations do not depend on it.
type size struct {
	hidden, ffn, heads int
	deviation          float64
}

func sizeOf(wide bool) size {
	if wide {
		return size{256, 512, 16, 0.1}
	}
	return size{Hidden, FFN, Heads, 0.2}
}

// metadata returns the metadata of a model.
func metadata(of size) weights.Metadata {
	tokens, types := ByteTokens(), make([]int32, Vocabulary)
	for i := range types {
		types[i] = 1 // normal
	}
	tokens = append(tokens, "<|im_start|>", "<|im_end|>")
	types[256], types[257] = 3, 3 // control
	return weights.Metadata{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: "Random"},
		{Key: "llama.block_count", Value: uint32(Layers)},
		{Key: "llama.context_length", Value: uint32(Context)},
		{Key: "llama.embedding_length", Value: uint32(of.hidden)},
		{Key: "llama.feed_forward_length", Value: uint32(of.ffn)},
		{Key: "llama.attention.head_count", Value: uint32(of.heads)},
		{Key: "llama.attention.head_count_kv", Value: uint32(KeyHeads)},
		{Key: "llama.attention.layer_norm_rms_epsilon", Value: float32(1e-5)},
		{Key: "llama.rope.freq_base", Value: float32(Base)},
		{Key: "llama.rope.dimension_count", Value: uint32(HeadDim)},
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: "gpt-2"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: []string{}},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(256)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(257)},
		{Key: "tokenizer.ggml.add_bos_token", Value: false},
		{Key: "tokenizer.chat_template", Value: Template},
	}
}

// ByteTokens returns the characters that represent bytes in the vocabularies of byte-level BPE. A byte that is a printable character of
// Latin-1 represents itself. Each other byte is represented by the next unused character, beginning with U+0100.
func ByteTokens() []string {
	list, next := make([]string, 256), rune(0x100)
	for b := range rune(256) {
		if b > ' ' && b <= '~' || b >= 0xa1 && b != 0xad {
			list[b] = string(b)
			continue
		}
		list[b] = string(next)
		next++
	}
	return list
}

// writer makes the tensors of a model.
type writer struct {
	tb       testing.TB
	r        *rand.Rand
	matrices weights.Type
	table    weights.Type                   // of the embeddings
	of       func(name string) weights.Type // see Options
	size     size
	rename   func(name string) string
	list     []*weights.Tensor
}

func (w *writer) all(head bool) {
	hidden, ffn, keys := w.size.hidden, w.size.ffn, KeyHeads*HeadDim
	w.matrix("token_embd", w.table, Vocabulary, hidden)
	for i := range Layers {
		prefix := "blk." + string(rune('0'+i)) + "."
		w.vector(prefix+"attn_norm", hidden)
		w.matrix(prefix+"attn_q", w.matrices, w.size.heads*HeadDim, hidden)
		w.matrix(prefix+"attn_k", w.matrices, keys, hidden)
		w.matrix(prefix+"attn_v", w.matrices, keys, hidden)
		w.matrix(prefix+"attn_output", w.matrices, hidden, w.size.heads*HeadDim)
		w.vector(prefix+"ffn_norm", hidden)
		w.matrix(prefix+"ffn_gate", w.matrices, ffn, hidden)
		w.matrix(prefix+"ffn_up", w.matrices, ffn, hidden)
		w.matrix(prefix+"ffn_down", w.matrices, hidden, ffn)
	}
	w.vector("output_norm", hidden)
	if head {
		w.matrix("output", w.matrices, Vocabulary, hidden)
	}
}

// vector adds the weights of a norm.
func (w *writer) vector(name string, n int) {
	w.add(weights.Spec{Name: w.rename(name) + ".weight", Type: weights.F32, Shape: []int{n}}, w.numbers(n, 0.1, 1))
}

// matrix adds a matrix of elements of a type, unless the options say which.
func (w *writer) matrix(name string, of weights.Type, rows, columns int) {
	name += ".weight"
	if w.of != nil {
		of = w.of(name)
	}
	w.add(weights.Spec{Name: w.rename(name), Type: of, Shape: []int{rows, columns}}, w.numbers(rows*columns, w.size.deviation, 0))
}

// numbers returns normally distributed numbers.
func (w *writer) numbers(n int, deviation, mean float64) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(w.r.NormFloat64()*deviation + mean)
	}
	return list
}

// add adds a tensor of values, which it quantizes if the type requires it.
func (w *writer) add(s weights.Spec, values []float32) {
	w.tb.Helper()
	data, err := w.encode(s.Type, values)
	if err != nil {
		w.tb.Fatal(err)
	}
	t, err := weights.NewTensor(s, bytes.NewReader(data))
	if err != nil {
		w.tb.Fatal(err)
	}
	w.list = append(w.list, t)
}

// encode returns values as elements of a type, or random blocks of a type to which no function quantizes.
func (w *writer) encode(of weights.Type, values []float32) (data []byte, err error) {
	switch of {
	case weights.F16:
		for _, v := range values {
			data = binary.LittleEndian.AppendUint16(data, uint16(dtype.F16From32(v)))
		}
		return data, nil
	case weights.F32:
		return binary.Append(nil, binary.LittleEndian, values)
	case weights.BF16:
		for _, v := range values {
			data = binary.LittleEndian.AppendUint16(data, uint16(dtype.BF16From32(v)))
		}
		return data, nil
	case weights.Q5_0, weights.Q5_1, weights.Q2_K, weights.Q3_K, weights.Q4_K, weights.Q5_K, weights.Q6_K:
		elements, _ := of.Block()
		for range len(values) / elements {
			data = append(data, blockstest.Random(w.r, of.String(), w.size.deviation)...)
		}
		return data, nil
	}
	return gguf.Quantize(of, nil, values)
}
