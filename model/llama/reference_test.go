package llama_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// reference computes a model of package llamatest in float64, in the order of the file: the two elements of a rotated pair are
// neighbours.
type reference struct {
	tensors map[string][]float32
	linear  float64 // by which positions are divided
}

func newReference(t *testing.T, path string) *reference {
	t.Helper()
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := &reference{map[string][]float32{}, 1}
	for _, x := range f.Tensors {
		wide, err := gguf.Float32(x)
		if err != nil {
			t.Fatal(err)
		}
		if r.tensors[x.Name()], err = weights.Values[float32](wide); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// multiply returns the products of a matrix and the rows of x.
func (r *reference) multiply(name string, x [][]float64) [][]float64 {
	w := r.tensors[name+".weight"]
	y := make([][]float64, len(x))
	for i, row := range x {
		y[i] = make([]float64, len(w)/len(row))
		for j := range y[i] {
			for k, v := range row {
				y[i][j] += float64(w[j*len(row)+k]) * v
			}
		}
	}
	return y
}

// norm returns the normalized rows of x.
func (r *reference) norm(name string, x [][]float64) [][]float64 {
	y := make([][]float64, len(x))
	for i, row := range x {
		var squares float64
		for _, v := range row {
			squares += v * v
		}
		y[i] = make([]float64, len(row))
		for k, v := range row {
			y[i][k] = v / math.Sqrt(squares/float64(len(row))+1e-5) * float64(r.tensors[name+".weight"][k])
		}
	}
	return y
}

// rotate turns the pairs of all heads.
func (r *reference) rotate(x [][]float64) {
	for position, row := range x {
		for i := 0; i < len(row); i += 2 {
			angle := float64(position) * math.Pow(llamatest.Base, -float64(i%llamatest.HeadDim)/llamatest.HeadDim) / r.linear
			if by := r.tensors["rope_freqs.weight"]; by != nil {
				angle /= float64(by[i%llamatest.HeadDim/2])
			}
			sin, cos := math.Sincos(angle)
			row[i], row[i+1] = row[i]*cos-row[i+1]*sin, row[i]*sin+row[i+1]*cos
		}
	}
}

// attend returns the attention of all heads.
func attend(q, k, v [][]float64) [][]float64 {
	o := make([][]float64, len(q))
	for i := range q {
		o[i] = make([]float64, len(q[i]))
		for h := range llamatest.Heads {
			of := h / (llamatest.Heads / llamatest.KeyHeads) * llamatest.HeadDim
			from, sum := h*llamatest.HeadDim, 0.0
			for j := range i + 1 {
				score := 0.0
				for d := range llamatest.HeadDim {
					score += q[i][from+d] * k[j][of+d]
				}
				w := math.Exp(score / math.Sqrt(llamatest.HeadDim))
				sum += w
				for d := range llamatest.HeadDim {
					o[i][from+d] += w * v[j][of+d]
				}
			}
			for d := range llamatest.HeadDim {
				o[i][from+d] /= sum
			}
		}
	}
	return o
}

// add adds y to x.
func add(x, y [][]float64) {
	for i := range x {
		for k := range x[i] {
			x[i][k] += y[i][k]
		}
	}
}

// logits returns the logits of each token of a sequence.
func (r *reference) logits(tokens []int32) [][]float64 {
	x := make([][]float64, len(tokens))
	for i, id := range tokens {
		for _, v := range r.tensors["token_embd.weight"][int(id)*llamatest.Hidden : (int(id)+1)*llamatest.Hidden] {
			x[i] = append(x[i], float64(v))
		}
	}
	for l := range llamatest.Layers {
		p := fmt.Sprintf("blk.%d.", l)
		y := r.norm(p+"attn_norm", x)
		q, k, v := r.multiply(p+"attn_q", y), r.multiply(p+"attn_k", y), r.multiply(p+"attn_v", y)
		r.rotate(q)
		r.rotate(k)
		add(x, r.multiply(p+"attn_output", attend(q, k, v)))
		y = r.norm(p+"ffn_norm", x)
		gate, up := r.multiply(p+"ffn_gate", y), r.multiply(p+"ffn_up", y)
		for i := range gate {
			for j, g := range gate[i] {
				gate[i][j] = g / (1 + math.Exp(-g)) * up[i][j]
			}
		}
		add(x, r.multiply(p+"ffn_down", gate))
	}
	head := "output"
	if r.tensors["output.weight"] == nil {
		head = "token_embd"
	}
	return r.multiply(head, r.norm("output_norm", x))
}
