package main

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// TestTwoLayers trains a network of two linear layers, written as briefly as packages tensor, nn and train allow.
func TestTwoLayers(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	all, err := load()
	if err != nil {
		t.Fatal(err)
	}
	digits, tests := all.Split(1500, 1)

	params := nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})
	net := struct{ In, Out nn.Linear }{nn.NewLinear(params, 64, 128), nn.NewLinear(params, 128, 10)}
	opt := train.NewAdamW(params, train.AdamWOptions{Rate: 3e-3, Decay: 0.01, Clip: 1})
	for epoch := range uint64(8) {
		for b := range digits.Batches(64, epoch) {
			err := tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error {
				s.Record()
				x := tensor.From(s, b.Inputs, b.Len(), 64)
				logits := net.Out.Forward(net.In.Forward(x).GELU())
				loss := logits.CrossEntropy(tensor.From(s, b.Labels, b.Len()))
				s.Backward(loss)   // adds to the gradients of params
				return opt.Step(s) // clips, updates, clears
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}

	err = tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error {
		x := tensor.From(s, tests.Inputs, tests.Len(), 64)
		part, err := correct(t.Context(), net.Out.Forward(net.In.Forward(x).GELU()), tensor.From(s, tests.Labels, tests.Len()))
		if part < 0.95 {
			t.Errorf("%.1f %% of the digits are read correctly", 100*part)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := opt.Close(); err != nil {
		t.Error(err)
	}
	if err := params.Close(); err != nil {
		t.Error(err)
	}
}
