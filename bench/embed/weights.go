package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/weights"
)

// minilm is the size of all-MiniLM-L6-v2.
var minilm = bert.Config{Layers: 6, Hidden: 384, FFN: 1536, Heads: 12, Vocabulary: 30522, Positions: 512, Types: 2, Epsilon: 1e-12}

// tokens returns random tokens of texts of the same length.
func tokens(texts, length int) (list [][]int32) {
	r := rand.New(rand.NewPCG(1, 2))
	for range texts {
		text := make([]int32, length)
		for i := range text {
			text[i] = int32(r.IntN(minilm.Vocabulary))
		}
		list = append(list, text)
	}
	return list
}

// pairs returns random pairs of the same number of tokens, of which the second half has the second type.
func pairs(n, length int) (list []bert.Pair) {
	types := make([]int32, length)
	for i := length / 2; i < length; i++ {
		types[i] = 1
	}
	for _, text := range tokens(n, length) {
		list = append(list, bert.Pair{Tokens: text, Types: types})
	}
	return list
}

// builder collects the tensors of a model.
type builder struct {
	r       *rand.Rand
	tensors []*weights.Tensor
	err     error
}

// add adds a tensor of random elements with a normal distribution.
func (b *builder) add(name string, mean, deviation float64, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(mean + deviation*b.r.NormFloat64())
	}
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err == nil {
		var t *weights.Tensor
		t, err = weights.NewTensor(weights.Spec{Name: name, Type: weights.F32, Shape: shape}, bytes.NewReader(data))
		b.tensors = append(b.tensors, t)
	}
	if err != nil && b.err == nil {
		b.err = err
	}
}

// linear adds the parameters of a linear layer.
func (b *builder) linear(name string, out, in int) {
	b.add(name+".weight", 0, 0.05, out, in)
	b.add(name+".bias", 0, 0.1, out)
}

// norm adds the parameters of a norm.
func (b *builder) norm(name string, width int) {
	b.add(name+".weight", 1, 0.1, width)
	b.add(name+".bias", 0, 0.1, width)
}

// randomWeights returns the weights of a model of a size, with a classification head of one label.
func randomWeights(c bert.Config) (*weights.File, error) {
	b := &builder{r: rand.New(rand.NewPCG(3, 4))}
	b.add("bert.embeddings.word_embeddings.weight", 0, 0.05, c.Vocabulary, c.Hidden)
	b.add("bert.embeddings.position_embeddings.weight", 0, 0.05, c.Positions, c.Hidden)
	b.add("bert.embeddings.token_type_embeddings.weight", 0, 0.05, c.Types, c.Hidden)
	b.norm("bert.embeddings.LayerNorm", c.Hidden)
	for i := range c.Layers {
		at := fmt.Sprintf("bert.encoder.layer.%d.", i)
		for _, name := range []string{"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"} {
			b.linear(at+name, c.Hidden, c.Hidden)
		}
		b.linear(at+"intermediate.dense", c.FFN, c.Hidden)
		b.linear(at+"output.dense", c.Hidden, c.FFN)
		b.norm(at+"attention.output.LayerNorm", c.Hidden)
		b.norm(at+"output.LayerNorm", c.Hidden)
	}
	b.linear("bert.pooler.dense", c.Hidden, c.Hidden)
	b.linear("classifier", 1, c.Hidden)
	if b.err != nil {
		return nil, b.err
	}
	return weights.New(weights.Contents{Tensors: b.tensors})
}
