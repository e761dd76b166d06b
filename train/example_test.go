package train_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// Two layers learn to tell which third of their input has the greatest sum.
func Example() {
	dev, err := gopherwarp.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	right, err := thirds(context.Background(), dev)
	fmt.Println("nine of ten are right:", right > 0.9, err)
	// Output: nine of ten are right: true <nil>
}

// thirds trains a network and returns the part of examples for which its answer is right.
func thirds(ctx context.Context, dev *device.Device) (right float32, err error) {
	stream, err := dev.NewStream()
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	params := nn.NewParams(stream, nn.Options{DType: dtype.Float32, Seed: 1})
	defer params.Close()
	net := struct{ In, Out nn.Linear }{nn.NewLinear(params, 12, 32), nn.NewLinear(params, 32, 3)}
	opt := train.NewAdamW(params, train.AdamWOptions{Rate: 1e-2, Decay: 0.01, Clip: 1})
	defer opt.Close()
	data := questions(400)
	for epoch := range uint64(10) {
		right = 0
		for b := range data.Batches(50, epoch) {
			err := tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
				s.Record()
				x, labels := tensor.From(s, b.Inputs, b.Len(), 12), tensor.From(s, b.Labels, b.Len())
				logits := net.Out.Forward(net.In.Forward(x).GELU())
				s.Backward(logits.CrossEntropy(labels)) // adds to the gradients of params
				if err := opt.Step(s); err != nil {     // clips, updates, clears
					return err
				}
				n, err := tensor.Values[int64](ctx, logits.ArgMax(-1).Equal(labels).Sum())
				if err == nil {
					right += float32(n[0]) / float32(data.Len())
				}
				return err
			})
			if err != nil {
				return 0, err
			}
		}
	}
	return right, nil
}

// questions returns n examples of twelve numbers, and the third of them that has the greatest sum.
func questions(n int) train.Examples[float32, int32] {
	e := train.Examples[float32, int32]{Width: 12}
	state := uint32(1)
	for range n {
		var sums [3]float32
		for i := range 12 {
			state = state*1664525 + 1013904223
			v := float32(state>>8)/(1<<23) - 1
			e.Inputs = append(e.Inputs, v)
			sums[i/4] += v
		}
		best := int32(0)
		for i, v := range sums {
			if v > sums[best] {
				best = int32(i)
			}
		}
		e.Labels = append(e.Labels, best)
	}
	return e
}
