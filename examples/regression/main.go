// Command regression fits a line to points by gradient descent.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "regression:", err)
		os.Exit(1)
	}
}

// run fits a line and writes it to w.
func run(ctx context.Context, w io.Writer) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(fit(ctx, w, stream), stream.Close())
}

// fit fits y = slope*x + offset to points near y = 2x - 1 and writes the result to w.
func fit(ctx context.Context, w io.Writer, stream *device.Stream) error {
	x, y := []float32{-2, -1, 0, 1, 2, 3}, []float32{-5, -3.2, -1, 1.1, 2.9, 5.2}
	params := nn.NewParams(stream, nn.Options{DType: dtype.Float32})
	defer params.Close()
	line := params.Parameter([]float32{0, 0}, 2) // slope and offset
	opt := train.NewSGD(params, train.SGDOptions{Rate: 0.1, Momentum: 0.5})
	defer opt.Close()
	return tensor.RunOn(ctx, stream, func(s *tensor.Scope) error {
		x, y := tensor.From(s, x, len(x)), tensor.From(s, y, len(y))
		for range 100 {
			s.Record()
			l := line.In(s)
			s.Backward(x.Mul(l.Slice(0, 0, 1)).Add(l.Slice(0, 1, 2)).Sub(y).Square().Mean())
			if err := opt.Step(s); err != nil {
				return err
			}
		}
		v, err := tensor.Values[float32](ctx, line.In(s))
		if err == nil {
			fmt.Fprintf(w, "y = %.3f x %+.3f\n", v[0], v[1])
		}
		return err
	})
}
