package main

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/activation"
	"github.com/gopherwarp/gopherwarp/internal/kernels/embedding"
	"github.com/gopherwarp/gopherwarp/internal/kernels/norm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/rope"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/kernels/softmax"
	"github.com/gopherwarp/gopherwarp/math32"
)

//go:generate go tool kernelgen .

// benchCase is something to measure.
type benchCase struct {
	name    string
	prepare func(b *bench) work
}

var cases = []benchCase{
	{"RMSNorm, bfloat16, 4096 columns", newNorm[dtype.BF16](4096, false, false)},
	{"RMSNorm, bfloat16, 8192 columns", newNorm[dtype.BF16](8192, false, false)},
	{"RMSNorm, bfloat16, 128 columns", newNorm[dtype.BF16](128, false, false)},
	{"RMSNorm, bfloat16, 1024 columns", newNorm[dtype.BF16](1024, false, false)},
	{"RMSNorm, float32, 4096 columns", newNorm[float32](4096, false, false)},
	{"RMSNorm with residual, bfloat16, 4096 columns", newNorm[dtype.BF16](4096, false, true)},
	{"LayerNorm, bfloat16, 4096 columns", newNorm[dtype.BF16](4096, true, false)},
	{"LayerNorm, float16, 768 columns", newNorm[dtype.F16](768, true, false)},
	{"RoPE, bfloat16, 40 heads of 128", newRope[dtype.BF16]},
	{"RoPE, float32, 40 heads of 128", newRope[float32]},
	{"SwiGLU, bfloat16, stacked, 14336 columns", newSwiGLU[dtype.BF16](activation.Stacked)},
	{"SwiGLU, bfloat16, interleaved, 14336 columns", newSwiGLU[dtype.BF16](activation.Interleaved)},
	{"SwiGLU, float32, stacked, 14336 columns", newSwiGLU[float32](activation.Stacked)},
	{"SiLU, bfloat16", newApply[dtype.BF16](activation.SiLU)},
	{"GELU by tanh, bfloat16", newApply[dtype.BF16](activation.GELUTanh)},
	{"GELU, bfloat16", newApply[dtype.BF16](activation.GELU)},
	{"GELU, float32", newApply[float32](activation.GELU)},
	{"softsign by MapKernel, bfloat16", newSoftsign},
	{"softmax, float32, 16384 columns", newSoftmax[float32](16384, 0)},
	{"softmax, bfloat16, 64 columns", newSoftmax[dtype.BF16](64, 0)},
	{"softmax, bfloat16, 512 columns", newSoftmax[dtype.BF16](512, 0)},
	{"softmax, bfloat16, 2048 columns", newSoftmax[dtype.BF16](2048, 0)},
	{"softmax, bfloat16, 32768 columns", newSoftmax[dtype.BF16](32768, 0)},
	{"softmax, float32, 131072 columns", newSoftmax[float32](131072, 0)},
	{"softmax, bfloat16, 131072 columns", newSoftmax[dtype.BF16](131072, 0)},
	{"softmax, float16, 131072 columns", newSoftmax[dtype.F16](131072, 0)},
	{"embedding, bfloat16, 4096 columns", newEmbedding},
	{"sampling, 128256 logits, top-k and top-p", newSampling(sampled{k: 50, p: 0.9})},
	{"sampling, 128256 logits, top-k of 1000", newSampling(sampled{k: 1000})},
	{"sampling, 128256 logits, top-p", newSampling(sampled{p: 0.9})},
	{"sampling, 128256 logits, all", newSampling(sampled{})},
	{"sampling, 128256 logits, greatest", newSampling(sampled{greedy: true})},
	{"derivative of RMSNorm, bfloat16, 4096 columns", newNormBack[dtype.BF16](4096, false, false)},
	{"derivatives of RMSNorm and weights, bfloat16", newNormBack[dtype.BF16](4096, false, true)},
	{"derivative of LayerNorm, float32, 1024 columns", newNormBack[float32](1024, true, false)},
	{"derivative of SwiGLU, bfloat16, stacked", newSwiGLUBack[dtype.BF16]},
	{"dropout (its own derivative), bfloat16", newDropout[dtype.BF16]},
	{"dropout (its own derivative), float32", newDropout[float32]},
	{"loss and derivative of 128256 logits, bfloat16", newCrossEntropy[dtype.BF16](128256)},
	{"loss and derivative of 49152 logits, float32", newCrossEntropy[float32](49152)},
}

// rowsOf returns how many rows of columns elements the arrays have, at least one.
func rowsOf[T row.Number](b *bench, columns int) int {
	var x T
	return max(1, b.size.bytes/(columns*int(unsafe.Sizeof(x))))
}

// traffic returns the bytes of n elements.
func traffic[T row.Number](n int) float64 {
	var x T
	return float64(n) * float64(unsafe.Sizeof(x))
}

// newNorm prepares a norm.
func newNorm[T row.Number](columns int, centred, residual bool) func(b *bench) work {
	return func(b *bench) work {
		rows := rowsOf[T](b, columns)
		n := rows * columns
		o := norm.Operands[T]{X: random[T](b, n), Y: result[T](b, n), Weight: random[float32](b, columns)}
		function, arrays := norm.RMSNorm[T], 2
		if centred {
			function = norm.LayerNorm[T]
		}
		if residual {
			o.Residual, o.Sum, arrays = random[T](b, n), result[T](b, n), 4
		}
		shape := norm.Shape{Rows: rows, Columns: columns}
		ref := norm.Reference{Weight: part(b, o.Weight, 0, columns), Epsilon: 1e-5, Centred: centred}
		return work{
			bytes:  float64(arrays) * traffic[T](n),
			launch: func() error { return function(b.s, shape, 1e-5, o) },
			check: func() error {
				return eachRow(rows, func(at int) error {
					x := row.Float64s(part(b, o.X, at*columns, (at+1)*columns))
					if residual {
						for i, r := range part(b, o.Residual, at*columns, (at+1)*columns) {
							x[i] = row.Float64(row.From64[T](x[i] + row.Float64(r)))
						}
					}
					want, size := ref.Row(x)
					return compare(part(b, o.Y, at*columns, (at+1)*columns), want, scaled(size, 2e-6))
				})
			},
		}
	}
}

// newRope prepares a rotation in place. Its check must run after one launch.
func newRope[T row.Number](b *bench) work {
	const heads, dim = 40, 128
	tokens := rowsOf[T](b, heads*dim)
	x := random[T](b, tokens*heads*dim)
	before := map[int][]T{}
	b.add(eachRow(tokens, func(at int) error {
		before[at] = part(b, x, at*heads*dim, (at+1)*heads*dim)
		return b.err
	}))
	positions := make([]int32, tokens)
	for i := range positions {
		positions[i] = int32(i % 8192)
	}
	frequencies := rope.Frequencies(dim, 500000, nil)
	angles := result[float32](b, tokens*dim)
	if b.err == nil {
		b.add(rope.Angles(b.s, upload(b, positions), upload(b, frequencies), angles))
	}
	return work{
		bytes:  2*traffic[T](tokens*heads*dim) + traffic[float32](tokens*dim),
		launch: func() error { return rope.Rotate(b.s, rope.Shape{Tokens: tokens, Heads: heads, Dim: dim}, x, angles) },
		check: func() error {
			return eachRow(tokens, func(at int) error {
				got := part(b, x, at*heads*dim, (at+1)*heads*dim)
				for head := range heads {
					want, size := rope.Reference(row.Float64s(before[at][head*dim:(head+1)*dim]), positions[at], frequencies)
					if err := compare(got[head*dim:(head+1)*dim], want, scaled(size, 4e-7)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// newSwiGLU prepares SwiGLU.
func newSwiGLU[T row.Number](layout activation.Layout) func(b *bench) work {
	return func(b *bench) work {
		const columns = 14336
		rows := rowsOf[T](b, 2*columns)
		o := activation.Operands[T]{Gate: random[T](b, 2*rows*columns), Y: result[T](b, rows*columns)}
		return work{
			bytes: 3 * traffic[T](rows*columns),
			launch: func() error {
				return activation.SwiGLU(b.s, activation.Shape{Rows: rows, Columns: columns}, layout, o)
			},
			check: func() error {
				return eachRow(rows, func(at int) error {
					x, want := row.Float64s(part(b, o.Gate, 2*at*columns, 2*(at+1)*columns)), make([]float64, columns)
					for i := range want {
						gate, up := i, columns+i
						if layout == activation.Interleaved {
							gate, up = 2*i, 2*i+1
						}
						want[i] = activation.SiLU.Reference(x[gate]) * x[up]
					}
					return compare(part(b, o.Y, at*columns, (at+1)*columns), want, magnitudes(want, 1e-5))
				})
			},
		}
	}
}

// magnitudes returns the magnitudes of x times by.
func magnitudes(x []float64, by float64) []float64 {
	list := scaled(x, by)
	for i := range list {
		list[i] = math.Abs(list[i])
	}
	return list
}

// newApply prepares an activation function.
func newApply[T row.Number](f activation.Function) func(b *bench) work {
	return func(b *bench) work {
		return elementwise(b, func(x, y device.Slice[T]) error { return activation.Apply(b.s, f, x, y) }, f.Reference)
	}
}

// elementwise prepares a function of each element.
func elementwise[T row.Number](b *bench, launch func(x, y device.Slice[T]) error, reference func(float64) float64) work {
	const columns = 1 << 12 // that are checked together
	rows := rowsOf[T](b, columns)
	x, y := random[T](b, rows*columns), result[T](b, rows*columns)
	return work{
		bytes:  2 * traffic[T](rows*columns),
		launch: func() error { return launch(x, y) },
		check: func() error {
			return eachRow(rows, func(at int) error {
				want := row.Float64s(part(b, x, at*columns, (at+1)*columns))
				for i, v := range want {
					want[i] = reference(v)
				}
				return compare(part(b, y, at*columns, (at+1)*columns), want, magnitudes(want, 1e-5))
			})
		},
	}
}

// softsign is a user's own operation.
type softsign struct{}

// Of returns x/(1 + |x|).
func (softsign) Of(x float32) float32 { return x / (1 + math32.Abs(x)) }

// newSoftsign prepares a kernel that is an instance of MapKernel in this package.
func newSoftsign(b *bench) work {
	return elementwise(b, func(x, y device.Slice[dtype.BF16]) error {
		v := device.View[row.BF16x8, dtype.BF16]
		return Softsign(b.s, device.Cover(x.Len()/8, 256), v(x), v(y))
	}, func(x float64) float64 { return x / (1 + math.Abs(x)) })
}

//gpu:instance Softsign = activation.MapKernel[row.BF16x8, softsign]

// newSoftmax prepares a softmax.
func newSoftmax[T row.Number](columns, queries int) func(b *bench) work {
	return func(b *bench) work {
		rows := rowsOf[T](b, columns)
		o := softmax.Operands[T]{X: random[T](b, rows*columns), Y: result[T](b, rows*columns)}
		options := softmax.Options{Scale: 1, Queries: queries}
		return work{
			bytes:  2 * traffic[T](rows*columns),
			launch: func() error { return softmax.Rows(b.s, softmax.Shape{Rows: rows, Columns: columns}, options, o) },
			check: func() error {
				return eachRow(rows, func(at int) error {
					want, _ := softmax.Reference(row.Float64s(part(b, o.X, at*columns, (at+1)*columns)), columns, options)
					return compare(part(b, o.Y, at*columns, (at+1)*columns), want, magnitudes(want, 1e-5))
				})
			},
		}
	}
}

// newEmbedding prepares a copy of rows of a table.
func newEmbedding(b *bench) work {
	const columns, vocabulary = 4096, 32000
	tokens := rowsOf[dtype.BF16](b, columns)
	shape := embedding.Shape{Tokens: tokens, Vocabulary: min(vocabulary, tokens), Columns: columns}
	indices := make([]int32, tokens)
	for i := range indices {
		indices[i] = int32(i * 7919 % shape.Vocabulary)
	}
	o := embedding.Operands[dtype.BF16, dtype.BF16]{
		Table: random[dtype.BF16](b, shape.Vocabulary*columns), Indices: upload(b, indices), Out: result[dtype.BF16](b, tokens*columns),
	}
	return work{
		bytes:  2 * traffic[dtype.BF16](tokens*columns),
		launch: func() error { return embedding.Gather(b.s, shape, o) },
		check: func() error {
			return eachRow(tokens, func(at int) error {
				from := int(indices[at]) * columns
				want := part(b, o.Table, from, from+columns)
				for i, got := range part(b, o.Out, at*columns, (at+1)*columns) {
					if got != want[i] {
						return fmt.Errorf("row %d, column %d is %v, want %v", at, i, got, want[i])
					}
				}
				return nil
			})
		},
	}
}
