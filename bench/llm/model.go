package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/weights"
)

// shape is the shape of a model.
type shape struct{ layers, hidden, ffn, heads, keyHeads, headDim, vocabulary int }

// llama8B is the shape of Llama 3.1 8B.
var llama8B = shape{layers: 32, hidden: 4096, ffn: 14336, heads: 32, keyHeads: 8, headDim: 128, vocabulary: 128256}

// products returns the number of weights that are multiplied for each token, without the head.
func (s shape) products() int {
	return s.layers * (s.hidden*s.headDim*(2*s.heads+2*s.keyHeads) + 3*s.hidden*s.ffn)
}

// bytes returns the size of the weights that a step of decoding reads.
func (s shape) bytes() int { return 2 * (s.products() + s.vocabulary*s.hidden) }

// load makes a model with random weights.
func (s shape) load(stream *device.Stream) (*llama.Model, error) {
	text, err := json.Marshal(map[string]any{
		"architectures": []string{"LlamaForCausalLM"}, "num_hidden_layers": s.layers, "hidden_size": s.hidden, "intermediate_size": s.ffn,
		"num_attention_heads": s.heads, "num_key_value_heads": s.keyHeads, "head_dim": s.headDim, "vocab_size": s.vocabulary,
		"max_position_embeddings": 131072, "rope_theta": 500000, "rms_norm_eps": 1e-5,
	})
	if err != nil {
		return nil, err
	}
	c, err := llama.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	f, err := s.file()
	if err != nil {
		return nil, err
	}
	return llama.Load(stream, f, llama.LoadOptions{Config: c})
}

// file returns the weights.
func (s shape) file() (*weights.File, error) {
	g := generator{noise: map[int][]byte{}}
	g.matrix("model.embed_tokens", s.vocabulary, s.hidden)
	for i := range s.layers {
		p := fmt.Sprintf("model.layers.%d.", i)
		g.norm(p+"input_layernorm", s.hidden)
		g.matrix(p+"self_attn.q_proj", s.heads*s.headDim, s.hidden)
		g.matrix(p+"self_attn.k_proj", s.keyHeads*s.headDim, s.hidden)
		g.matrix(p+"self_attn.v_proj", s.keyHeads*s.headDim, s.hidden)
		g.matrix(p+"self_attn.o_proj", s.hidden, s.heads*s.headDim)
		g.norm(p+"post_attention_layernorm", s.hidden)
		g.matrix(p+"mlp.gate_proj", s.ffn, s.hidden)
		g.matrix(p+"mlp.up_proj", s.ffn, s.hidden)
		g.matrix(p+"mlp.down_proj", s.hidden, s.ffn)
	}
	g.norm("model.norm", s.hidden)
	g.matrix("lm_head", s.vocabulary, s.hidden)
	if g.err != nil {
		return nil, g.err
	}
	return weights.New(weights.Contents{Tensors: g.list})
}

// generator makes tensors of random numbers. All tensors with as many columns read the same numbers, from different places on: this is
// faster than generating 8e9 of them.
type generator struct {
	noise map[int][]byte // by columns
	list  []*weights.Tensor
	err   error
}

// period is the number of random numbers, a prime, so that they are not aligned with rows.
const period = 4194301

// norm adds the weights of a norm, which are 1.
func (g *generator) norm(name string, n int) {
	ones := make([]byte, 2*n)
	for i := range n {
		binary.LittleEndian.PutUint16(ones[2*i:], uint16(dtype.BF16From32(1)))
	}
	g.add(weights.Spec{Name: name + ".weight", Type: weights.BF16, Shape: []int{n}}, repeated{ones, 0})
}

// matrix adds a matrix of numbers whose variance is that which leaves the variance of a product's results as that of the vector.
func (g *generator) matrix(name string, rows, columns int) {
	if g.noise[columns] == nil {
		r := rand.New(rand.NewPCG(1, uint64(columns)))
		span, noise := math.Sqrt(3/float64(columns)), make([]byte, 2*period)
		for i := range period {
			binary.LittleEndian.PutUint16(noise[2*i:], uint16(dtype.BF16From64(span*(2*r.Float64()-1))))
		}
		g.noise[columns] = noise
	}
	from := repeated{g.noise[columns], int64(len(g.list)) * 2 * 1000003}
	g.add(weights.Spec{Name: name + ".weight", Type: weights.BF16, Shape: []int{rows, columns}}, from)
}

func (g *generator) add(spec weights.Spec, from repeated) {
	t, err := weights.NewTensor(spec, from)
	if err != nil && g.err == nil {
		g.err = err
	}
	g.list = append(g.list, t)
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
