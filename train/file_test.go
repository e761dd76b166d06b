package train_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/weights"
)

// saving is what AdamW and SGD have in common.
type saving interface {
	Step(s *tensor.Scope) error
	SaveFile(ctx context.Context, name string) error
	LoadFile(ctx context.Context, name string) error
	Close() error
}

// session is a training that ends and continues.
type session struct {
	params *nn.Params
	in     nn.Linear
	out    nn.Linear
	opt    saving
}

func newSession(stream *device.Stream, seed uint64, make func(p *nn.Params) saving) *session {
	p := nn.NewParams(stream, nn.Options{DType: dtype.BFloat16, Seed: seed})
	return &session{p, nn.NewLinear(p, 16, 300), nn.NewLinear(p, 300, 2), make(p)}
}

// model returns the layers.
func (x *session) model() any { return &struct{ In, Out *nn.Linear }{&x.in, &x.out} }

// steps takes some steps, of which the first has a number, and returns the values of a layer.
func (x *session) steps(t *testing.T, first, n int) (values []float32) {
	t.Helper()
	for i := range n {
		err := tensor.RunOn(t.Context(), x.params.Stream(), func(s *tensor.Scope) error {
			s.Seed(uint64(first + i))
			s.Record()
			in := tensor.Normal(s, dtype.Float32, 5, 16).To(dtype.BFloat16)
			y := x.out.Forward(x.in.Forward(in).GELU()).To(dtype.Float32)
			s.Backward(y.AddScalar(-1).Square().Mean())
			if err := x.opt.Step(s); err != nil {
				return err
			}
			var err error
			values, err = tensor.Values[float32](t.Context(), x.out.RowNorms(s))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return values
}

func (x *session) close(t *testing.T) {
	if err := errors.Join(x.opt.Close(), x.params.Close()); err != nil {
		t.Error(err)
	}
}

// TestFile ends a training and continues it with new parameters and a new optimizer. The values have the bits of a training that does not end.
func TestFile(t *testing.T) {
	stream := kerneltest.Stream(t, cpu.Open)
	for name, open := range map[string]func(p *nn.Params) saving{
		"AdamW": func(p *nn.Params) saving {
			return train.NewAdamW(p, train.AdamWOptions{Rate: 0.01, Decay: 0.1, Clip: 1, Schedule: train.Cosine(6, 0.1)})
		},
		"EightBit": func(p *nn.Params) saving { return train.NewAdamW(p, train.AdamWOptions{Rate: 0.01, EightBit: true}) },
		"SGD":      func(p *nn.Params) saving { return train.NewSGD(p, train.SGDOptions{Rate: 0.01, Momentum: 0.9}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			model, opt := filepath.Join(dir, "model"), filepath.Join(dir, "opt")
			whole := newSession(stream, 1, open)
			want := whole.steps(t, 0, 6)
			whole.close(t)
			first := newSession(stream, 1, open)
			first.steps(t, 0, 3)
			if err := errors.Join(nn.SaveFile(t.Context(), first.model(), model), first.opt.SaveFile(t.Context(), opt)); err != nil {
				t.Fatal(err)
			}
			if st, err := train.LoadState(opt); (len(st.Codes) > 0) != (name == "EightBit") || st.Steps != 3 || err != nil {
				t.Errorf("%d codes after %d steps, %v", len(st.Codes), st.Steps, err)
			}
			first.close(t)
			second := newSession(stream, 2, open)
			if err := errors.Join(nn.LoadFile(second.params, second.model(), model, nn.LoadOptions{}), second.opt.LoadFile(t.Context(), opt)); err != nil {
				t.Fatal(err)
			}
			if got := second.steps(t, 3, 3); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			second.close(t)
		})
	}
}

// TestFileMistakes loads files that are not of the optimizer.
func TestFileMistakes(t *testing.T) {
	stream, dir := kerneltest.Stream(t, cpu.Open), t.TempDir()
	x := newSession(stream, 1, func(p *nn.Params) saving { return train.NewAdamW(p, train.AdamWOptions{Rate: 0.01}) })
	defer x.close(t)
	name, other := filepath.Join(dir, "opt"), filepath.Join(dir, "other")
	x.steps(t, 0, 1)
	if err := errors.Join(x.opt.SaveFile(t.Context(), name), train.State{Steps: 3, Moments: []float32{1}}.SaveFile(other)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{"short": data[:len(data)-1], "empty": nil} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := nn.SaveFile(t.Context(), x.model(), filepath.Join(dir, "model")); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]error{"short": weights.ErrFormat, "empty": weights.ErrFormat, "model": weights.ErrNotFound, "other": train.ErrOptions, "none": fs.ErrNotExist} {
		if err := x.opt.LoadFile(t.Context(), filepath.Join(dir, file)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", file, err, want)
		}
	}
	if st, err := train.LoadState(other); st.Steps != 3 || !slices.Equal(st.Moments, []float32{1}) || err != nil {
		t.Errorf("%+v, %v", st, err)
	}
	p := nn.NewParams(stream, nn.Options{DType: dtype.BFloat16})
	defer p.Close()
	nn.NewLinear(p, 2, 2)
	opt := train.NewAdamW(p, train.AdamWOptions{Rate: 0.01})
	if err := p.Divide(nn.Division{World: 2, Bucket: 512}); err != nil {
		t.Fatal(err)
	}
	if err := opt.SaveFile(t.Context(), name); !errors.Is(err, train.ErrOptions) {
		t.Errorf("the State of one of two processes: %v", err)
	}
	if err := opt.Close(); err != nil {
		t.Error(err)
	}
}
