package cublas_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
)

// factors are matrices of m by k and k by n numbers.
type factors struct {
	m, k, n int
	a, b    []float32
}

// product returns a*b.
func product(ctx context.Context, s *device.Stream, f factors) ([]float32, error) {
	m, k, n := f.m, f.k, f.n
	h, err := cublas.New(s)
	if err != nil {
		return nil, err // also: where it looked for cuBLAS
	}
	defer h.Close()
	x, err := device.Upload(s, f.a)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	y, err := device.Upload(s, f.b)
	if err != nil {
		return nil, err
	}
	defer y.Close()
	z, err := device.Make[float32](s, m*n)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out := make([]float32, m*n)
	err = errors.Join(
		cublas.Gemm(h, cublas.Product[float32]{
			Alpha: 1,
			A:     cublas.Matrix[float32]{Rows: m, Cols: k, Data: x.All()},
			B:     cublas.Matrix[float32]{Rows: k, Cols: n, Data: y.All()},
			C:     cublas.Matrix[float32]{Rows: m, Cols: n, Data: z.All()},
		}),
		device.Download(s, out, z),
		s.Synchronize(ctx))
	return out, err
}

func ExampleGemm() {
	dev, err := cuda.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(product(context.Background(), s, factors{1, 2, 1, []float32{1, 2}, []float32{3, 4}}))
}
