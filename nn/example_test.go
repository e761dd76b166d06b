package nn_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// network is a model. Its tensors have the names hidden.weight, hidden.bias, out.weight and out.bias.
type network struct {
	Hidden nn.Linear `weights:"hidden"`
	Out    nn.Linear `weights:"out"`
}

// training is a network that is trained to add two numbers.
type training struct {
	network
	params *nn.Params
	opt    *train.AdamW
}

func newTraining(stream *device.Stream) *training {
	p := nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})
	return &training{network{nn.NewLinear(p, 2, 16), nn.NewLinear(p, 16, 1)}, p, train.NewAdamW(p, train.AdamWOptions{Rate: 0.01})}
}

// steps takes some steps and returns the loss of the last.
func (t *training) steps(ctx context.Context, n int) (loss float32, err error) {
	for range n {
		err := tensor.RunOn(ctx, t.params.Stream(), func(s *tensor.Scope) error {
			s.Record()
			x := tensor.From(s, []float32{0.1, 0.2, 0.3, 0.4, 0.5, 0.1}, 3, 2)
			y := t.Out.Forward(t.Hidden.Forward(x).GELU())
			l := y.Sub(tensor.From(s, []float32{0.3, 0.7, 0.6}, 3, 1)).Square().Mean()
			s.Backward(l)
			if err := t.opt.Step(s); err != nil {
				return err
			}
			v, err := tensor.Values[float32](ctx, l)
			if err == nil {
				loss = v[0]
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return loss, nil
}

func (t *training) close() {
	t.opt.Close()
	t.params.Close()
}

// A program saves a network and the state of its optimizer. Another run of the program continues the training.
func ExampleSaveFile() {
	ctx := context.Background()
	dev, err := cpu.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	model, opt := filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "optimizer.safetensors")

	first := newTraining(stream)
	defer first.close()
	if _, err := first.steps(ctx, 20); err != nil {
		log.Fatal(err)
	}
	if err := nn.SaveFile(ctx, &first.network, model); err != nil {
		log.Fatal(err)
	}
	if err := first.opt.SaveFile(ctx, opt); err != nil {
		log.Fatal(err)
	}

	second := newTraining(stream) // in another run of the program
	defer second.close()
	if err := nn.LoadFile(second.params, &second.network, model, nn.LoadOptions{}); err != nil {
		log.Fatal(err)
	}
	if err := second.opt.LoadFile(ctx, opt); err != nil {
		log.Fatal(err)
	}
	a, err := first.steps(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	b, err := second.steps(ctx, 1)
	fmt.Println("the same loss:", a == b, err)
	// Output: the same loss: true <nil>
}
