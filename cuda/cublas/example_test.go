package cublas_test

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// factors are an m by k matrix and a k by n matrix.
type factors struct {
	m, k, n int
	a, b    []float32
}

// product returns a*b.
func product(ctx context.Context, s *device.Stream, f factors) ([]float32, error) {
	m, k, n := f.m, f.k, f.n
	h, err := cublas.New(s)
	if err != nil {
		return nil, err // the error also lists where the package looked for cuBLAS
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
	err = cmp.Or(
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

// dense is a layer of a network: it maps batch rows of inputs elements to rows of outputs elements.
type dense struct {
	batch, inputs, outputs int
	weights, bias          device.Slice[dtype.BF16] // a row of weights for each output
}

// apply enqueues y = GELU(x*weights' + bias).
func (d dense) apply(h *cublas.Handle, y, x device.Slice[dtype.BF16]) error {
	batch, inputs, outputs, weights, bias := d.batch, d.inputs, d.outputs, d.weights, d.bias
	layer, err := cublas.Fuse[dtype.BF16, dtype.BF16](h, cublas.Fusion{
		M: batch, N: outputs, K: inputs, TransB: true, Bias: true, Activation: cublas.GELU,
	})
	if err != nil {
		return err // NotSupported: the library has no algorithm for these types on this GPU
	}
	defer layer.Close()
	return layer.Multiply(cublas.Operands[dtype.BF16, dtype.BF16]{Alpha: 1, A: x, B: weights, C: y, Bias: bias})
}

func ExampleFuse() {
	dev, err := cuda.Open(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	err = dev.Scope(context.Background(), func(s *device.Stream) error {
		h, err := cublas.New(s)
		if err != nil {
			return err
		}
		defer h.Close()
		all, err := device.Make[dtype.BF16](s, 3*64*64+64)
		if err != nil {
			return err
		}
		defer all.Close()
		part := func(i int) device.Slice[dtype.BF16] { return all.Slice(i*64*64, (i+1)*64*64) }
		d := dense{64, 64, 64, part(0), all.Slice(3*64*64, 3*64*64+64)}
		return d.apply(h, part(1), part(2))
	})
	fmt.Println(err)
}
