package llama_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// operand is a matrix, rounded or not.
type operand struct {
	name   string
	rounds bool
}

// reference computes a model of package llamatest in float64. Tensors have the names of GGUF files.
type reference struct {
	tensors  map[string][]float32
	matrices map[operand][]float64
	linear   float64              // by which positions are divided
	scaling  *llama.Scaling       // of wavelengths
	halves   bool                 // the two elements of a rotated pair are half a head apart, not neighbours
	rounds   bool                 // activations, except the residual stream, and weights are rounded to bfloat16, as on GPUs
	ends     map[string][]float64 // the logits after texts, which several executions ask for
}

// round returns what is stored of a number.
func (r *reference) round(v float64) float64 {
	if r.rounds {
		return float64(dtype.BF16From64(v).Float32())
	}
	return v
}

// roundAll rounds activations.
func (r *reference) roundAll(lists ...[][]float64) {
	for _, x := range lists {
		for _, row := range x {
			for i := range row {
				row[i] = r.round(row[i])
			}
		}
	}
}

// answers are the logits of tokens, and those of a model that rounds.
type answers struct{ exact, rounded [][]float64 }

// answers returns the logits of each token of a sequence, and with wide set those of a model that rounds.
func (r *reference) answers(tokens []int32, wide bool) answers {
	if !wide {
		return answers{exact: r.logits(tokens)}
	}
	rounded := *r
	rounded.rounds = true
	return answers{r.logits(tokens), rounded.logits(tokens)}
}

// slice returns those of some of the tokens.
func (a answers) slice(from, to int) answers {
	if a.rounded == nil {
		return answers{exact: a.exact[from:to]}
	}
	return answers{a.exact[from:to], a.rounded[from:to]}
}

// and returns those of the tokens and of others.
func (a answers) and(others answers) answers {
	return answers{slices.Concat(a.exact, others.exact), slices.Concat(a.rounded, others.rounded)}
}

// distance returns the distance of logits from wanted ones, relative to the length of these.
func distance(logits, want [][]float64) float64 {
	var distance, length float64
	for i, row := range want {
		for k, v := range row {
			distance += (logits[i][k] - v) * (logits[i][k] - v)
			length += v * v
		}
	}
	return math.Sqrt(distance / length)
}

func newReference(t *testing.T, path string) *reference {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := &reference{tensors: map[string][]float32{}, matrices: map[operand][]float64{}, ends: map[string][]float64{}, linear: 1, halves: f.Format == "safetensors"}
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

// tensor returns the elements of a tensor, or nil if there is none.
func (r *reference) tensor(name string) []float32 {
	if r.halves {
		name = llamatest.HuggingFace(name)
	}
	return r.tensors[name]
}

// hidden returns the number of elements of an embedding.
func (r *reference) hidden() int { return len(r.tensor("output_norm.weight")) }

// heads returns the number of heads of queries.
func (r *reference) heads() int {
	return len(r.tensor("blk.0.attn_q.weight")) / r.hidden() / llamatest.HeadDim
}

// multiply returns the products of a matrix and the rows of x.
func (r *reference) multiply(name string, x [][]float64) [][]float64 {
	w, bias := r.matrix(name+".weight"), r.tensor(name+".bias")
	y := make([][]float64, len(x))
	for i, row := range x {
		y[i] = make([]float64, len(w)/len(row))
	}
	for i := 0; i < len(x); i += 4 { // together, as an addition does not wait for those of other rows
		var rows, to [4][]float64
		for k := range rows {
			at := min(i+k, len(x)-1)
			rows[k], to[k] = x[at], y[at]
		}
		for j := range y[i] {
			sums := products(w[j*len(x[i]):(j+1)*len(x[i])], rows)
			for k := range to {
				if to[k][j] = sums[k]; bias != nil {
					to[k][j] += float64(bias[j])
				}
			}
		}
	}
	return y
}

// products returns the products of a vector and four rows.
func products(w []float64, x [4][]float64) [4]float64 {
	a, b, c, d := x[0][:len(w)], x[1][:len(w)], x[2][:len(w)], x[3][:len(w)]
	var s, t, u, v float64
	for k, by := range w {
		s, t, u, v = s+by*a[k], t+by*b[k], u+by*c[k], v+by*d[k]
	}
	return [4]float64{s, t, u, v}
}

// matrix returns the elements of a matrix, rounded if the model rounds.
func (r *reference) matrix(name string) []float64 {
	key := operand{name, r.rounds}
	if r.matrices[key] == nil {
		w := make([]float64, len(r.tensor(name)))
		for i, v := range r.tensor(name) {
			w[i] = r.round(float64(v))
		}
		r.matrices[key] = w
	}
	return r.matrices[key]
}

// norm returns the normalized rows of x.
func (r *reference) norm(name string, x [][]float64) [][]float64 {
	y, gain := make([][]float64, len(x)), r.tensor(name+".weight")
	for i, row := range x {
		var squares float64
		for _, v := range row {
			squares += v * v
		}
		y[i] = make([]float64, len(row))
		for k, v := range row {
			y[i][k] = v / math.Sqrt(squares/float64(len(row))+1e-5) * r.round(float64(gain[k]))
		}
	}
	return y
}

// rotate turns the pairs of all heads.
func (r *reference) rotate(x [][]float64) {
	const half = llamatest.HeadDim / 2
	for position, row := range x {
		for h := 0; h < len(row); h += llamatest.HeadDim {
			for i := range half {
				a, b := h+2*i, h+2*i+1
				if r.halves {
					a, b = h+i, h+half+i
				}
				sin, cos := math.Sincos(float64(position) * r.frequency(i))
				row[a], row[b] = row[a]*cos-row[b]*sin, row[a]*sin+row[b]*cos
			}
		}
	}
}

// frequency returns the angle per position of a pair.
func (r *reference) frequency(pair int) float64 {
	f := math.Pow(llamatest.Base, -2*float64(pair)/llamatest.HeadDim) / r.linear
	if by := r.tensor("rope_freqs.weight"); by != nil {
		f /= float64(by[pair])
	}
	if s := r.scaling; s != nil {
		switch turns := float64(s.Context) * f / (2 * math.Pi); {
		case turns < s.Low:
			f /= s.Factor
		case turns < s.High:
			smooth := (turns - s.Low) / (s.High - s.Low)
			f = (1-smooth)*f/s.Factor + smooth*f
		}
	}
	return f
}

// normHeads normalizes each head, if there is a norm.
func (r *reference) normHeads(name string, x [][]float64) {
	if r.tensor(name+".weight") == nil {
		return
	}
	for _, row := range x {
		for h := 0; h < len(row); h += llamatest.HeadDim {
			copy(row[h:], r.norm(name, [][]float64{row[h : h+llamatest.HeadDim]})[0])
		}
	}
}

// attend returns the attention of all heads.
func (r *reference) attend(q, k, v [][]float64) [][]float64 {
	o := make([][]float64, len(q))
	for i := range q {
		o[i] = make([]float64, len(q[i]))
		for h := range r.heads() {
			of := h / (r.heads() / llamatest.KeyHeads) * llamatest.HeadDim
			from, sum, largest := h*llamatest.HeadDim, 0.0, math.Inf(-1)
			scores := make([]float64, i+1)
			for j := range scores {
				for d := range llamatest.HeadDim {
					scores[j] += q[i][from+d] * k[j][of+d] / math.Sqrt(llamatest.HeadDim)
				}
				largest = max(largest, scores[j])
			}
			for j, score := range scores {
				w := math.Exp(score - largest)
				sum += w
				for d := range llamatest.HeadDim {
					o[i][from+d] += r.round(w) * v[j][of+d]
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

// next returns the logits after a text.
func (r *reference) next(tokens []int32) []float64 {
	key := fmt.Sprint(tokens)
	if r.ends[key] == nil {
		r.ends[key] = r.logits(tokens)[len(tokens)-1]
	}
	return r.ends[key]
}

// logits returns the logits of each token of a sequence.
func (r *reference) logits(tokens []int32) [][]float64 {
	x := make([][]float64, len(tokens))
	for i, id := range tokens {
		for _, v := range r.tensor("token_embd.weight")[int(id)*r.hidden() : (int(id)+1)*r.hidden()] {
			x[i] = append(x[i], float64(v))
		}
	}
	for l := range llamatest.Layers {
		p := fmt.Sprintf("blk.%d.", l)
		y := r.norm(p+"attn_norm", x)
		r.roundAll(y)
		q, k, v := r.multiply(p+"attn_q", y), r.multiply(p+"attn_k", y), r.multiply(p+"attn_v", y)
		r.roundAll(q, k, v)
		r.normHeads(p+"attn_q_norm", q)
		r.normHeads(p+"attn_k_norm", k)
		r.rotate(q)
		r.rotate(k)
		r.roundAll(q, k, v)
		o := r.attend(q, k, v)
		r.roundAll(o)
		add(x, r.multiply(p+"attn_output", o))
		y = r.norm(p+"ffn_norm", x)
		r.roundAll(y)
		gate, up := r.multiply(p+"ffn_gate", y), r.multiply(p+"ffn_up", y)
		r.roundAll(gate, up)
		for i := range gate {
			for j, g := range gate[i] {
				gate[i][j] = g / (1 + math.Exp(-g)) * up[i][j]
			}
		}
		r.roundAll(gate)
		add(x, r.multiply(p+"ffn_down", gate))
	}
	head := "output"
	if r.tensor("output.weight") == nil {
		head = "token_embd"
	}
	y := r.norm("output_norm", x)
	r.roundAll(y)
	return r.multiply(head, y)
}
