package bert_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// reference computes a model in float64, a text at a time.
type reference struct {
	tb     testing.TB
	f      *weights.File
	prefix string // of the names of tensors
	shift  int    // Config.Shift
	// The names of the layers of the head.
	dense, scored string
}

func newReference(tb testing.TB, folder, prefix string) reference {
	tb.Helper()
	f, err := formats.Open(folder)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	if prefix == "roberta." {
		return reference{tb, f, prefix, 2, "classifier.dense", "classifier.out_proj"}
	}
	return reference{tb, f, prefix, 0, "bert.pooler.dense", "classifier"}
}

// values returns the elements of a tensor.
func (r reference) values(name string) []float64 {
	t, err := r.f.Tensor(r.prefix + name)
	if err != nil {
		r.tb.Fatal(err)
	}
	v, err := weights.Values[float32](t)
	if err != nil {
		r.tb.Fatal(err)
	}
	list := make([]float64, len(v))
	for i := range v {
		list[i] = float64(v[i])
	}
	return list
}

// linear applies a layer to a vector.
func (r reference) linear(name string, x []float64) []float64 {
	w, y := r.values(name+".weight"), r.values(name+".bias")
	for i := range y {
		for j, v := range x {
			y[i] += w[i*len(x)+j] * v
		}
	}
	return y
}

// norm normalizes the sum of vectors.
func (r reference) norm(name string, list ...[]float64) []float64 {
	w, b, n := r.values(name+".weight"), r.values(name+".bias"), float64(len(list[0]))
	x := make([]float64, len(list[0]))
	var mean, variance float64
	for i := range x {
		for _, v := range list {
			x[i] += v[i]
		}
		mean += x[i] / n
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / n
	}
	for i := range x {
		x[i] = (x[i]-mean)/math.Sqrt(variance+berttest.Epsilon)*w[i] + b[i]
	}
	return x
}

// forward returns the activations of a text's tokens.
func (r reference) forward(tokens []int32) [][]float64 {
	return r.forwardPair(bert.Pair{Tokens: tokens, Types: make([]int32, len(tokens))})
}

// scores returns the scores of the labels of a pair.
func (r reference) scores(p bert.Pair) []float64 {
	first := r.forwardPair(p)[0]
	r.prefix = ""
	first = r.linear(r.dense, first)
	for i, v := range first {
		first[i] = math.Tanh(v)
	}
	return r.linear(r.scored, first)
}

// forwardPair returns the activations of the tokens of a pair.
func (r reference) forwardPair(p bert.Pair) [][]float64 {
	words, positions, types := r.values("embeddings.word_embeddings.weight"), r.values("embeddings.position_embeddings.weight"), r.values("embeddings.token_type_embeddings.weight")
	x := make([][]float64, len(p.Tokens))
	next := r.shift
	for i, id := range p.Tokens {
		const n = berttest.Hidden
		position := r.shift - 1
		if int(id) != position {
			position, next = next, next+1
		}
		x[i] = r.norm("embeddings.LayerNorm", words[int(id)*n:][:n], positions[position*n:][:n], types[int(p.Types[i])*n:][:n])
	}
	for i := range berttest.Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		mixed := r.attend(at+"attention.self.", x)
		for j := range x {
			y := r.norm(at+"attention.output.LayerNorm", r.linear(at+"attention.output.dense", mixed[j]), x[j])
			up := r.linear(at+"intermediate.dense", y)
			for k, v := range up {
				up[k] = v * 0.5 * (1 + math.Erf(v/math.Sqrt2))
			}
			x[j] = r.norm(at+"output.LayerNorm", r.linear(at+"output.dense", up), y)
		}
	}
	return x
}

// attend returns the attention of a text's tokens to each other.
func (r reference) attend(at string, x [][]float64) [][]float64 {
	const dim = berttest.Hidden / berttest.Heads
	var q, k, v, out [][]float64
	for _, row := range x {
		q, k, v = append(q, r.linear(at+"query", row)), append(k, r.linear(at+"key", row)), append(v, r.linear(at+"value", row))
	}
	for i := range x {
		y := make([]float64, berttest.Hidden)
		for h := 0; h < berttest.Hidden; h += dim {
			var sum float64
			weights := make([]float64, len(x))
			for j := range x {
				var score float64
				for d := h; d < h+dim; d++ {
					score += q[i][d] * k[j][d]
				}
				weights[j] = math.Exp(score / math.Sqrt(dim))
				sum += weights[j]
			}
			for j, w := range weights {
				for d := h; d < h+dim; d++ {
					y[d] += w / sum * v[j][d]
				}
			}
		}
		out = append(out, y)
	}
	return out
}
