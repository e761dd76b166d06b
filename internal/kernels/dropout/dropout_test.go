package dropout

import (
	"errors"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

var options = Options{Rate: 0.3, Seed: 7<<32 | 5, Stream: 9<<40 | 3}

// want returns the element that Apply computes of 1 at an index.
func want(o Options, i int) float64 {
	counter := [4]uint32{uint32(i/64*16 + i%16), 0, uint32(o.Stream), uint32(o.Stream >> 32)}
	r := gpu.Philox4x32(counter, [2]uint32{uint32(o.Seed), uint32(o.Seed >> 32)})
	if float64(r[i%64/16]) < o.Rate*(1<<32) {
		return 0
	}
	return 1 / (1 - o.Rate)
}

// TestApply compares elements with those of a loop on the host, in other memory and in place.
func TestApply(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, n := range []int{0, 1, 63, 64, 1000, 1031, 4096} {
				check[float32](t, s, n)
				check[dtype.BF16](t, s, n)
			}
		})
	}
}

// check drops elements of an array of n.
func check[T Element](t *testing.T, s *device.Stream, n int) {
	t.Helper()
	x, bad := make([]T, n), make([]T, n)
	for i := range x {
		x[i], bad[i] = row.From64[T](float64(i%17)-8), row.From64[T](math.NaN())
	}
	from, to := kerneltest.Upload(t, s, x), kerneltest.Upload(t, s, bad)
	if err := errors.Join(Apply(s, options, from, to), Apply(s, options, from, from)); err != nil {
		t.Fatal(err)
	}
	relative, _ := row.Rounding[T]()
	got, same := kerneltest.Download(t, s, to), kerneltest.Download(t, s, from)
	for i := range got {
		if w := row.Float64(x[i]) * want(options, i); !(math.Abs(row.Float64(got[i])-w) <= 2*relative*math.Abs(w)) || got[i] != same[i] {
			t.Fatalf("element %d of %d is %v and in place %v, want %v", i, n, got[i], same[i], w)
		}
	}
}

// TestRate counts elements that become zero, for several rates and streams.
func TestRate(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	const n = 20000
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	x, y := kerneltest.Upload(t, s, ones), kerneltest.Upload(t, s, ones)
	for _, rate := range []float64{0, 0.1, 0.5, 0.9, math.Nextafter(1, 0)} {
		for stream := range uint64(3) {
			if err := Apply(s, Options{Rate: rate, Seed: 1, Stream: stream}, x, y); err != nil {
				t.Fatal(err)
			}
			zeros := 0
			for _, v := range kerneltest.Download(t, s, y) {
				if v == 0 {
					zeros++
				}
			}
			if got, limit := float64(zeros)/n, 4*math.Sqrt(rate*(1-rate)/n); math.Abs(got-rate) > limit {
				t.Errorf("rate %v, stream %d: %v of the elements are zero", rate, stream, got)
			}
		}
	}
}

// TestErrors passes lengths and rates that do not fit.
func TestErrors(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := kerneltest.Upload(t, s, make([]float32, 8))
	if err := Apply(s, options, x, x.Slice(0, 7)); !errors.Is(err, ErrShape) {
		t.Errorf("lengths: %v", err)
	}
	for _, rate := range []float64{-0.1, 1, math.NaN()} {
		if err := Apply(s, Options{Rate: rate}, x, x); !errors.Is(err, ErrRate) {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}
