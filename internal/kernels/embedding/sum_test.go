package embedding

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// TestSum compares sums of rows with those in float64, on executions for which Sum is.
func TestSum(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			if !SumFits(s, 24) {
				if err := Sum(s, 24, [3]Rows[dtype.F16]{}, kerneltest.Upload(t, s, make([]dtype.F16, 24))); !errors.Is(err, ErrShape) {
					t.Errorf("%v", err)
				}
				return
			}
			const columns, tokens = 24, 67
			r := rand.New(rand.NewPCG(1, 8))
			var x [3]Rows[dtype.F16]
			want := make([]float64, tokens*columns)
			for k := range x {
				rows := 5 + 7*k
				table, indices := make([]dtype.F16, rows*columns), make([]int32, tokens)
				for i := range table {
					table[i] = dtype.F16From64(r.NormFloat64())
				}
				for i := range indices {
					indices[i] = int32(r.IntN(rows+2) - 1) // some outside the table
					for c := range columns {
						if at := int(indices[i]); at >= 0 && at < rows {
							want[i*columns+c] += table[at*columns+c].Float64()
						}
					}
				}
				x[k] = Rows[dtype.F16]{Table: kerneltest.Upload(t, s, table), Indices: kerneltest.Upload(t, s, indices)}
			}
			out := kerneltest.Upload(t, s, make([]dtype.F16, tokens*columns))
			if err := Sum(s, columns, x, out); err != nil {
				t.Fatal(err)
			}
			for i, got := range kerneltest.Download(t, s, out) {
				if !(math.Abs(got.Float64()-want[i]) <= 1e-3*math.Abs(want[i])+1e-3) {
					t.Fatalf("element %d is %v, want %v", i, got.Float64(), want[i])
				}
			}
		})
	}
}
