package matmul_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/matmul"
)

// BenchmarkGPU times each version on the first GPU, with events around batches of launches, after a
// warm-up batch. It reports TFLOP/s, at 2*M*N*K operations per product. It skips products that take
// longer than a tenth of a second.
func BenchmarkGPU(b *testing.B) {
	open := gpu(b)
	dev, err := open()
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, n := range []int{1024, 4096, 8192} {
		p := newProblem(matmul.Shape{M: n, N: n, K: n})
		for _, v := range matmul.Versions() {
			if v == matmul.Plain && n > 1024 || v == matmul.Blocked && n > 4096 {
				continue
			}
			b.Run(fmt.Sprintf("%v/%d", v, n), func(b *testing.B) {
				x, closing := p.upload(b, s)
				defer closing()
				if err := errors.Join(matmul.Launch(s, v, p.Shape, x), s.Synchronize(b.Context())); err != nil {
					b.Fatal(err)
				}
				began, err := s.Record()
				if err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				for range b.N {
					if err := matmul.Launch(s, v, p.Shape, x); err != nil {
						b.Fatal(err)
					}
				}
				ended, err := s.Record()
				if err = errors.Join(err, s.Synchronize(b.Context())); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				took, err := ended.Since(began)
				if err = errors.Join(err, began.Close(), ended.Close()); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/took.Seconds()/1e12, "TFLOP/s")
			})
		}
	}
}
