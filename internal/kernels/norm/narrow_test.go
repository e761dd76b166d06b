package norm

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// TestNarrow compares norms of float32 rows with results of bfloat16 with those in float64.
func TestNarrow(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, shape := range []Shape{{0, 8}, {1, 4}, {17, 136}, {3, 576}, {2, 4100}} {
				r := rand.New(rand.NewPCG(uint64(shape.Columns), 7))
				x, weight := random[float32](r, shape.Rows*shape.Columns), random[float32](r, shape.Columns)
				o := Narrowed{X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, poison[dtype.BF16](len(x))), Weight: kerneltest.Upload(t, s, weight)}
				if err := RMSNormNarrow(s, shape, epsilon, o); err != nil {
					t.Fatal(err)
				}
				for i, y := range kerneltest.Download(t, s, o.Y) {
					squares, first := 0.0, i/shape.Columns*shape.Columns
					for _, v := range x[first : first+shape.Columns] {
						squares += float64(v) * float64(v)
					}
					want := float64(x[i]) / math.Sqrt(squares/float64(shape.Columns)+epsilon) * float64(weight[i%shape.Columns])
					if !(math.Abs(y.Float64()-want) <= math.Abs(want)/250) {
						t.Fatalf("%v: element %d is %v, want %v", shape, i, y.Float64(), want)
					}
				}
			}
			x := Narrowed{X: kerneltest.Upload(t, s, make([]float32, 6)), Y: kerneltest.Upload(t, s, make([]dtype.BF16, 6)), Weight: kerneltest.Upload(t, s, make([]float32, 6))}
			if err := RMSNormNarrow(s, Shape{1, 6}, epsilon, x); !errors.Is(err, ErrShape) {
				t.Errorf("rows of 6: %v", err)
			}
		})
	}
}
