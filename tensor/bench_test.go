package tensor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// BenchmarkHost measures the host's time for an operation on few elements, beside that of the launch alone and of memory for the result.
// The device's work is not measured.
func BenchmarkHost(b *testing.B) {
	for _, d := range []struct {
		name string
		open kerneltest.Opener
	}{{"cpu", cpu.Open}, {"cuda", kerneltest.Executions()["cuda"]}} {
		b.Run(d.name, func(b *testing.B) {
			if err := tensor.Run(b.Context(), kerneltest.Device(b, d.open), func(s *tensor.Scope) error { return host(b, s) }); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func host(b *testing.B, s *tensor.Scope) error {
	x := tensor.From(s, []float32{1, 2, 3, 4}, 2, 2)
	row := tensor.From(s, []float32{5, 6}, 2)
	v, err := tensor.SliceOf[float32](x)
	if err != nil {
		return err
	}
	a := array.Array{Bytes: device.View[byte](v), Type: dtype.Float32, Strides: []int{2, 1}}
	shape := []int{2, 2}
	hostTime(b, s, "Launch", func() error {
		return array.Apply(s.Stream(), shape, &array.Operands{Op: array.Add, X: a, Y: a, Out: a})
	})
	hostTime(b, s, "Memory", func() error {
		m, err := device.DirtyBuffer[byte](s.Stream(), 16)
		return errors.Join(err, m.Close())
	})
	for name, f := range map[string]func() *tensor.Tensor{
		"Add":    func() *tensor.Tensor { return x.Add(x) },
		"AddRow": func() *tensor.Tensor { return x.Add(row) },
		"Exp":    func() *tensor.Tensor { return x.Exp() },
		"Sum":    func() *tensor.Tensor { return x.Sum(1) },
		"MatMul": func() *tensor.Tensor { return x.MatMul(x) },
	} {
		hostTime(b, s, name, func() error { return f().Err() })
	}
	return s.Err()
}

// hostTime measures the host's time for f, ten times in a frame.
func hostTime(b *testing.B, s *tensor.Scope, name string, f func() error) {
	const calls, frames = 10, 16 // few enough that the host does not wait for the device
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var spent time.Duration
		n := 0
		for b.Loop() {
			start := time.Now()
			s.Tidy(func() *tensor.Tensor {
				for range calls {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
				return nil
			})
			spent += time.Since(start)
			if n++; n%frames == 0 {
				if err := s.Stream().Synchronize(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(spent.Nanoseconds())/float64(calls*n), "ns/operation")
	})
}

// BenchmarkThroughput measures operations on 2^18 elements of a CPU, and 2^26 of a GPU.
func BenchmarkThroughput(b *testing.B) {
	for name, open := range kerneltest.Executions() {
		if name != "AVX-512" && name != "cuda" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			n := 1 << 18
			if name == "cuda" {
				n = 1 << 26
			}
			dev := kerneltest.Device(b, open)
			if err := tensor.Run(b.Context(), dev, func(s *tensor.Scope) error { return throughput(b, s, n) }); err != nil {
				b.Error(err)
			}
		})
	}
}

// throughput measures operations on n elements, in rows of 1024.
func throughput(b *testing.B, s *tensor.Scope, n int) error {
	for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
		x := tensor.Full(s, 0.5, of, n/1024, 1024)
		row := tensor.Full(s, 0.5, of, 1024)
		at := tensor.Zeros(s, dtype.Int64, n/1024)
		for _, op := range []struct {
			name   string
			arrays float64 // that are read or written
			f      func() *tensor.Tensor
		}{
			{"Add", 3, func() *tensor.Tensor { return x.Add(x) }},
			{"AddRow", 2, func() *tensor.Tensor { return x.Add(row) }},
			{"Scale", 2, func() *tensor.Tensor { return x.Scale(2) }},
			{"Exp", 2, func() *tensor.Tensor { return x.Exp() }},
			{"GELU", 2, func() *tensor.Tensor { return x.GELU() }},
			{"Greater", 1.25, func() *tensor.Tensor { return x.Greater(row) }},
			{"Sum", 1, func() *tensor.Tensor { return x.Sum() }},
			{"Sum0", 1, func() *tensor.Tensor { return x.Sum(0) }},
			{"Sum1", 1, func() *tensor.Tensor { return x.Sum(1) }},
			{"ArgMax", 1, func() *tensor.Tensor { return x.ArgMax(1) }},
			{"Softmax", 2, func() *tensor.Tensor { return x.Softmax(1) }},
			{"Transpose", 2, func() *tensor.Tensor { return x.T().Contiguous() }},
			{"Take", 2, func() *tensor.Tensor { return x.Take(0, at) }},
		} {
			b.Run(op.name+"/"+of.String(), func(b *testing.B) {
				batch := func() {
					for range 20 {
						s.Tidy(func() *tensor.Tensor { op.f(); return nil })
					}
					if err := s.Stream().Synchronize(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				batch() // loads kernels and maps memory
				for b.Loop() {
					batch()
				}
				b.ReportMetric(20*float64(b.N)*op.arrays*float64(n*of.Size())/float64(b.Elapsed().Nanoseconds()), "GB/s")
			})
		}
	}
	return s.Err()
}
