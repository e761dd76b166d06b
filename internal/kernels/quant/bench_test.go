package quant

import (
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// BenchmarkCPU reports GFLOP per CPU second, two operations for each weight: for a square matrix, and for those of a small model.
func BenchmarkCPU(b *testing.B) {
	for _, format := range []string{"Q4_1", "Q8_0"} {
		for _, shape := range []Shape{{4096, 4096}, {1536, 576}, {576, 1536}} {
			for name, open := range kerneltest.VectorUnits() {
				b.Run(fmt.Sprintf("%s/%dx%d/%s", format, shape.Rows, shape.Columns, name), func(b *testing.B) {
					s := kerneltest.Stream(b, open)
					p := newProduct(b, s, format, shape)
					took := kerneltest.Measure(b, s, func() error { return p.run(Tiles) })
					kerneltest.ReportRate(b, 2*float64(shape.Rows)*float64(shape.Columns), took)
				})
			}
		}
	}
}
