package lora_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/weights"
)

// numbers returns n different numbers.
func numbers(n, seed int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32((i*i*7+i*seed+seed)%31-15) / 16
	}
	return list
}

// loaded returns a layer with a matrix and, if it is not nil, a bias.
func loaded(t *testing.T, s *device.Stream, in int, w, bias []float32) *nn.Linear {
	t.Helper()
	model := struct {
		L nn.Linear `weights:"l"`
	}{nn.Linear{In: in, Out: len(w) / in, Bias: bias != nil}}
	var list []*weights.Tensor
	add := func(name string, values []float32, shape ...int) {
		data, err := binary.Append(nil, binary.LittleEndian, values)
		if err != nil {
			t.Fatal(err)
		}
		x, err := weights.NewTensor(weights.Spec{Name: name, Type: weights.F32, Shape: shape}, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	if add("l.weight", w, len(w)/in, in); bias != nil {
		add("l.bias", bias, len(bias))
	}
	f, err := weights.New(weights.Contents{Tensors: list})
	if err != nil {
		t.Fatal(err)
	}
	p := nn.NewParams(s, nn.Options{})
	if err := nn.Load(p, &model, f, nn.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return &model.L
}

// dora is the sizes and operands of a layer with DoRA.
type dora struct {
	rows, in, out, rank int
	scale               float64
	w, x, slope         []float32 // slope is the derivative with respect to the result
	a, b, m             []float32 // the parameters
}

// reference computes the result without a bias, and the derivatives with respect to A, B, the norms and x, by PEFT's formulas in float64.
func (d dora) reference() (y, da, db, dm, dx []float64) {
	y, da, db = make([]float64, d.rows*d.out), make([]float64, len(d.a)), make([]float64, len(d.b))
	dm, dx = make([]float64, d.out), make([]float64, d.rows*d.in)
	for o := range d.out {
		v, norm := make([]float64, d.in), 0.0 // the row of W + scale B A
		for i := range v {
			v[i] = float64(d.w[o*d.in+i])
			for r := range d.rank {
				v[i] += d.scale * float64(d.b[o*d.rank+r]) * float64(d.a[r*d.in+i])
			}
			norm += v[i] * v[i]
		}
		norm = math.Sqrt(norm)
		factor := float64(d.m[o]) / norm
		for row := range d.rows {
			x, g := d.x[row*d.in:][:d.in], float64(d.slope[row*d.out+o])
			var product float64
			for i := range x {
				product += v[i] * float64(x[i])
				dx[row*d.in+i] += g * factor * v[i]
				for r := range d.rank {
					da[r*d.in+i] += g * factor * d.scale * float64(d.b[o*d.rank+r]) * float64(x[i])
					db[o*d.rank+r] += g * factor * d.scale * float64(d.a[r*d.in+i]) * float64(x[i])
				}
			}
			y[row*d.out+o] = factor * product
			dm[o] += g * product / norm
		}
	}
	return y, da, db, dm, dx
}

// compared is numbers and what they should be.
type compared struct {
	name     string
	got      []float32
	want     []float64
	greatest float64 // of two numbers whose sum they are, and which may cancel out
}

// check compares the numbers. Those computed with bfloat16, on GPUs, differ more: also by the rounding of the greatest.
func (c compared) check(t *testing.T, of dtype.Type) {
	t.Helper()
	most := 0.0
	for _, v := range c.want {
		most = max(most, math.Abs(v))
	}
	allowed := 1e-5 * most
	if of == dtype.BFloat16 {
		allowed = max(0.05*most, c.greatest/256)
	}
	if len(c.got) != len(c.want) {
		t.Fatalf("%s has %d elements, want %d", c.name, len(c.got), len(c.want))
	}
	for i := range c.got {
		if d := math.Abs(float64(c.got[i]) - c.want[i]); !(d <= allowed) {
			t.Errorf("%s: element %d is %v, want %v", c.name, i, c.got[i], c.want[i])
		}
	}
}

// TestDoRA compares results and derivatives with a reference in float64, with and without a bias of the layer, and after Fix.
func TestDoRA(t *testing.T) {
	for device, open := range map[string]kerneltest.Opener{"cpu": cpu.Open, "cuda": kerneltest.Executions()["cuda"]} {
		t.Run(device, func(t *testing.T) { doraOn(t, kerneltest.Stream(t, open)) })
	}
}

// doraOn is TestDoRA on a device.
func doraOn(t *testing.T, s *device.Stream) {
	t.Helper()
	for name, bias := range map[string][]float32{"plain": nil, "bias": numbers(8, 9)} {
		t.Run(name, func(t *testing.T) {
			l := layers[0]
			d := dora{rows: 3, in: l.In, out: l.Out, rank: 2, scale: 1.5, w: numbers(l.In*l.Out, 3), x: numbers(3*l.In, 4), slope: numbers(3*l.Out, 5)}
			adapter := newAdapter(t, s, lora.Options{Rank: d.rank, Alpha: 3, DoRA: true, Modules: []string{"q_proj"}})
			base := loaded(t, s, l.In, d.w, bias)
			for _, l := range adapter.Layers() {
				if err := adapter.Attach(l.Name, base); err != nil {
					t.Fatal(err)
				}
			}
			d.check(t, s, adapter, base, bias) // begins with the results of the layer
			fill(t, s, adapter)
			d.check(t, s, adapter, base, bias)
			folder := filepath.Join(t.TempDir(), "adapter")
			if err := adapter.Save(t.Context(), s, folder); err != nil {
				t.Fatal(err)
			}
			again, err := lora.Open(s, layers, folder)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if err := again.Attach(l.Name, base); err != nil {
				t.Fatal(err)
			}
			d.check(t, s, again, base, bias)
			for range 2 {
				if got, _ := d.run(t, s, again, base); !slices.Equal(got, first(d.run(t, s, adapter, base))) {
					t.Error("the adapter that was read gives other results")
				}
				if err := again.Fix(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func first[T, U any](x T, _ U) T { return x }

// run returns the results and all derivatives, that with respect to x under "x".
func (d dora) run(t *testing.T, s *device.Stream, a *lora.Adapter, base *nn.Linear) (y []float32, slopes map[string][]float32) {
	t.Helper()
	err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
		scope.Record()
		x := scope.Variable(tensor.From(scope, d.x, d.rows, d.in).To(a.Params().Activations()))
		out := a.Pair(layers[0].Name).Add(base.Forward(x), x)
		scope.Backward(out.Mul(tensor.From(scope, d.slope, d.rows, d.out)).Sum())
		var err error
		if y, err = tensor.Values[float32](t.Context(), out.To(dtype.Float32)); err != nil {
			return err
		}
		if slopes, err = gradients(scope, a); err != nil {
			return err
		}
		if slopes["x"], err = tensor.Values[float32](t.Context(), x.Grad().To(dtype.Float32)); err != nil {
			return err
		}
		return train.NewSGD(a.Params(), train.SGDOptions{}).Clear(scope)
	})
	if err != nil {
		t.Fatal(err)
	}
	return y, slopes
}

// check compares what an adapter computes with the reference.
func (d dora) check(t *testing.T, s *device.Stream, a *lora.Adapter, base *nn.Linear, bias []float32) {
	t.Helper()
	name := "base_model.model." + layers[0].Name
	values, err := values(t.Context(), s, a)
	if err != nil {
		t.Fatal(err)
	}
	d.a, d.b, d.m = values[name+".lora_A.weight"], values[name+".lora_B.weight"], values[name+".lora_magnitude_vector"]
	y, da, db, dm, dx := d.reference()
	for i := range bias {
		for row := range d.rows {
			y[row*d.out+i] += float64(bias[i])
		}
	}
	got, slopes := d.run(t, s, a, base)
	of := a.Params().Activations()
	for _, c := range []compared{
		{"y", got, y, 0}, {"dA", slopes[name+".lora_A.weight"], da, 0}, {"dB", slopes[name+".lora_B.weight"], db, 0},
		{"dm", slopes[name+".lora_magnitude_vector"], dm, 0}, {"dx", slopes["x"], dx, d.throughLayer()},
	} {
		c.check(t, of)
	}
}

// throughLayer returns the greatest derivative with respect to x of the layer without an adapter.
func (d dora) throughLayer() (greatest float64) {
	for row := range d.rows {
		for i := range d.in {
			dx := 0.0
			for o := range d.out {
				dx += float64(d.slope[row*d.out+o]) * float64(d.w[o*d.in+i])
			}
			greatest = max(greatest, math.Abs(dx))
		}
	}
	return greatest
}

// TestDropout checks that the input of the matrices is dropped in training only, and that what DoRA changes of the layer's results is computed from the
// same elements.
func TestDropout(t *testing.T) {
	s := kerneltest.Stream(t, cpu.Open)
	const n, rate = 400, 0.25
	l := lora.Linear{Name: "l", In: n, Out: 1}
	for _, decomposed := range []bool{false, true} {
		a, err := lora.New(s, []lora.Linear{l}, lora.Options{Rank: 1, Alpha: 1, Dropout: rate, DoRA: decomposed})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		ones := slices.Repeat([]float32{1}, n)
		base := loaded(t, s, n, ones, nil)
		if err := a.Attach("l", base); err != nil {
			t.Fatal(err)
		}
		set(t, s, a, 1) // A and B of ones: the row of W + B A has the elements 2
		add := func(record bool, seed uint64) float64 {
			var v []float32
			err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) (err error) {
				scope.Seed(seed)
				if record {
					scope.Record()
				}
				x := tensor.From(scope, ones, 1, n)
				v, err = tensor.Values[float32](t.Context(), a.Pair("l").Add(base.Forward(x), x))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return float64(v[0])
		}
		kept, other := add(true, 1), add(true, 2)
		want := 2.0 * n // W x + B A x
		share := (kept - n) / n
		if decomposed { // the trained norm is 1: x of W x, plus the kept share of the change to 2 / (2 sqrt(n))
			want = math.Sqrt(n)
			share = (kept - n) / (math.Sqrt(n) - n)
		}
		if got := add(false, 1); math.Abs(got-want) > 1e-4*want {
			t.Errorf("DoRA %v: %v without training, want %v", decomposed, got, want)
		}
		if again := add(true, 1); again != kept || kept == other || math.Abs(share-1) > 0.1 || math.Abs(math.Mod(share*n*(1-rate)+0.01, 1)) > 0.02 {
			t.Errorf("DoRA %v: %v, then %v, with another seed %v; a share of %v", decomposed, kept, again, other, share)
		}
	}
}

// set sets all parameters of an adapter.
func set(t *testing.T, s *device.Stream, a *lora.Adapter, value float32) {
	t.Helper()
	err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
		m, err := a.Params().Memory(scope)
		if err != nil {
			return err
		}
		return device.Fill(s, m.Master, value)
	})
	if err != nil {
		t.Fatal(err)
	}
}
