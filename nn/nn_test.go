package nn_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// entry is a tensor of a file: values that are encoded as elements of a type.
type entry struct {
	name   string
	of     weights.Type
	shape  []int
	values []float32
}

// file returns a file of tensors. The format decides which tags of a model count.
func file(t *testing.T, format string, list ...entry) *weights.File {
	t.Helper()
	c := weights.Contents{Format: format}
	for _, e := range list {
		var data []byte
		var err error
		switch e.of {
		case weights.F32:
			data, err = binary.Append(nil, binary.LittleEndian, e.values)
		case weights.BF16:
			for _, v := range e.values {
				data = binary.LittleEndian.AppendUint16(data, uint16(dtype.BF16From32(v)))
			}
		case weights.F16:
			for _, v := range e.values {
				data = binary.LittleEndian.AppendUint16(data, uint16(dtype.F16From32(v)))
			}
		default:
			data, err = gguf.Quantize(e.of, nil, e.values)
		}
		if err != nil {
			t.Fatal(err)
		}
		x, err := weights.NewTensor(weights.Spec{Name: e.name, Type: e.of, Shape: e.shape}, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		c.Tensors = append(c.Tensors, x)
	}
	f, err := weights.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// numbers returns multiples of 1/8, which BF16 and F16 represent exactly.
func numbers(n int) []float32 {
	r, list := rand.New(rand.NewPCG(uint64(n), 9)), make([]float32, n)
	for i := range list {
		list[i] = float32(r.IntN(64)-32) / 8
	}
	return list
}

// block is a model with all kinds of layers.
type block struct {
	Embed nn.Embedding `weights:"embed" gguf:"token_embd"`
	Parts []struct {
		Norm nn.RMSNorm `weights:"norm" gguf:"attn_norm"`
		Up   nn.Linear  `weights:"mlp.up" gguf:"ffn_up"`
	} `weights:"layers.%d" gguf:"blk.%d"`
	Head *nn.Linear `weights:"head" gguf:"output"`
}

func newBlock(layers int) *block {
	b := &block{Embed: nn.Embedding{Count: 5, Width: 32}, Head: &nn.Linear{In: 32, Out: 7}}
	b.Parts = append(b.Parts, make([]struct {
		Norm nn.RMSNorm `weights:"norm" gguf:"attn_norm"`
		Up   nn.Linear  `weights:"mlp.up" gguf:"ffn_up"`
	}, layers)...)
	for i := range b.Parts {
		b.Parts[i].Norm, b.Parts[i].Up = nn.RMSNorm{Width: 32, Epsilon: 1e-5}, nn.Linear{In: 32, Out: 3}
	}
	return b
}

// onDevice calls f with parameters of a device and a scope.
func onDevice(t *testing.T, open kerneltest.Opener, f func(s *tensor.Scope, p *nn.Params)) {
	t.Helper()
	dev := kerneltest.Device(t, open)
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		p := nn.NewParams(s.Stream())
		f(s, p)
		return p.Close()
	})
	if err != nil {
		t.Error(err)
	}
	if owners := dev.Owners(); len(owners) > 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
}

func TestLoad(t *testing.T) {
	embed, up := numbers(5*32), numbers(3*32)
	for format, names := range map[string][]string{
		"safetensors": {"embed", "layers.0.norm", "layers.0.mlp.up", "layers.1.norm", "layers.1.mlp.up", "head"},
		"GGUF 3":      {"token_embd", "blk.0.attn_norm", "blk.0.ffn_up", "blk.1.attn_norm", "blk.1.ffn_up", "output"},
	} {
		list := []entry{
			{names[0] + ".weight", weights.BF16, []int{5, 32}, embed}, {names[1] + ".weight", weights.F32, []int{32}, numbers(32)},
			{names[2] + ".weight", weights.Q8_0, []int{3, 32}, up}, {names[3] + ".weight", weights.F16, []int{32}, numbers(32)},
			{names[4] + ".weight", weights.BF16, []int{3, 32}, up}, {names[5] + ".weight", weights.Q4_1, []int{7, 32}, numbers(7 * 32)},
		}
		onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
			b := newBlock(2)
			var done []int64
			f := file(t, format, list...)
			if err := nn.Load(p, b, f, nn.LoadOptions{Progress: func(n, total int64) { done = append(done, n) }}); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if !slices.IsSorted(done) || len(done) == 0 || done[len(done)-1] != f.Size() {
				t.Errorf("%s: progress %v of %d bytes", format, done, f.Size())
			}
			same(t, b.Embed.Forward(tensor.From(s, []int32{4, 0, 5, -1}, 2, 2)), []int{2, 2, 32}, append(append(embed[128:160:160], embed[:32]...), make([]float32, 64)...))
			one := make([]float32, 32)
			one[3] = 1
			same(t, b.Parts[1].Up.Forward(tensor.From(s, one, 1, 32)), []int{1, 3}, []float32{up[3], up[35], up[67]})
			same(t, b.Embed.Scores(tensor.From(s, one, 32)), []int{5}, []float32{embed[3], embed[35], embed[67], embed[99], embed[131]})
		})
		onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
			if b := newBlock(2); nn.Load(p, b, file(t, format, list[:5]...), nn.LoadOptions{}) != nil || b.Head != nil {
				t.Errorf("%s: a file without the optional layer: the layer is %v", format, b.Head)
			}
		})
	}
}

// same compares the shape and the elements of a tensor.
func same(t *testing.T, x *tensor.Tensor, shape []int, want []float32) {
	t.Helper()
	got, err := tensor.Values[float32](t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Shape(), shape) || !slices.Equal(got, want) {
		t.Errorf("got %v %v, want %v %v", x.Shape(), got, shape, want)
	}
}

// TestLoadIsStrict makes several mistakes at once.
func TestLoadIsStrict(t *testing.T) {
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		err := nn.Load(p, newBlock(2), file(t, "safetensors",
			entry{"embed.weight", weights.BF16, []int{32, 5}, numbers(160)}, entry{"layers.0.norm.weight", weights.F32, []int{31}, numbers(31)},
			entry{"layers.0.mlp.up.weight", weights.F32, []int{3, 32}, numbers(96)}, entry{"layers.1.norm.weight", weights.F32, []int{32}, numbers(32)},
			entry{"more", weights.F32, []int{1}, numbers(1)}, entry{"ignored", weights.F32, []int{1}, numbers(1)},
		), nn.LoadOptions{Ignore: []string{"ignored"}})
		for want, text := range map[error]string{
			nn.ErrShape: "embed.weight is [32 5], want [5 32]", nn.ErrFormat: "layers.0.mlp.up.weight is of type F32",
			nn.ErrMissing: "layers.1.mlp.up.weight", nn.ErrUnused: "more [1]",
		} {
			if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
				t.Errorf("%v is not %q", err, text)
			}
		}
		if text := err.Error(); !strings.Contains(text, "layers.0.norm.weight is [31], want [32]") || strings.Contains(text, "ignored") || strings.Count(text, "\n") != 4 {
			t.Errorf("got %v", err)
		}
	})
}

func TestOrder(t *testing.T) {
	w := numbers(3 * 32)
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		var model struct {
			Up nn.Linear `weights:"up"`
		}
		model.Up = nn.Linear{In: 32, Out: 3}
		reverse := func(name string) func(int) int { return func(i int) int { return 2 - i } }
		if err := nn.Load(p, &model, file(t, "", entry{"up.weight", weights.BF16, []int{3, 32}, w}), nn.LoadOptions{Order: reverse}); err != nil {
			t.Fatal(err)
		}
		one := make([]float32, 32)
		one[0] = 1
		same(t, model.Up.Forward(tensor.From(s, one, 1, 32)), []int{1, 3}, []float32{w[64], w[32], w[0]})
	})
}

// TestLayers compares layers with float64 on all executions, for one row and several.
func TestLayers(t *testing.T) {
	w, scale := numbers(3*64), numbers(64)
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			onDevice(t, open, func(s *tensor.Scope, p *nn.Params) {
				var model struct {
					Norm nn.RMSNorm `weights:"norm"`
					Up   nn.Linear  `weights:"up"`
				}
				model.Norm, model.Up = nn.RMSNorm{Width: 64, Epsilon: 1e-5}, nn.Linear{In: 64, Out: 3}
				f := file(t, "", entry{"up.weight", weights.BF16, []int{3, 64}, w}, entry{"norm.weight", weights.F32, []int{64}, scale})
				if err := nn.Load(p, &model, f, nn.LoadOptions{}); err != nil {
					t.Fatal(err)
				}
				for _, n := range []int{1, 3} {
					x, y := numbers(n*64 + 64)[:n*64], numbers(n*64)
					sum, normed := model.Norm.AddForward(tensor.From(s, x, n, 64), tensor.From(s, y, n, 64))
					wantSum, wantNormed := make([]float64, n*64), make([]float64, n*64)
					for i := range wantSum {
						wantSum[i] = float64(x[i]) + float64(y[i])
					}
					for r := range n {
						squares := 0.0
						for _, v := range wantSum[r*64 : r*64+64] {
							squares += v * v
						}
						for i := r * 64; i < r*64+64; i++ {
							wantNormed[i] = wantSum[i] / math.Sqrt(squares/64+1e-5) * float64(scale[i%64])
						}
					}
					near(t, sum, wantSum)
					near(t, normed, wantNormed)
					near(t, model.Norm.Forward(sum), wantNormed)
					wantUp := make([]float64, n*3)
					for i := range wantUp {
						for k := range 64 {
							wantUp[i] += float64(x[i/3*64+k]) * float64(w[i%3*64+k])
						}
					}
					near(t, model.Up.Forward(tensor.From(s, x, n, 64)), wantUp)
					wantGate := make([]float64, n*64)
					for i := range wantGate {
						wantGate[i] = float64(x[i]) / (1 + math.Exp(-float64(x[i]))) * float64(y[i])
					}
					near(t, nn.SwiGLU(tensor.From(s, x, n, 64), tensor.From(s, y, n, 64)), wantGate)
				}
			})
		})
	}
}

// near compares elements with wanted ones.
func near(t *testing.T, x *tensor.Tensor, want []float64) {
	t.Helper()
	got, err := tensor.Values[float32](t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if i >= len(got) || !(math.Abs(float64(got[i])-w) <= 1e-5*(1+math.Abs(w))) {
			t.Fatalf("element %d of %v: got %v, want %v", i, x, got[i], w)
		}
	}
}

func TestShapesThatDoNotFit(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	up, embed, norm := nn.Linear{In: 32, Out: 3}, nn.Embedding{Count: 5, Width: 32}, nn.RMSNorm{Width: 32}
	var model struct {
		Up    nn.Linear    `weights:"up"`
		Embed nn.Embedding `weights:"embed"`
		Norm  nn.RMSNorm   `weights:"norm"`
	}
	model.Up, model.Embed, model.Norm = up, embed, norm
	for name, f := range map[string]func(s *tensor.Scope) *tensor.Tensor{
		"Linear":    func(s *tensor.Scope) *tensor.Tensor { return model.Up.Forward(tensor.From(s, numbers(62), 2, 31)) },
		"Embedding": func(s *tensor.Scope) *tensor.Tensor { return model.Embed.Forward(tensor.From(s, numbers(2), 2)) },
		"RMSNorm":   func(s *tensor.Scope) *tensor.Tensor { return model.Norm.Forward(tensor.From(s, numbers(62), 2, 31)) },
		"SwiGLU": func(s *tensor.Scope) *tensor.Tensor {
			return nn.SwiGLU(tensor.From(s, numbers(6), 2, 3), tensor.From(s, numbers(6), 3, 2))
		},
	} {
		s, err := dev.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		p := nn.NewParams(s)
		file := file(t, "", entry{"up.weight", weights.BF16, []int{3, 32}, numbers(96)}, entry{"embed.weight", weights.BF16, []int{5, 32}, numbers(160)}, entry{"norm.weight", weights.F32, []int{32}, numbers(32)})
		if err := nn.Load(p, &model, file, nn.LoadOptions{}); err != nil {
			t.Fatal(err)
		}
		var e *tensor.Error
		err = tensor.RunOn(t.Context(), s, func(s *tensor.Scope) error { f(s); return nil })
		if !errors.As(err, &e) || !strings.HasPrefix(e.Line, "nn_test.go:") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(p.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}
