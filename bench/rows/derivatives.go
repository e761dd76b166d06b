package main

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/internal/kernels/activation"
	"github.com/gopherwarp/gopherwarp/internal/kernels/dropout"
	"github.com/gopherwarp/gopherwarp/internal/kernels/loss"
	"github.com/gopherwarp/gopherwarp/internal/kernels/norm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// newNormBack prepares the derivative of a norm, with that of its weights or without.
func newNormBack[T norm.Element](columns int, centred, weights bool) func(b *bench) work {
	return func(b *bench) work {
		rows := rowsOf[T](b, columns)
		n, shape := rows*columns, norm.Shape{Rows: rows, Columns: columns}
		o := norm.Gradients[T]{X: random[T](b, n), DY: random[T](b, n), DX: result[T](b, n), Weight: random[float32](b, columns)}
		arrays := 3
		if weights {
			o.DWeight, o.Workspace, arrays = result[float32](b, columns), result[float32](b, norm.Workspace(shape)), 5
		}
		function := norm.RMSNormBack[T]
		if centred {
			function = norm.LayerNormBack[T]
		}
		ref := norm.Reference{Weight: part(b, o.Weight, 0, columns), Epsilon: 1e-5, Centred: centred}
		return work{
			bytes:  float64(arrays) * traffic[T](n),
			launch: func() error { return function(b.s, shape, 1e-5, o) },
			check: func() error {
				return eachRow(rows, func(at int) error {
					first, end := at*columns, (at+1)*columns
					want, size := ref.Back(row.Float64s(part(b, o.X, first, end)), row.Float64s(part(b, o.DY, first, end)))
					return compare(part(b, o.DX, first, end), want.X, scaled(size.X, 4e-6))
				})
			},
		}
	}
}

// newSwiGLUBack prepares the derivative of SwiGLU.
func newSwiGLUBack[T activation.Element](b *bench) work {
	const columns = 14336
	rows := rowsOf[T](b, 2*columns)
	n := rows * columns
	o := activation.Gradients[T]{Gate: random[T](b, 2*n), DY: random[T](b, n), DGate: result[T](b, 2*n)}
	return work{
		bytes: 5 * traffic[T](n),
		launch: func() error {
			return activation.SwiGLUBack(b.s, activation.Shape{Rows: rows, Columns: columns}, activation.Stacked, o)
		},
		check: func() error {
			return eachRow(rows, func(at int) error {
				x, dy := row.Float64s(part(b, o.Gate, 2*at*columns, 2*(at+1)*columns)), row.Float64s(part(b, o.DY, at*columns, (at+1)*columns))
				want, size := make([]float64, 2*columns), make([]float64, 2*columns)
				for i, d := range dy {
					s := activation.Sigmoid.Reference(x[i])
					want[i], want[columns+i] = d*x[columns+i]*s*(1+x[i]*(1-s)), d*x[i]*s
					size[i], size[columns+i] = 1e-5*math.Abs(d*x[columns+i]), 1e-5*math.Abs(d*x[i])
				}
				return compare(part(b, o.DGate, 2*at*columns, 2*(at+1)*columns), want, size)
			})
		},
	}
}

// newDropout prepares dropout, of whose result the check counts the zeros.
func newDropout[T dropout.Element](b *bench) work {
	const columns, rate = 1 << 14, 0.1
	rows := rowsOf[T](b, columns)
	x, y := random[T](b, rows*columns), result[T](b, rows*columns)
	return work{
		bytes:  2 * traffic[T](rows*columns),
		launch: func() error { return dropout.Apply(b.s, dropout.Options{Rate: rate, Seed: 1}, x, y) },
		check: func() error {
			return eachRow(rows, func(at int) error {
				zeros, want := 0, row.Float64s(part(b, x, at*columns, (at+1)*columns))
				got := part(b, y, at*columns, (at+1)*columns)
				for i, g := range got {
					if want[i] /= 1 - rate; row.Float64(g) == 0 {
						zeros++
						want[i] = 0
					}
				}
				if limit := 5 * math.Sqrt(rate*(1-rate)*columns); math.Abs(float64(zeros)-rate*columns) > limit {
					return fmt.Errorf("row %d has %d zeros among %d", at, zeros, columns)
				}
				return compare(got, want, magnitudes(want, 1e-6))
			})
		},
	}
}

// newCrossEntropy prepares the loss of logits, and its derivative.
func newCrossEntropy[T loss.Element](columns int) func(b *bench) work {
	return func(b *bench) work {
		rows := rowsOf[T](b, columns)
		labels := make([]int32, rows)
		for i := range labels {
			labels[i] = int32(i * 7919 % columns)
		}
		o := loss.Operands[T]{X: random[T](b, rows*columns), Labels: upload(b, labels), Losses: result[float32](b, rows), DX: result[T](b, rows*columns), Scale: 1}
		return work{
			bytes:  2 * traffic[T](rows*columns),
			launch: func() error { return loss.CrossEntropy(b.s, loss.Shape{Rows: rows, Columns: columns}, o) },
			check: func() error {
				return eachRow(rows, func(at int) error {
					want, dx := loss.Reference(row.Float64s(part(b, o.X, at*columns, (at+1)*columns)), int(labels[at]))
					if err := compare(part(b, o.Losses, at, at+1), []float64{want}, []float64{3e-5 * (1 + want)}); err != nil {
						return err
					}
					return compare(part(b, o.DX, at*columns, (at+1)*columns), dx, magnitudes(dx, 1e-4))
				})
			},
		}
	}
}
