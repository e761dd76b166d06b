package main

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

const (
	batch  = 64 // digits of a step
	narrow = 32 // numbers that the first layer computes for each pixel
	wide   = 64 // numbers that the second layer computes for each square of four pixels
)

// network is a small convolutional network: a layer on the 3 x 3 pixels around each pixel, one on the results of each square of four, and
// one on everything.
type network struct {
	layers
	stream *device.Stream
	params *nn.Params
	around []int32 // the pixels around each pixel
	opt    *train.AdamW
}

// layers are what is trained and saved.
type layers struct {
	Near   nn.Linear `weights:"near"`
	Square nn.Linear `weights:"square"`
	Out    nn.Linear `weights:"out"`
}

// newNetwork returns a network that is to be trained for a number of steps.
func newNetwork(stream *device.Stream, steps int) *network {
	n := &network{stream: stream, params: nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})}
	n.Near, n.Square = nn.NewLinear(n.params, 9, narrow), nn.NewLinear(n.params, 4*narrow, wide)
	n.Out = nn.NewLinear(n.params, pixels/4*wide, classes)
	n.around = around()
	n.opt = train.NewAdamW(n.params, train.AdamWOptions{Rate: 3e-3, Schedule: train.Cosine(steps, 0.01), Decay: 0.05, Clip: 1})
	return n
}

// save writes the layers to a file.
func (n *network) save(ctx context.Context, name string) error {
	return nn.SaveFile(ctx, &n.layers, name)
}

// load reads the layers from a file that save wrote.
func (n *network) load(name string) error {
	return nn.LoadFile(n.params, &n.layers, name, nn.LoadOptions{})
}

func (n *network) close() error { return errors.Join(n.opt.Close(), n.params.Close()) }

// forward returns a number for each picture and digit, which is greater if the picture more likely shows the digit.
func (n *network) forward(x *tensor.Tensor) *tensor.Tensor {
	rows := x.Dim(0)
	x = x.Take(1, tensor.From(x.Scope(), n.around, pixels, 9)) // [rows 64 9]: pixels outside the picture are 0
	x = n.Near.Forward(x).ReLU()
	x = x.Reshape(rows, side/2, 2, side/2, 2*narrow).Transpose(2, 3).Reshape(rows, pixels/4, 4*narrow)
	x = n.Square.Forward(x).ReLU()
	return n.Out.Forward(x.Reshape(rows, pixels/4*wide))
}

// epoch is what an epoch achieved: the mean loss, and the parts of the digits that were read correctly.
type epoch struct{ loss, training, test float64 }

// epoch trains the network with all digits once, in an order that seed determines.
func (n *network) epoch(ctx context.Context, d digits, seed uint64) (sum epoch, err error) {
	for b := range d.Batches(batch, seed) {
		e, err := n.step(ctx, b)
		if err != nil {
			return sum, err
		}
		part := float64(b.Len()) / float64(d.Len())
		sum.loss += e.loss * part
		sum.training += e.training * part
	}
	return sum, nil
}

// step trains the network with a batch.
func (n *network) step(ctx context.Context, b digits) (e epoch, err error) {
	err = tensor.RunOn(ctx, n.stream, func(s *tensor.Scope) error {
		s.Record()
		labels := tensor.From(s, b.Labels, b.Len())
		logits := n.forward(tensor.From(s, b.Inputs, b.Len(), pixels))
		loss := logits.CrossEntropy(labels)
		s.Backward(loss)
		if err := n.opt.Step(s); err != nil {
			return err
		}
		if e.loss, err = number(ctx, loss); err != nil {
			return err
		}
		e.training, err = correct(ctx, logits, labels)
		return err
	})
	return e, err
}

// accuracy returns the part of digits that the network reads correctly.
func (n *network) accuracy(ctx context.Context, d digits) (part float64, err error) {
	err = tensor.RunOn(ctx, n.stream, func(s *tensor.Scope) error {
		logits := n.forward(tensor.From(s, d.Inputs, d.Len(), pixels))
		part, err = correct(ctx, logits, tensor.From(s, d.Labels, d.Len()))
		return err
	})
	return part, err
}

// correct returns the part of rows whose greatest number is at the label.
func correct(ctx context.Context, logits, labels *tensor.Tensor) (float64, error) {
	return number(ctx, logits.ArgMax(-1).Equal(labels).To(dtype.Float32).Mean())
}

// number returns the element of a tensor.
func number(ctx context.Context, x *tensor.Tensor) (float64, error) {
	v, err := tensor.Values[float32](ctx, x)
	if err != nil {
		return 0, err
	}
	return float64(v[0]), nil
}
