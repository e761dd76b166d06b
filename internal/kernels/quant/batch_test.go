package quant

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// matrix is what both formats do with batches.
type matrix interface {
	MultiplyBatch(s *device.Stream, b Batch) error
	Gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error
}

// upload returns a random matrix of a format and its weights.
func upload(tb testing.TB, s *device.Stream, format string, shape Shape) (m matrix, weights []float32) {
	tb.Helper()
	if format == "Q4_1" {
		list := blocksQ4(shape)
		p, err := PackQ4(list, shape)
		if err != nil {
			tb.Fatal(err)
		}
		for i := range list {
			w := list[i].Weights()
			weights = append(weights, w[:]...)
		}
		return DeviceQ4{shape, kerneltest.Upload(tb, s, p.Planes), kerneltest.Upload(tb, s, p.Scales), kerneltest.Upload(tb, s, p.Minima)}, weights
	}
	list := blocksQ8(shape)
	p, err := PackQ8(list, shape)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range list {
		w := list[i].Weights()
		weights = append(weights, w[:]...)
	}
	return DeviceQ8{shape, kerneltest.Upload(tb, s, p.Planes), kerneltest.Upload(tb, s, p.Scales)}, weights
}

func formats(t *testing.T, f func(t *testing.T, s *device.Stream, format string)) {
	for name, open := range kerneltest.Executions() {
		for _, format := range []string{"Q4_1", "Q8_0"} {
			t.Run(name+"/"+format, func(t *testing.T) { f(t, kerneltest.Stream(t, open), format) })
		}
	}
}

func TestMultiplyBatch(t *testing.T) {
	formats(t, func(t *testing.T, s *device.Stream, format string) {
		for _, shape := range []Shape{{1, 32}, {16, 64}, {37, 96}} {
			m, w := upload(t, s, format, shape)
			for _, n := range []int{0, 1, 2, 7, 8, 9, 17} {
				x, nan := vector(n*shape.Columns), make([]float32, n*shape.Rows)
				for i := range nan {
					nan[i] = float32(math.NaN())
				}
				b := Batch{n, kerneltest.Upload(t, s, x), kerneltest.Upload(t, s, nan), kerneltest.Upload(t, s, make([]float32, shape.Blocks()))}
				if err := m.MultiplyBatch(s, b); err != nil {
					t.Fatal(err)
				}
				for i, got := range kerneltest.Download(t, s, b.Y) {
					of, row := i/shape.Rows, i%shape.Rows
					var want, size float64
					for k, v := range x[of*shape.Columns : (of+1)*shape.Columns] {
						term := float64(w[row*shape.Columns+k]) * float64(v)
						want, size = want+term, size+math.Abs(term)
					}
					if !(math.Abs(float64(got)-want) <= 1e-5*size) {
						t.Fatalf("%v, %d rows: row %d of vector %d is %v, want %v", shape, n, row, of, got, want)
					}
				}
			}
		}
	})
}

func TestGather(t *testing.T) {
	formats(t, func(t *testing.T, s *device.Stream, format string) {
		shape := Shape{37, 96}
		m, w := upload(t, s, format, shape)
		rows := []int32{36, 0, 17, 17, -1, 37, 15, math.MaxInt32, math.MinInt32}
		y := kerneltest.Upload(t, s, slices.Repeat([]float32{5}, len(rows)*shape.Columns))
		if err := m.Gather(s, kerneltest.Upload(t, s, rows), y); err != nil {
			t.Fatal(err)
		}
		for i, got := range kerneltest.Download(t, s, y) {
			row, want := int(rows[i/shape.Columns]), float32(0)
			if row >= 0 && row < shape.Rows {
				want = w[row*shape.Columns+i%shape.Columns]
			}
			if difference := math.Abs(float64(got - want)); !(difference <= 1e-6) {
				t.Fatalf("row %d, column %d: %v, want %v", row, i%shape.Columns, got, want)
			}
		}
		if err := m.Gather(s, kerneltest.Upload(t, s, rows), y.Slice(0, 5)); !errors.Is(err, ErrShape) {
			t.Errorf("Gather of 9 rows in 5 elements: %v", err)
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	for _, format := range []string{"Q4_1", "Q8_0"} {
		for _, n := range []int{8, 64} {
			for name, open := range kerneltest.VectorUnits() {
				b.Run(fmt.Sprintf("%s/%d/%s", format, n, name), func(b *testing.B) {
					s, shape := kerneltest.Stream(b, open), Shape{1536, 576}
					m, _ := upload(b, s, format, shape)
					x := Batch{n, kerneltest.Upload(b, s, vector(n*shape.Columns)), kerneltest.Upload(b, s, make([]float32, n*shape.Rows)), kerneltest.Upload(b, s, make([]float32, shape.Blocks()))}
					took := kerneltest.Measure(b, s, func() error { return m.MultiplyBatch(s, x) })
					kerneltest.ReportRate(b, 2*float64(n)*float64(shape.Rows)*float64(shape.Columns), took)
				})
			}
		}
	}
}
