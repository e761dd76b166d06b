package nn_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
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
func file(t testing.TB, format string, list ...entry) *weights.File {
	t.Helper()
	c := weights.Contents{Format: format}
	for _, e := range list {
		var data []byte
		var err error
		switch e.of {
		case weights.F32:
			data, err = binary.Append(nil, binary.LittleEndian, e.values)
		case weights.F64:
			data, err = binary.Append(nil, binary.LittleEndian, float64s(e.values))
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
		p := nn.NewParams(s.Stream(), nn.Options{})
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
			if last := fmt.Sprintf(" %d\n", p.Bytes()); !strings.HasSuffix(nn.Summary(b), last) {
				t.Errorf("%s: want%sof memory:\n%s", format, last, nn.Summary(b))
			}
			same(t, b.Embed.Forward(tensor.From(s, []int32{4, 0, 5, -1}, 2, 2)), []int{2, 2, 32}, append(append(embed[128:160:160], embed[:32]...), make([]float32, 64)...))
			one := make([]float32, 32)
			one[3] = 1
			same(t, b.Parts[1].Up.Forward(tensor.From(s, one, 1, 32)), []int{1, 3}, []float32{up[3], up[35], up[67]})
			scale := math.Sqrt(32) / math.Sqrt(1+32e-5) * float64(numbers(32)[3]) // of the normalized vector
			near(t, b.Embed.Scores(&b.Parts[0].Norm, tensor.From(s, one, 32)), []float64{scale * float64(embed[3]), scale * float64(embed[35]), scale * float64(embed[67]), scale * float64(embed[99]), scale * float64(embed[131])})
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
			entry{"layers.0.mlp.up.weight", weights.F64, []int{3, 32}, numbers(96)}, entry{"layers.1.norm.weight", weights.F32, []int{32}, numbers(32)},
			entry{"more", weights.F32, []int{1}, numbers(1)}, entry{"ignored", weights.F32, []int{1}, numbers(1)},
		), nn.LoadOptions{Ignore: []string{"ignored"}})
		for want, text := range map[error]string{
			nn.ErrShape: "embed.weight is [32 5], want [5 32]", nn.ErrFormat: "layers.0.mlp.up.weight is of type F64",
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

// TestPartialBlocks loads rows of half a block, which GGUF files cannot have.
func TestPartialBlocks(t *testing.T) {
	x, err := weights.NewTensor(weights.Spec{Name: "up.weight", Type: weights.Q4_K, Shape: []int{2, 128}}, bytes.NewReader(make([]byte, 144)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := weights.New(weights.Contents{Tensors: []*weights.Tensor{x}})
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		var model struct {
			Up nn.Linear `weights:"up"`
		}
		model.Up = nn.Linear{In: 128, Out: 2}
		err := nn.Load(p, &model, f, nn.LoadOptions{})
		if !errors.Is(err, nn.ErrShape) || !strings.Contains(err.Error(), "up.weight has rows of 128 elements, but blocks of type Q4_K have 256") {
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

// TestTogether multiplies one row by stacked matrices in one format and in several.
func TestTogether(t *testing.T) {
	const width = 64
	rows := []int{32, 16, 48}
	for name, open := range kerneltest.Executions() {
		for _, formats := range [][]weights.Type{{weights.Q8_0, weights.Q8_0, weights.Q8_0}, {weights.Q8_0, weights.Q8_0, weights.Q4_1}, {weights.Q4_1, weights.Q8_0, weights.Q4_0}, {weights.Q8_0, weights.BF16, weights.Q8_0}} {
			t.Run(fmt.Sprintf("%s/%v", name, formats), func(t *testing.T) {
				dev := kerneltest.Device(t, open)
				err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
					p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.BFloat16})
					defer p.Close()
					x := numbers(width)
					var list []entry
					var want []float64
					for i, of := range formats {
						e := entry{fmt.Sprintf("%d.weight", i), of, []int{rows[i], width}, make([]float32, rows[i]*width)}
						for k := range e.values {
							e.values[k] = float32((k*7+i)%16-8) / 4
							if k%32 == 0 {
								e.values[k] = -127. / 4 // the largest of a block
								if of != weights.Q8_0 {
									e.values[k] = -2
								}
							}
						}
						list = append(list, e)
						want = append(want, reference{e.values, width, make([]float32, rows[i])}.times(float64s(x))...)
					}
					var m struct {
						All nn.Stacked `weights:"{0,1,2}"`
					}
					m.All = nn.Stacked{In: width, Out: rows}
					if err := nn.Load(p, &m, file(t, "", list...), nn.LoadOptions{}); err != nil {
						return err
					}
					row := tensor.From(s, x, 1, width).To(dtype.BFloat16)
					all, ok := m.All.Together(row)
					if !ok {
						if formats[1] != weights.BF16 {
							t.Error("the products are not together")
						}
						return nil
					}
					near(t, all, want)
					at := 0
					for i, part := range m.All.Forward(row) {
						near(t, part, want[at:at+rows[i]])
						at += rows[i]
					}
					if two := tensor.From(s, numbers(2*width), 2, width).To(dtype.BFloat16); formats[0] != formats[2] {
						if _, ok := m.All.Together(two); ok {
							t.Error("the products of two rows are together")
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// testModel has each kind of layer that computes.
type testModel struct {
	Norm  nn.RMSNorm   `weights:"norm"`
	Up    nn.Linear    `weights:"up"`
	Pair  nn.Stacked   `weights:"{gate,more}"`
	Down  nn.Linear    `weights:"down"`
	Embed nn.Embedding `weights:"embed"`
}

// TestLayers compares layers with float64 on all executions, for matrices of all types, with biases and without, for one row and
// several. The interpreter has each type either with biases or without.
func TestLayers(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for i, of := range []weights.Type{weights.F32, weights.F16, weights.BF16, weights.Q8_0} {
			t.Run(fmt.Sprintf("%s/%v", name, of), func(t *testing.T) {
				onDevice(t, open, func(s *tensor.Scope, p *nn.Params) {
					for k, biased := range []bool{false, true} {
						if name == "interp" && !sweep.Every(2, i+k) {
							continue
						}
						testLayers(t, s, p, layersOf{of, biased})
					}
				})
			})
		}
	}
}

// layersOf says what the file of testLayers has.
type layersOf struct {
	matrices weights.Type
	biased   bool
}

// testLayers compares all layers with products in float64.
func testLayers(t *testing.T, s *tensor.Scope, p *nn.Params, o layersOf) {
	const width, inner = 64, 96
	r := rand.New(rand.NewPCG(1, 2))
	var list []entry
	matrix := func(name string, rows, columns int) reference {
		e := entry{name + ".weight", o.matrices, []int{rows, columns}, make([]float32, rows*columns)}
		for i := range e.values {
			e.values[i] = float32(r.IntN(255)-127) / 64 // exact in all types
			if i%32 == 0 {
				e.values[i] = 127. / 64 // the largest of a block
			}
		}
		x := reference{weight: e.values, columns: columns, bias: make([]float32, rows)}
		list = append(list, e)
		if o.biased && name != "embed" {
			x.bias = numbers(rows)
			list = append(list, entry{name + ".bias", weights.F32, []int{rows}, x.bias})
		}
		return x
	}
	up, gate, more, down, embed := matrix("up", inner, width), matrix("gate", inner, width), matrix("more", inner, width), matrix("down", width, inner), matrix("embed", 50, width)
	scale := numbers(width)
	list = append(list, entry{"norm.weight", weights.F32, []int{width}, scale})
	m := testModel{
		nn.RMSNorm{Width: width, Epsilon: 1e-5}, nn.Linear{In: width, Out: inner, Bias: o.biased}, nn.Stacked{In: width, Out: []int{inner, inner}, Bias: o.biased},
		nn.Linear{In: inner, Out: width, Bias: o.biased}, nn.Embedding{Count: 50, Width: width},
	}
	if err := nn.Load(p, &m, file(t, "", list...), nn.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	three := numbers(3 * width)
	near(t, nn.Rows(tensor.From(s, three, 3, width), tensor.From(s, []int32{2, 0, 3}, 3)), append(append(float64s(three[2*width:]), float64s(three[:width])...), make([]float64, width)...))
	for _, n := range []int{1, 3, 33} {
		x := numbers(n*width + 8)[8:]
		stream := tensor.From(s, x, n, width)
		normed := m.Norm.Forward(stream)
		want := norm(float64s(x), scale)
		near(t, normed, want)
		near(t, m.Norm.Forward(normed), norm(want, scale))
		near(t, m.Up.Forward(normed), up.times(want))
		parts := m.Pair.Forward(normed)
		near(t, parts[0], gate.times(want))
		near(t, parts[1], more.times(want))
		glu := gate.times(want)
		for i, u := range more.times(want) {
			glu[i] *= u / (1 + math.Exp(-glu[i]))
		}
		near(t, tensor.SwiGLU(parts[0], parts[1]), glu)
		mid := m.Pair.SwiGLU(&m.Norm, stream)
		near(t, mid, glu)
		near(t, m.Embed.Scores(&m.Norm, stream), embed.times(want))
		sum := down.times(glu)
		for i, v := range x {
			sum[i] += float64(v)
		}
		if got := m.Down.AddTo(stream, mid); got != stream {
			t.Errorf("AddTo returned %v", got)
		}
		near(t, stream, sum)
	}
}

// reference is a linear layer in float64.
type reference struct {
	weight  []float32
	columns int
	bias    []float32
}

// times returns the products with the rows of x.
func (r reference) times(x []float64) (y []float64) {
	for ; len(x) > 0; x = x[r.columns:] {
		for row := range r.bias {
			sum := float64(r.bias[row])
			for i, w := range r.weight[row*r.columns : (row+1)*r.columns] {
				sum += float64(w) * x[i]
			}
			y = append(y, sum)
		}
	}
	return y
}

// norm returns the normalized rows of x.
func norm(x []float64, scale []float32) (y []float64) {
	for ; len(x) > 0; x = x[len(scale):] {
		squares := 0.0
		for _, v := range x[:len(scale)] {
			squares += v * v
		}
		for i, v := range x[:len(scale)] {
			y = append(y, v/math.Sqrt(squares/float64(len(scale))+1e-5)*float64(scale[i]))
		}
	}
	return y
}

func float64s[T float32 | dtype.BF16](list []T) (wide []float64) {
	for _, v := range list {
		switch v := any(v).(type) {
		case float32:
			wide = append(wide, float64(v))
		case dtype.BF16:
			wide = append(wide, v.Float64())
		}
	}
	return wide
}

// near compares elements with wanted ones. With activations of bfloat16, the error is that of a few roundings relative to the vector.
func near(t *testing.T, x *tensor.Tensor, want []float64) {
	t.Helper()
	tolerance, got := 1e-5, []float64(nil)
	if x.DType() == dtype.BFloat16 {
		list, err := tensor.Values[dtype.BF16](t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		tolerance, got = 0.02, float64s(list)
	} else {
		list, err := tensor.Values[float32](t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		got = float64s(list)
	}
	if k := x.Scope().Stream().Device().Info().Kind; k != "cpu" {
		tolerance = 0.02
	}
	size := 0.0
	for _, w := range want {
		size += w * w / float64(len(want))
	}
	for i, w := range want {
		if i >= len(got) || !(math.Abs(got[i]-w) <= tolerance*(math.Sqrt(size)+math.Abs(w))) {
			t.Fatalf("element %d of %v: got %v, want %v", i, x, got[i], w)
		}
	}
}

// TestShapesThatDoNotFit passes operands with rows of other lengths, also such as have the elements of one row of the right length.
func TestShapesThatDoNotFit(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		if name == "native" {
			continue // it is the CPU
		}
		t.Run(name, func(t *testing.T) { testShapes(t, kerneltest.Device(t, open)) })
	}
}

func testShapes(t *testing.T, dev *device.Device) {
	const width = 32
	for name, f := range map[string]func(s *tensor.Scope, m *testModel) *tensor.Tensor{
		"Linear": func(s *tensor.Scope, m *testModel) *tensor.Tensor {
			return m.Up.Forward(m.Norm.Forward(tensor.From(s, numbers(width), 1, width)).Reshape(2, width/2))
		},
		"Embedding": func(s *tensor.Scope, m *testModel) *tensor.Tensor {
			return m.Embed.Forward(tensor.From(s, numbers(2), 2))
		},
		"RMSNorm": func(s *tensor.Scope, m *testModel) *tensor.Tensor {
			return m.Norm.Forward(tensor.From(s, numbers(62), 2, 31))
		},
		"RMSNorm, scores": func(s *tensor.Scope, m *testModel) *tensor.Tensor {
			return m.Embed.Scores(&m.Norm, tensor.From(s, numbers(width), 2, width/2))
		},
		"RMSNorm, SwiGLU": func(s *tensor.Scope, m *testModel) *tensor.Tensor {
			return m.Pair.SwiGLU(&m.Norm, tensor.From(s, numbers(width), 2, width/2))
		},
		"Linear, sum": func(s *tensor.Scope, m *testModel) *tensor.Tensor {
			return m.Down.AddTo(tensor.From(s, numbers(width), 1, width), tensor.From(s, numbers(width), 1, width))
		},
		"SwiGLU": func(s *tensor.Scope, m *testModel) *tensor.Tensor {
			return tensor.SwiGLU(tensor.From(s, numbers(6), 2, 3), tensor.From(s, numbers(6), 3, 2))
		},
	} {
		s, err := dev.NewStream()
		if err != nil {
			t.Fatal(err)
		}
		p := nn.NewParams(s, nn.Options{})
		m := testModel{nn.RMSNorm{Width: width}, nn.Linear{In: width, Out: 4}, nn.Stacked{In: width, Out: []int{4, 4}}, nn.Linear{In: 8, Out: width}, nn.Embedding{Count: 5, Width: width}}
		var list []entry
		for name, size := range map[string][]int{"up": {4, width}, "gate": {4, width}, "more": {4, width}, "down": {width, 8}, "embed": {5, width}} {
			list = append(list, entry{name + ".weight", weights.BF16, size, numbers(size[0] * size[1])})
		}
		if err := nn.Load(p, &m, file(t, "", append(list, entry{"norm.weight", weights.F32, []int{width}, numbers(width)})...), nn.LoadOptions{}); err != nil {
			t.Fatal(err)
		}
		var e *tensor.Error
		err = tensor.RunOn(t.Context(), s, func(s *tensor.Scope) error { f(s, &m); return nil })
		op, _, _ := strings.Cut(name, ",")
		if !errors.As(err, &e) || !strings.HasPrefix(e.Line, "nn_test.go:") || e.Op != op {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(p.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}
