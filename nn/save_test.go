package nn_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

const (
	netWords = 11
	netWidth = 8
)

// forwarder is a layer in a list.
type forwarder interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
}

// unit is a part of net.
type unit struct {
	Norm nn.LayerNorm
	Attn nn.MultiHead `weights:"self_attn"`
	Up   *nn.Linear
	Down nn.Linear `weights:"mlp.down"`
}

type base struct{ Embed nn.Embedding }

// net has all layers that can be trained, in all places where a model may have them, and other fields.
type net struct {
	base
	Units  []*unit `weights:"units.%d"`
	Pair   nn.Stacked
	Gate   nn.Stacked `weights:"{left,right}"`
	Tail   [2]nn.Linear
	More   []forwarder `json:"more"`
	Heads  map[string]*nn.Linear
	Norm   nn.RMSNorm          `weights:"norm"`
	Scale  *nn.Parameter       `weights:"scale"`
	None   *nn.Linear          // is not used
	Frozen struct{ nn.Linear } `weights:"-"`

	Params *nn.Params
	Drop   nn.Dropout
	Config map[string]any
	parent *net
	opt    *train.AdamW
	stream any
}

// newNet returns a net whose parameters a seed determines.
func newNet(s *tensor.Scope, of dtype.Type, seed uint64) *net {
	p := nn.NewParams(s.Stream(), nn.Options{DType: of, Seed: seed})
	linear := func(in, out int) *nn.Linear { l := nn.NewLinear(p, in, out); return &l }
	m := &net{Params: p, Config: map[string]any{"width": netWidth}, stream: s.Stream()}
	m.parent = m
	m.Embed = nn.NewEmbedding(p, netWords, netWidth)
	for range 2 {
		m.Units = append(m.Units, &unit{
			Norm: nn.NewLayerNorm(p, netWidth, 1e-5), Attn: nn.NewMultiHead(p, 2, 1, netWidth/2), Up: linear(netWidth, 4), Down: nn.NewLinear(p, 4, netWidth),
		})
	}
	m.Pair, m.Gate = nn.NewStacked(p, netWidth, 4, 4), nn.NewStacked(p, 4, netWidth, netWidth)
	m.Tail = [2]nn.Linear{nn.NewLinear(p, netWidth, 3), nn.NewLinear(p, 3, netWidth)}
	m.More = []forwarder{linear(netWidth, netWidth), m.Drop}
	m.Heads = map[string]*nn.Linear{"b": linear(netWidth, 2), "a": linear(netWidth, 1)}
	m.Norm, m.Scale = nn.NewRMSNorm(p, netWidth, 1e-5), p.Uniform(1, 1)
	m.opt = train.NewAdamW(p, train.AdamWOptions{Rate: 0.01, Decay: 0.01, Clip: 1})
	return m
}

func (m *net) close(t *testing.T) {
	if err := errors.Join(m.opt.Close(), m.Params.Close()); err != nil {
		t.Error(err)
	}
}

// forward computes with all layers.
func (m *net) forward(s *tensor.Scope) *tensor.Tensor {
	of := m.Params.Activations()
	x := m.Embed.Forward(tensor.From(s, []int32{1, 7, 10, 0, 3, 5}, 2, 3)).To(of)
	for _, u := range m.Units {
		x = x.Add(u.Attn.Forward(u.Norm.Forward(x), nn.MultiHeadOptions{}))
		x = x.Add(u.Down.Forward(u.Up.Forward(x).GELU()))
	}
	pair := m.Pair.Forward(x)
	gate := m.Gate.Forward(pair[0].Mul(pair[1]))
	x = m.Tail[1].Forward(m.Tail[0].Forward(gate[0].Add(gate[1])))
	for _, l := range m.More {
		x = l.Forward(x)
	}
	x = m.Norm.Forward(x).Mul(m.Scale.In(s))
	return tensor.Concat(-1, m.Heads["a"].Forward(x), m.Heads["b"].Forward(x)).To(dtype.Float32)
}

// step trains the net to give certain numbers.
func (m *net) step(s *tensor.Scope) error {
	s.Record()
	y := m.forward(s)
	s.Backward(y.Sub(tensor.From(s, numbers(18), 2, 3, 3)).Square().Mean())
	return m.opt.Step(s)
}

// netNames are the names and shapes of the tensors of a net.
func netNames() map[string]string {
	list := map[string]string{
		"Embed.weight": "[11 8]", "Pair.0.weight": "[4 8]", "Pair.0.bias": "[4]", "Pair.1.weight": "[4 8]", "Pair.1.bias": "[4]",
		"left.weight": "[8 4]", "left.bias": "[8]", "right.weight": "[8 4]", "right.bias": "[8]",
		"Tail.0.weight": "[3 8]", "Tail.0.bias": "[3]", "Tail.1.weight": "[8 3]", "Tail.1.bias": "[8]", "More.0.weight": "[8 8]", "More.0.bias": "[8]",
		"Heads.a.weight": "[1 8]", "Heads.a.bias": "[1]", "Heads.b.weight": "[2 8]", "Heads.b.bias": "[2]", "norm.weight": "[8]", "scale": "[1]",
	}
	for _, u := range []string{"units.0.", "units.1."} {
		for name, shape := range map[string]string{
			"Norm.weight": "[8]", "Norm.bias": "[8]", "self_attn.q_proj.weight": "[8 8]", "self_attn.q_proj.bias": "[8]", "self_attn.k_proj.weight": "[4 8]",
			"self_attn.k_proj.bias": "[4]", "self_attn.v_proj.weight": "[4 8]", "self_attn.v_proj.bias": "[4]", "self_attn.o_proj.weight": "[8 8]",
			"self_attn.o_proj.bias": "[8]", "Up.weight": "[4 8]", "Up.bias": "[4]", "mlp.down.weight": "[8 4]", "mlp.down.bias": "[8]",
		} {
			list[u+name] = shape
		}
	}
	return list
}

// TestSaveFile trains a model, saves it, and loads it into models of other values, whose parameters have been used or not: names, results, and the
// results after more training have the same bits.
func TestSaveFile(t *testing.T) {
	for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16, dtype.Float16} {
		t.Run(of.String(), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "net.safetensors")
			onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
				trained := newNet(s, of, 1)
				defer trained.close(t)
				for range 3 {
					check(t, trained.step(s))
				}
				check(t, nn.SaveFile(t.Context(), trained, name))
				compareNames(t, name)
				want := values(t, trained.forward(s))
				state, err := trained.opt.State(s)
				check(t, err)
				check(t, errors.Join(trained.step(s), trained.step(s)))
				later := values(t, trained.forward(s))
				for _, used := range []bool{false, true} {
					m := newNet(s, of, 2)
					defer m.close(t)
					if used {
						check(t, m.step(s))
					}
					check(t, nn.LoadFile(m.Params, m, name, nn.LoadOptions{}))
					if got := values(t, m.forward(s)); !slices.Equal(got, want) {
						t.Errorf("used %v: %v, want %v", used, got, want)
					}
					check(t, m.opt.Restore(s, state))
					check(t, errors.Join(m.step(s), m.step(s)))
					if got := values(t, m.forward(s)); !slices.Equal(got, later) {
						t.Errorf("used %v, after two more steps: %v, want %v", used, got, later)
					}
				}
			})
		})
	}
}

// check ends the test if there is an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// compareNames compares the tensors of a file with those of a net.
func compareNames(t *testing.T, name string) {
	t.Helper()
	f, err := safetensors.Open(name)
	check(t, err)
	defer f.Close()
	want := netNames()
	for _, x := range f.Tensors {
		if want[x.Name()] != fmt.Sprint(x.Shape()) || x.Type() != weights.F32 {
			t.Errorf("%s is %v of %v, want %q", x.Name(), x.Shape(), x.Type(), want[x.Name()])
		}
		delete(want, x.Name())
	}
	if len(want) > 0 {
		t.Errorf("the file lacks %v", want)
	}
	if format, err := weights.Get[string](f.Metadata, "format"); format != "pt" {
		t.Errorf("metadata %v, %v", f.Metadata, err)
	}
}

// TestSaveUnused saves a model whose parameters have not been used, which does not allocate them, and loads the file as constants.
func TestSaveUnused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.safetensors")
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		type model struct{ Hidden, Out nn.Linear }
		trained := model{Hidden: nn.NewLinear(p, 4, 3)}
		check(t, nn.SaveFile(t.Context(), trained.Hidden, name)) // the layer alone
		trained.Out = nn.NewLinear(p, 3, 2)
		check(t, nn.SaveFile(t.Context(), trained, name))
		constant := model{nn.Linear{In: 4, Out: 3, Bias: true}, nn.Linear{In: 3, Out: 2, Bias: true}}
		constants := nn.NewParams(s.Stream(), nn.Options{DType: p.Activations()})
		defer constants.Close()
		check(t, nn.LoadFile(constants, &constant, name, nn.LoadOptions{}))
		x := tensor.From(s, numbers(8), 2, 4)
		near(t, constant.Out.Forward(constant.Hidden.Forward(x)), float64s(values(t, trained.Out.Forward(trained.Hidden.Forward(x)))))
	})
}

// TestSaveNamed saves parameters under names that a program chooses, and loads them.
func TestSaveNamed(t *testing.T) {
	for device, open := range kerneltest.Executions() {
		t.Run(device, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.safetensors")
			onDevice(t, open, func(s *tensor.Scope, p *nn.Params) {
				initial := []float32{1, 2, 3}
				list := []nn.Named{{Name: "a.b", Parameter: p.Parameter(initial, 3)}, {Name: "c", Parameter: p.Parameter([]float32{4}, 1, 1)}}
				have := func(a, c []float32) {
					t.Helper()
					same(t, list[0].In(s).To(dtype.Float32), []int{3}, a)
					same(t, list[1].In(s).To(dtype.Float32), []int{1, 1}, c)
				}
				check(t, nn.SaveFile(t.Context(), list, name))
				f := file(t, "", entry{"a.b", weights.F16, []int{3}, []float32{5, 6, 7}}, entry{"c", weights.BF16, []int{1, 1}, []float32{8}})
				check(t, nn.Load(p, list, f, nn.LoadOptions{}))
				have([]float32{5, 6, 7}, []float32{8})
				check(t, nn.LoadFile(p, list, name, nn.LoadOptions{}))
				have([]float32{1, 2, 3}, []float32{4})
				if !slices.Equal(initial, []float32{1, 2, 3}) {
					t.Errorf("the caller's values are %v", initial)
				}
			})
		})
	}
}

// TestLoadTrained loads tensors of all mistakes into layers that are trained: the error has them all, and no parameter changes.
func TestLoadTrained(t *testing.T) {
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		model := struct {
			A, B, C nn.Linear
			N       *nn.RMSNorm
		}{A: nn.NewLinear(p, 2, 1), B: nn.NewLinear(p, 2, 1), C: nn.NewLinear(p, 2, 1)}
		n := nn.NewRMSNorm(p, 2, 0)
		model.N = &n
		x := tensor.From(s, []float32{1, 2}, 1, 2)
		before := values(t, model.A.Forward(x))
		one := []float32{1, 1}
		err := nn.Load(p, &model, file(t, "safetensors",
			entry{"A.weight", weights.F32, []int{1, 2}, one}, entry{"A.bias", weights.F32, []int{1}, one[:1]}, entry{"B.weight", weights.F32, []int{2, 1}, one},
			entry{"B.bias", weights.F64, []int{1}, one[:1]}, entry{"C.weight", weights.F32, []int{1, 2}, one}, entry{"D.weight", weights.F32, []int{2}, one},
		), nn.LoadOptions{})
		for text, want := range map[string]error{
			"B.weight is [2 1], want [1 2]": nn.ErrShape, "B.bias is of type F64": nn.ErrFormat, "a tensor: C.bias": nn.ErrMissing, "a tensor: N.weight": nn.ErrMissing, "D.weight [2]": nn.ErrUnused,
		} {
			if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
				t.Errorf("%v is not %q", err, text)
			}
		}
		same(t, model.A.Forward(x), []int{1, 1}, before)
		if model.N != &n {
			t.Error("the layer that a pointer leads to was removed")
		}
	})
}

// circle is a model whose layers lead back to it.
type circle struct {
	In    nn.Linear
	Again []*nn.Linear `weights:"again"`
	Whole *circle
}

// TestSaveCircle saves a model with pointers to itself and to its first field, which has the same address.
func TestSaveCircle(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.safetensors")
	onDevice(t, cpu.Open, func(_ *tensor.Scope, p *nn.Params) {
		c := &circle{In: nn.NewLinear(p, 2, 1)}
		c.Again, c.Whole = []*nn.Linear{nil, &c.In}, c
		check(t, nn.SaveFile(t.Context(), c, name))
		check(t, nn.LoadFile(p, c, name, nn.LoadOptions{}))
	})
	f, err := safetensors.Open(name)
	check(t, err)
	defer f.Close()
	var names []string
	for _, x := range f.Tensors {
		names = append(names, x.Name())
	}
	if want := []string{"In.weight", "In.bias", "again.1.weight", "again.1.bias"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

// TestSaveMistakes saves models that cannot be saved. An earlier file is not changed.
func TestSaveMistakes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.safetensors")
	check(t, os.WriteFile(name, []byte("earlier"), 0o600))
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		l := nn.NewLinear(p, 2, 1)
		type pair struct {
			One   nn.Linear `weights:"same"`
			Other []nn.Linear
			Same  *nn.Linear `weights:"same"`
		}
		type hidden struct {
			Out    nn.Linear
			layers []forwarder
			in     nn.Linear
		}
		var constant struct{ L nn.Linear }
		constant.L = nn.Linear{In: 2, Out: 1}
		check(t, nn.Load(p, &constant, file(t, "", entry{"L.weight", weights.F32, []int{1, 2}, []float32{1, 2}}), nn.LoadOptions{}))
		for _, c := range []struct {
			model any
			want  error
			text  string
		}{
			{pair{l, nil, &constant.L}, nn.ErrModel, "Same is constant"},
			{pair{nn.NewLinear(p, 2, 1), nil, &l}, nn.ErrModel, "One and Same have the same name, same.weight"},
			{&pair{l, make([]nn.Linear, 2), nil}, nn.ErrUnloaded, "Other[1]"},
			{hidden{l, []forwarder{&l}, l}, nn.ErrModel, "layers[0] is in an unexported field"},
			{hidden{l, []forwarder{&l}, l}, nn.ErrModel, `in is in an unexported field: export the field, or tag it weights:"-"`},
			{struct{ Q *nn.Parameter }{&nn.Parameter{}}, nn.ErrUnloaded, "Q"},
			{[]nn.Named{{Name: "x"}}, nn.ErrUnloaded, "[0]"},
			{p, nn.ErrModel, "*nn.Params has no layers"},
			{nil, nn.ErrModel, "no layers"},
		} {
			if err := nn.SaveFile(t.Context(), c.model, name); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%T: %v, want %q", c.model, err, c.text)
			}
		}
		check(t, nn.SaveFile(t.Context(), pair{l, nil, &l}, filepath.Join(t.TempDir(), "shared"))) // the same layer twice is no mistake
		if err := nn.Load(p, constant, file(t, ""), nn.LoadOptions{}); !errors.Is(err, nn.ErrModel) || !strings.Contains(err.Error(), "L is not addressable") {
			t.Errorf("Load of a struct instead of a pointer: %v", err)
		}
		if err := nn.Load(p, &hidden{Out: l}, file(t, ""), nn.LoadOptions{}); !errors.Is(err, nn.ErrModel) || !errors.Is(err, nn.ErrMissing) {
			t.Errorf("Load with a layer in an unexported field: %v", err)
		}
		same(t, l.Product(tensor.From(s, []float32{0, 0}, 1, 2)), []int{1, 1}, []float32{0}) // the parameters are in memory
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := nn.SaveFile(canceled, l, name); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that is canceled: %v", err)
		}
		if err := nn.SaveFile(t.Context(), l, filepath.Join(name, "y")); err == nil {
			t.Error("a folder that is a file")
		}
	})
	if data, err := os.ReadFile(name); string(data) != "earlier" || err != nil {
		t.Errorf("the earlier file is %q, %v", data, err)
	}
	if list, err := os.ReadDir(filepath.Dir(name)); len(list) != 1 || err != nil {
		t.Errorf("%v in the folder, %v", list, err)
	}
}

// TestLoadFileMistakes loads files that are not what SaveFile wrote.
func TestLoadFileMistakes(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.safetensors")
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		l := nn.NewLinear(p, 2, 1)
		check(t, nn.SaveFile(t.Context(), l, name))
		data, err := os.ReadFile(name)
		check(t, err)
		for i := range len(data) {
			short := filepath.Join(dir, "short")
			check(t, os.WriteFile(short, data[:i], 0o600))
			if err := nn.LoadFile(p, &l, short, nn.LoadOptions{}); !errors.Is(err, weights.ErrFormat) {
				t.Fatalf("%d of %d bytes: %v", i, len(data), err)
			}
		}
		pickle := filepath.Join(dir, "model.pt")
		check(t, os.WriteFile(pickle, []byte("PK\x03\x04and the rest"), 0o600))
		if err := nn.LoadFile(p, &l, pickle, nn.LoadOptions{}); !errors.Is(err, weights.ErrPickle) {
			t.Errorf("a pickle: %v", err)
		}
		if err := nn.LoadFile(p, &l, filepath.Join(dir, "none"), nn.LoadOptions{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no file: %v", err)
		}
		stop := errors.New("stop")
		if err := nn.LoadFile(p, &l, name, nn.LoadOptions{Interrupt: func() error { return stop }}); !errors.Is(err, stop) {
			t.Errorf("interrupted: %v", err)
		}
		x := tensor.From(s, []float32{1, 2}, 1, 2)
		want := values(t, l.Forward(x))
		check(t, nn.LoadFile(p, &l, name, nn.LoadOptions{}))
		same(t, l.Forward(x), []int{1, 1}, want)
	})
}

// TestLoadTwice loads two files into the same model of constants: it has the values of the second.
func TestLoadTwice(t *testing.T) {
	onDevice(t, cpu.Open, func(s *tensor.Scope, p *nn.Params) {
		model := struct{ All nn.Stacked }{nn.Stacked{In: 1, Out: []int{1, 1}}}
		for _, v := range []float32{1, 3} {
			f := file(t, "", entry{"All.0.weight", weights.F32, []int{1, 1}, []float32{v}}, entry{"All.1.weight", weights.F32, []int{1, 1}, []float32{v + 1}})
			check(t, nn.Load(p, &model, f, nn.LoadOptions{}))
			y := model.All.Forward(tensor.From(s, []float32{1}, 1, 1))
			same(t, y[0].To(dtype.Float32), []int{1, 1}, []float32{v})
			same(t, y[1].To(dtype.Float32), []int{1, 1}, []float32{v + 1})
		}
	})
}

// TestSaveDivided loads values into parameters that are divided among two processes, before and after their first use.
func TestSaveDivided(t *testing.T) {
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		for _, used := range []bool{false, true} {
			list := make([]*nn.Memory, 2)
			var layers [2]nn.MultiHead
			for rank := range list {
				p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.BFloat16})
				defer p.Close()
				layers[rank] = nn.NewMultiHead(p, 2, 1, 16)
				check(t, p.Divide(nn.Division{Rank: rank, World: 2, Bucket: 512}))
				var err error
				if used {
					list[rank], err = p.Memory(s)
					check(t, err)
				}
				var f []entry
				for i, name := range []string{"q_proj", "k_proj", "v_proj", "o_proj"} {
					rows := []int{32, 16, 16, 32}[i]
					f = append(f, entry{name + ".weight", weights.F32, []int{rows, 32}, numbers(rows * 32)}, entry{name + ".bias", weights.F32, []int{rows}, numbers(rows)})
				}
				check(t, nn.Load(p, &layers[rank], file(t, "", f...), nn.LoadOptions{}))
				list[rank], err = p.Memory(s)
				check(t, err)
			}
			var masters [][]float32
			for _, m := range list {
				v, err := m.Masters(s)
				check(t, err)
				masters = append(masters, v)
			}
			list[0].Assemble(masters)
			name := filepath.Join(t.TempDir(), "x")
			check(t, nn.SaveFile(t.Context(), layers[0], name))
			f, err := safetensors.Open(name)
			check(t, err)
			for _, x := range f.Tensors {
				if got, err := weights.Values[float32](x); !slices.Equal(got, numbers(x.Len())) || err != nil {
					t.Errorf("used %v: %s is %v, %v", used, x.Name(), got, err)
				}
			}
			check(t, f.Close())
		}
	})
}

// TestSummaryOfParameters lists a parameter that belongs to no layer of this package.
func TestSummaryOfParameters(t *testing.T) {
	onDevice(t, cpu.Open, func(_ *tensor.Scope, p *nn.Params) {
		model := struct {
			nn.Linear
			Scale *nn.Parameter
		}{nn.NewLinear(p, 2, 1), p.Uniform(1, 2, 3)}
		want := "layer   type       shape   parameters  bytes\nLinear  Linear     2 to 1  3           24\nScale   Parameter  2 3     6           48\ntotal                      9           72\n"
		if got := nn.Summary(&model); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

// pytorch makes a module with the tensors of a file, computes with it, and writes its parameters, doubled, to another file.
const pytorch = `
import json, sys, torch
from safetensors.torch import load_file, save_file
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.norm = torch.nn.Embedding(5, 4), torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)]), torch.nn.LayerNorm(4)
        self.scale = torch.nn.Parameter(torch.zeros(1))
    def forward(self, x):
        x = self.embed(x)
        for l in self.layers:
            x = torch.relu(l(x))
        return self.norm(x) * self.scale
net = Net()
net.load_state_dict(load_file(sys.argv[1]))
with torch.no_grad():
    first = net(torch.tensor([0, 3, 4])).flatten().tolist()
    net.load_state_dict({k: v * 2 for k, v in net.state_dict().items()})
    print(json.dumps([first, net(torch.tensor([0, 3, 4])).flatten().tolist()]))
save_file(net.state_dict(), sys.argv[2])
`

// TestPyTorch has PyTorch read a file, and reads a file of PyTorch.
func TestPyTorch(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import safetensors, torch").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import safetensors and torch: %v\n%s", python, err, out)
	}
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from.safetensors"), filepath.Join(dir, "to.safetensors")
	dev := kerneltest.Device(t, cpu.Open)
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32, Seed: 3})
		defer p.Close()
		model := struct {
			Embed  nn.Embedding  `weights:"embed"`
			Layers []nn.Linear   `weights:"layers"`
			Norm   nn.LayerNorm  `weights:"norm"`
			Scale  *nn.Parameter `weights:"scale"`
		}{nn.NewEmbedding(p, 5, 4), []nn.Linear{nn.NewLinear(p, 4, 4), nn.NewLinear(p, 4, 4)}, nn.NewLayerNorm(p, 4, 1e-5), p.Parameter([]float32{3}, 1)}
		forward := func() *tensor.Tensor {
			x := model.Embed.Forward(tensor.From(s, []int32{0, 3, 4}, 3))
			for i := range model.Layers {
				x = model.Layers[i].Forward(x).ReLU()
			}
			return model.Norm.Forward(x).Mul(model.Scale.In(s))
		}
		first := values(t, forward())
		if err := nn.SaveFile(t.Context(), &model, from); err != nil {
			return err
		}
		c := exec.CommandContext(t.Context(), python, "-c", pytorch, from, to)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, &stderr)
		}
		var want [2][]float64
		if err := json.Unmarshal(out, &want); err != nil {
			return err
		}
		near(t, tensor.From(s, first, 3, 4), want[0])
		if err := nn.LoadFile(p, &model, to, nn.LoadOptions{}); err != nil {
			return err
		}
		near(t, forward(), want[1])
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
