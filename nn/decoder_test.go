package nn_test

import (
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// decoder is one decoder layer of a Llama-family model, as a program defines it.
type decoder struct {
	AttnNorm nn.RMSNorm `weights:"input_layernorm" gguf:"attn_norm"`
	QKV      nn.Stacked `weights:"self_attn.{q,k,v}_proj" gguf:"attn_{q,k,v}"`
	O        nn.Linear  `weights:"self_attn.o_proj" gguf:"attn_output"`
	MLPNorm  nn.RMSNorm `weights:"post_attention_layernorm" gguf:"ffn_norm"`
	GateUp   nn.Stacked `weights:"mlp.{gate,up}_proj" gguf:"ffn_{gate,up}"`
	Down     nn.Linear  `weights:"mlp.down_proj" gguf:"ffn_down"`
}

// attends is what differs between training, prompts and decoding.
type attends interface {
	attend(q, k, v *tensor.Tensor) *tensor.Tensor
}

func (l *decoder) forward(x *tensor.Tensor, a attends) *tensor.Tensor {
	return x.Scope().Tidy(func() *tensor.Tensor {
		qkv := l.QKV.Forward(l.AttnNorm.Forward(x))
		x = l.O.AddTo(x, a.attend(qkv[0], qkv[1], qkv[2])) // the residual stream in the epilogue of the product
		return l.Down.AddTo(x, l.GateUp.SwiGLU(&l.MLPNorm, x))
	})
}

// The sizes of the layer.
const (
	decoderTokens, decoderWidth, decoderHeads, decoderKeyHeads, decoderDim, decoderInner = 5, 32, 4, 2, 8, 48
)

// causal is attention to the present and preceding tokens, without a cache.
type causal struct{ angles *tensor.Tensor }

func (c causal) attend(q, k, v *tensor.Tensor) *tensor.Tensor {
	heads := func(x *tensor.Tensor, n int) *tensor.Tensor { return x.Reshape(decoderTokens, n, decoderDim) }
	q, k = heads(q, decoderHeads).Rotate(c.angles), heads(k, decoderKeyHeads).Rotate(c.angles)
	y := tensor.Attention(q, k, heads(v, decoderKeyHeads), tensor.AttentionOptions{Causal: true})
	return y.Reshape(decoderTokens, decoderHeads*decoderDim)
}

// TestDecoder loads a decoder layer from files with both kinds of names, and compares its result with that of loops over float64.
func TestDecoder(t *testing.T) {
	const n, queries, keys = decoderWidth, decoderHeads * decoderDim, decoderKeyHeads * decoderDim
	shapes := [][]int{{n}, {queries, n}, {keys, n}, {keys, n}, {n, queries}, {n}, {decoderInner, n}, {decoderInner, n}, {n, decoderInner}}
	names := map[string][]string{
		"safetensors": {"input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"},
		"GGUF":        {"attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"},
	}
	layers := map[string]string{"safetensors": "model.layers.0.", "GGUF": "blk.0."}
	var values [][]float32
	for _, shape := range shapes {
		count := 1
		for _, n := range shape {
			count *= n
		}
		list := numbers(count)
		for i := range list {
			list[i] /= 8
		}
		values = append(values, list)
	}
	x := numbers(decoderTokens * n)
	want := decoderReference(x, values)
	for format := range names {
		var entries []entry
		for i, name := range names[format] {
			entries = append(entries, entry{layers[format] + name + ".weight", weights.F32, shapes[i], values[i]})
		}
		f := file(t, format, entries...)
		for name, open := range kerneltest.Some() {
			t.Run(format+"/"+name, func(t *testing.T) {
				onDevice(t, open, func(s *tensor.Scope, p *nn.Params) {
					var model struct {
						Layers []decoder `weights:"model.layers.%d" gguf:"blk.%d"`
					}
					model.Layers = []decoder{{
						AttnNorm: nn.RMSNorm{Width: n, Epsilon: 1e-5}, MLPNorm: nn.RMSNorm{Width: n, Epsilon: 1e-5},
						QKV: nn.Stacked{In: n, Out: []int{queries, keys, keys}}, O: nn.Linear{In: queries, Out: n},
						GateUp: nn.Stacked{In: n, Out: []int{decoderInner, decoderInner}}, Down: nn.Linear{In: decoderInner, Out: n},
					}}
					if err := nn.Load(p, &model, f, nn.LoadOptions{}); err != nil { // strict: every tensor used once, shapes checked, all errors at once
						t.Fatal(err)
					}
					frequencies := tensor.From(s, []float32{1, 0.1, 0.01, 0.001}, decoderDim/2)
					angles := tensor.Angles(tensor.From(s, []int32{0, 1, 2, 3, 4}, decoderTokens), frequencies)
					y := model.Layers[0].forward(tensor.From(s, x, decoderTokens, n), causal{angles})
					got, err := tensor.Values[float32](t.Context(), y)
					if err != nil {
						t.Fatal(err)
					}
					for i := range got {
						if d := math.Abs(float64(got[i]) - want[i]); !(d < 0.02*(1+math.Abs(want[i]))) {
							t.Fatalf("element %d is %g, want %g", i, got[i], want[i])
						}
					}
				})
			})
		}
	}
}

// decoderReference computes the layer with loops.
func decoderReference(x []float32, w [][]float32) []float64 {
	const n = decoderWidth
	stream := make([]float64, len(x))
	for i, v := range x {
		stream[i] = float64(v)
	}
	normal := normalized(stream, w[0])
	q, k, v := products(normal, w[1], n), products(normal, w[2], n), products(normal, w[3], n)
	rotated(q, decoderHeads)
	rotated(k, decoderKeyHeads)
	for i, d := range products(attended(q, k, v), w[4], decoderHeads*decoderDim) {
		stream[i] += d
	}
	normal = normalized(stream, w[5])
	gate, up := products(normal, w[6], n), products(normal, w[7], n)
	for i, g := range gate {
		gate[i] = g / (1 + math.Exp(-g)) * up[i]
	}
	for i, d := range products(gate, w[8], decoderInner) {
		stream[i] += d
	}
	return stream
}

func normalized(x []float64, w []float32) []float64 {
	y := make([]float64, len(x))
	for row := 0; row < len(x); row += decoderWidth {
		sum := 0.0
		for _, v := range x[row : row+decoderWidth] {
			sum += v * v
		}
		for i := range decoderWidth {
			y[row+i] = x[row+i] / math.Sqrt(sum/decoderWidth+1e-5) * float64(w[i])
		}
	}
	return y
}

// products multiplies rows of in elements by the rows of w.
func products(x []float64, w []float32, in int) (y []float64) {
	for row := 0; row < len(x); row += in {
		for column := 0; column < len(w); column += in {
			sum := 0.0
			for i := range in {
				sum += x[row+i] * float64(w[column+i])
			}
			y = append(y, sum)
		}
	}
	return y
}

func rotated(x []float64, heads int) {
	for i := 0; i < len(x); i += decoderDim {
		position := float64(i / (heads * decoderDim))
		for k := range decoderDim / 2 {
			sin, cos := math.Sincos(position * math.Pow(10, -float64(k)))
			a, b := &x[i+k], &x[i+k+decoderDim/2]
			*a, *b = *a*cos-*b*sin, *a*sin+*b*cos
		}
	}
}

func attended(q, k, v []float64) []float64 {
	y := make([]float64, len(q))
	for token := range decoderTokens {
		for head := range decoderHeads {
			at := (token*decoderHeads + head) * decoderDim
			sum := 0.0
			for other := range token + 1 {
				from := (other*decoderKeyHeads + head/(decoderHeads/decoderKeyHeads)) * decoderDim
				score := 0.0
				for i := range decoderDim {
					score += q[at+i] * k[from+i]
				}
				score = math.Exp(score / math.Sqrt(decoderDim))
				sum += score
				for i := range decoderDim {
					y[at+i] += score * v[from+i]
				}
			}
			for i := range decoderDim {
				y[at+i] /= sum
			}
		}
	}
	return y
}
