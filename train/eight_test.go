package train_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// network is a small network that learns a function of random inputs.
type network struct {
	params  *nn.Params
	in, out nn.Linear
	opt     *train.AdamW
	stream  *device.Stream
}

func newNetwork(s *device.Stream, of dtype.Type, eightBit bool) *network {
	p := nn.NewParams(s, nn.Options{DType: of, Seed: 1})
	n := &network{params: p, in: nn.NewLinear(p, 32, 160), out: nn.NewLinear(p, 160, 32), stream: s}
	n.opt = train.NewAdamW(p, train.AdamWOptions{Rate: 3e-3, Clip: 1, EightBit: eightBit})
	return n
}

func (n *network) close() error { return errors.Join(n.opt.Close(), n.params.Close()) }

// steps takes steps, each in two halves of a batch, and returns the losses.
func (n *network) steps(t *testing.T, from, to int) (losses []float64) {
	t.Helper()
	for step := from; step < to; step++ {
		err := tensor.RunOn(t.Context(), n.stream, func(s *tensor.Scope) error {
			sum := 0.
			for half := range 2 {
				s.Seed(uint64(2*step + half))
				s.Record()
				x := tensor.Normal(s, dtype.Float32, 16, 32)
				loss := n.out.Forward(n.in.Forward(x.To(n.params.Activations())).GELU()).To(dtype.Float32).Sub(x.Abs()).Square().Mean()
				s.Backward(loss)
				v, err := tensor.Values[float32](s.Context(), loss)
				if err != nil {
					return err
				}
				sum += float64(v[0]) / 2
			}
			losses = append(losses, sum)
			return n.opt.Step(s)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return losses
}

// values returns all parameters, and the state of the optimizer.
func (n *network) values(t *testing.T) (master []float32, state train.State) {
	t.Helper()
	err := tensor.RunOn(t.Context(), n.stream, func(s *tensor.Scope) error {
		m, err := n.params.Memory(s)
		if err != nil {
			return err
		}
		master = make([]float32, m.Master.Len())
		if state, err = n.opt.State(s); err != nil {
			return err
		}
		return errors.Join(device.Download(s.Stream(), master, m.Master), s.Stream().Synchronize(t.Context()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return master, state
}

// TestEightBit trains a network with moments of 8 and of 32 bits: the losses are close, the moments take a quarter of the memory, and nothing leaks.
func TestEightBit(t *testing.T) {
	for name, open := range kerneltest.Some() {
		if name == "interp" {
			continue // takes long; its kernels are those of TestEight of package optimizer
		}
		for i, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
			if name == "scalar" && !sweep.Every(2, i) {
				continue
			}
			t.Run(name+"/"+of.String(), func(t *testing.T) {
				dev := kerneltest.Device(t, open)
				stream, err := dev.NewStream()
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				last := map[bool]float64{}
				moments := map[bool]int{}
				for _, eightBit := range []bool{false, true} {
					n := newNetwork(stream, of, eightBit)
					losses := n.steps(t, 0, 60)
					last[eightBit] = mean(losses[50:])
					_, state := n.values(t)
					moments[eightBit] = 4*len(state.Moments) + len(state.Codes)
					if steps := n.opt.Steps(); steps != 60 || !(last[eightBit] < 0.5*losses[0]) {
						t.Errorf("8 bits %v: the loss is %g, then %g, after %d steps", eightBit, losses[0], last[eightBit], steps)
					}
					if err := n.close(); err != nil {
						t.Error(err)
					}
				}
				if math.Abs(last[true]/last[false]-1) > 0.01 {
					t.Errorf("the loss is %g with 8 bits, %g with 32", last[true], last[false])
				}
				if share := float64(moments[true]) / float64(moments[false]); share > 0.3 {
					t.Errorf("the moments take %d bytes with 8 bits, %d with 32", moments[true], moments[false])
				}
				if owners := dev.Owners(); len(owners) > 0 {
					t.Errorf("memory that was not freed: %v", owners)
				}
			})
		}
	}
}

func mean(list []float64) (sum float64) {
	for _, x := range list {
		sum += x / float64(len(list))
	}
	return sum
}

// TestEightBitResumes continues a training from its state: parameters and moments have the same bits as without the interruption. The state of
// another optimizer is refused.
func TestEightBitResumes(t *testing.T) {
	stream := kerneltest.Stream(t, cpu.Open)
	whole := newNetwork(stream, dtype.Float32, true)
	whole.steps(t, 0, 6)
	want, wantState := whole.values(t)
	half := newNetwork(stream, dtype.Float32, true)
	half.steps(t, 0, 3)
	values, state := half.values(t)
	rest, other := newNetwork(stream, dtype.Float32, true), newNetwork(stream, dtype.Float32, false)
	err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error {
		m, err := rest.params.Memory(s)
		if err != nil {
			return err
		}
		if err := other.opt.Restore(s, state); !errors.Is(err, train.ErrOptions) {
			t.Errorf("a State of 8 bits for moments of 32: %v", err)
		}
		return errors.Join(device.UploadTo(s.Stream(), m.Master, values), rest.opt.Restore(s, state))
	})
	if err != nil {
		t.Fatal(err)
	}
	rest.steps(t, 3, 6)
	if got, gotState := rest.values(t); !slices.Equal(got, want) || !slices.Equal(gotState.Codes, wantState.Codes) || !slices.Equal(gotState.Moments, wantState.Moments) || gotState.Steps != 6 {
		t.Error("a training that was interrupted has other values")
	}
	for _, n := range []*network{whole, half, rest, other} {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}
}
