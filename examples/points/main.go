// Command points computes with an array of random points on the best device of the machine: their covariance, the points that are farthest
// from the mean, a function of the program's own, and its derivative. It ends with a deliberate mistake, to show the error, which names the
// line of the mistake.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func main() {
	if err := run(context.Background(), os.Stdout, 1000); err != nil {
		fmt.Fprintln(os.Stderr, "points:", err)
		os.Exit(1)
	}
}

// run computes with n points and writes the results to w.
func run(ctx context.Context, w io.Writer, n int) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	r := rand.New(rand.NewPCG(1, 2))
	points := make([]float32, 3*n)
	for i := range points {
		points[i] = float32(r.NormFloat64()) * float32(i%3+1)
	}
	err = tensor.Run(ctx, dev, func(s *tensor.Scope) error {
		x := tensor.From(s, points, n, 3) // []float32 to [n 3]
		centred := x.Sub(x.Mean(0))       // broadcasts
		cov := centred.T().MatMul(centred).Scale(1 / float64(n-1))
		far, at := centred.Square().Sum(1).Sqrt().Top(5)

		s.Record()
		v := s.Variable(x.To(dtype.BFloat16))
		y := tensor.Apply(v, Softsign, SoftsignBack) // the program's own kernels
		s.Backward(y.Mean())

		fmt.Fprintln(w, cov, far, at, y.Shape()) // printing waits
		fmt.Fprintln(w, v.Grad().Slice(0, 0, 2))
		bad := x.MatMul(x) // void; nothing panics
		_, err := tensor.Values[float32](ctx, bad)
		return err // tensor: MatMul: ... inner dimensions 3 and 1000 differ (main.go:61)
	})
	if errors.Is(err, tensor.ErrShape) {
		fmt.Fprintln(w, err)
		return nil
	}
	return err
}
