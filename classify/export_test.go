package classify

import (
	"context"
	"image"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Prepare returns the pixels of a picture that are classified, from 0 to 255.
func Prepare(ctx context.Context, m *Model, picture image.Image) ([]float32, error) {
	return m.prepare.values(ctx, m.stream, picture)
}

// values returns the pixels of a picture, from 0 to 255.
func (p preparation) values(ctx context.Context, s *device.Stream, picture image.Image) ([]float32, error) {
	b, err := p.pixels(s, picture)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	x := make([]float32, b.Len())
	if err = device.Download(s, x, b); err == nil {
		err = s.Synchronize(ctx)
	}
	for i, v := range x {
		x[i] = (v*p.Deviation[i%3] + p.Mean[i%3]) * 255
	}
	return x, err
}

// Probabilities returns those of all classes for prepared pixels from 0 to 255.
func Probabilities(ctx context.Context, m *Model, pixels []float32) (p []float32, err error) {
	x := make([]float32, len(pixels))
	for i, v := range pixels {
		x[i] = (v/255 - m.prepare.Mean[i%3]) / m.prepare.Deviation[i%3]
	}
	err = tensor.RunOn(ctx, m.stream, func(s *tensor.Scope) (err error) {
		p, err = tensor.Values[float32](ctx, m.network.Forward(tensor.From(s, x, 1, side, side, 3)).Softmax(-1))
		return err
	})
	return p, err
}
