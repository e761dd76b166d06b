package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/activation"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Stacked is several linear layers with the same input of In elements. In its tag, the differing parts of the layers' names are in braces:
// `weights:"mlp.{gate,up}_proj"`. Without braces, a name ends with the number of the layer, as in "mlp.0". In memory, dense matrices are stored as one
// matrix, and so are quantized matrices of the same format.
type Stacked struct {
	In   int
	Out  []int // the elements of each layer's output
	Bias bool  // whether the file has a bias for each layer

	parts []Linear
	whole *affine               // trained layers of MultiHead, in one, or nil
	all   matrix                // of all rows, or nil
	runs  []quantized           // of the rows of all layers, in order, or nil if some matrix is dense, or there are biases
	bias  device.Slice[float32] // of all rows, if there are biases and all is not nil
}

func (l *Stacked) load(from *loader, name string) error {
	names, err := l.names(name)
	if err != nil {
		return err
	}
	l.parts = nil // of an earlier Load
	if from.options.Train {
		return l.loadTrained(from, names)
	}
	matrices, runs, err := from.matrices(suffixed(names, "weight"), l.Out, l.In)
	if err != nil {
		return err
	}
	if len(runs) == 1 {
		l.all = runs[0]
	}
	if !l.Bias {
		l.runs = quantizedRuns(runs)
	}
	for i, m := range matrices {
		l.parts = append(l.parts, Linear{In: l.In, Out: l.Out[i], Bias: l.Bias, weight: m})
	}
	return l.loadBiases(from, names)
}

// loadTrained loads layers that are trained.
func (l *Stacked) loadTrained(from *loader, names []string) (err error) {
	for i, name := range names {
		part := Linear{In: l.In, Out: l.Out[i], Bias: l.Bias}
		if part.trained, err = from.affine(&part, name); err != nil {
			return err
		}
		l.parts = append(l.parts, part)
	}
	return nil
}

// Part returns layer i. Before Load, only a Stacked made by NewStacked has layers.
func (l *Stacked) Part(i int) *Linear { return &l.parts[i] }

// suffixed returns names with a suffix after a dot.
func suffixed(names []string, suffix string) (list []string) {
	for _, n := range names {
		list = append(list, join(n, suffix))
	}
	return list
}

// loadBiases loads the biases, which follow each other in memory.
func (l *Stacked) loadBiases(from *loader, names []string) (err error) {
	var all []float32
	for i, n := range names {
		if l.Bias {
			values, err := from.vector(join(n, "bias"), l.Out[i])
			if err != nil {
				return err
			}
			all = append(all, values...)
		}
	}
	from.progress()
	if !l.Bias {
		return nil
	}
	var half device.Slice[dtype.BF16]
	if l.bias, half, err = from.bias(all); err != nil {
		return err
	}
	at := 0
	for i := range l.parts {
		l.parts[i].bias = l.bias.Slice(at, at+l.Out[i])
		if half.Len() > 0 {
			l.parts[i].half = half.Slice(at, at+l.Out[i])
		}
		at += l.Out[i]
	}
	return nil
}

// Forward returns the result of each layer for the rows of x. The elements of x are activations.
func (l *Stacked) Forward(x *tensor.Tensor) []*tensor.Tensor {
	return l.some(x, 0, len(l.Out))
}

// some returns the results of the layers from number from to number to-1.
func (l *Stacked) some(x *tensor.Tensor, from, to int) (list []*tensor.Tensor) {
	x = x.Contiguous()
	if l.whole != nil {
		begin, n := sum(l.Out[:from]), sum(l.Out[from:to])
		all := l.whole.forward
		if n < sum(l.Out) {
			all = func(x *tensor.Tensor) *tensor.Tensor { return l.whole.rows(x, begin, begin+n) }
		}
		y, at := all(x), 0
		for _, n := range l.Out[from:to] {
			list = append(list, y.Slice(-1, at, at+n))
			at += n
		}
		return list
	}
	for i := from; i < to; i++ {
		if i < len(l.parts) {
			list = append(list, l.parts[i].Forward(x))
		} else {
			list = append(list, unloaded{make: "NewStacked"}.void("Linear", x))
		}
	}
	return list
}

// sum returns the sum of numbers.
func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

// Together returns the results of all layers, side by side in one tensor, or false if it has no kernel for the matrices and x. It has kernels
// for layers that are stored as
//
//   - one dense matrix, if the matrix and x have the same element type, float16 or bfloat16;
//   - one quantized matrix, if x is bfloat16 and there are no biases;
//   - several quantized matrices, if x is one row in bfloat16, there are no biases, and no derivative is needed.
func (l *Stacked) Together(x *tensor.Tensor) (*tensor.Tensor, bool) {
	if halfOf(l.all, x.DType()) || l.stackedBlocks() && x.DType() == dtype.BFloat16 {
		return multiply("Linear", l.all, product{x: x, bias: l.bias}, x.DType()), true
	}
	if l.runs == nil || x.DType() != dtype.BFloat16 || x.Len() != l.In || x.NeedsGrad() {
		return nil, false
	}
	x = x.Contiguous()
	return l.eachRun(x, func(s *device.Stream, m quantized, y device.Slice[dtype.BF16]) error {
		row, err := tensor.SliceOf[dtype.BF16](x)
		if err != nil {
			return err
		}
		return runQuantized(s, m, quant.Operands[dtype.BF16, dtype.BF16]{Rows: 1, X: row, Y: y})
	}), true
}

// SwiGLU normalizes the rows of x, a residual stream, applies two layers to them, and returns SwiGLU of the results. The first layer is the
// gate.
func (l *Stacked) SwiGLU(n *RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	x = x.Contiguous()
	if s := x.Scope(); s != nil && x.Err() == nil && !l.Bias && !x.NeedsGrad() {
		if w, ok := fused(s.Stream(), l.all, n, x); ok {
			return l.fusedSwiGLU(w, n, x)
		}
	}
	if y, ok := l.normGated(n, x); ok {
		return y
	}
	if both, ok := l.NormTogether(n, x); ok {
		return l.Gated(both)
	}
	x = n.Forward(x)
	if b, ok := l.all.(brains); ok && x.DType() == dtype.BFloat16 && !x.NeedsGrad() {
		return l.halfSwiGLU(b, x)
	}
	if l.stackedBlocks() && x.DType() == dtype.BFloat16 && !x.NeedsGrad() {
		if m := l.all.(quantized); x.Err() == nil && l.Out[0] == l.Out[1] && quant.GatesMany(x.Scope().Stream().Device(), m.Matrix, x.Len()/m.Columns) {
			return l.manyGated(m, x)
		}
		return l.Gated(multiply("SwiGLU", l.all, product{x: x}, dtype.BFloat16))
	}
	list := l.Forward(x)
	return tensor.SwiGLU(list[0], list[1])
}

// normGated returns SwiGLU(n, x) from a single kernel. It returns false if there is no such kernel.
func (l *Stacked) normGated(n *RMSNorm, x *tensor.Tensor) (*tensor.Tensor, bool) {
	if len(l.runs) != 1 || !l.normalizes(n, x) || len(l.Out) != 2 || l.Out[0] != l.Out[1] || !quant.Gates(x.Scope().Stream(), l.runs[0].Matrix) {
		return nil, false
	}
	return l.swiGLU(x, func(s *device.Stream, y device.Slice[dtype.BF16]) error {
		v, err := tensor.SlicesOf[float32](x, n.values)
		if err != nil {
			return err
		}
		return quant.GateNorm(s, l.runs[0].Matrix, quant.Norm{X: v[0], Gain: v[1], Epsilon: n.Epsilon}, y)
	}), true
}

// normalizes reports whether there are kernels that normalize x before they multiply it.
func (l *Stacked) normalizes(n *RMSNorm, x *tensor.Tensor) bool {
	if l.runs == nil || x.Err() != nil || x.Scope() == nil || x.DType() != dtype.Float32 || x.Len() != l.In || x.NeedsGrad() || n.out != dtype.BFloat16 || n.values == nil {
		return false
	}
	for _, m := range l.runs {
		if !quant.Normalizes(x.Scope().Stream(), m.Matrix) {
			return false
		}
	}
	return true
}

// NormTogether returns Together(n.Forward(x)) from a single kernel, without an intermediate tensor. It returns false if there is no such
// kernel. On GPUs, there is one for quantized matrices if x is a single row of a residual stream.
func (l *Stacked) NormTogether(n *RMSNorm, x *tensor.Tensor) (*tensor.Tensor, bool) {
	if !l.normalizes(n, x) {
		return nil, false
	}
	x = x.Contiguous()
	return l.eachRun(x, func(s *device.Stream, m quantized, y device.Slice[dtype.BF16]) error {
		v, err := tensor.SlicesOf[float32](x, n.values)
		if err != nil {
			return err
		}
		return quant.MultiplyNorm(s, m.Matrix, quant.Norm{X: v[0], Gain: v[1], Epsilon: n.Epsilon}, y)
	}), true
}

// quantizedRuns returns the matrices if all are quantized, and the results of each begin at a multiple of 16 bytes in one row; else nil.
func quantizedRuns(from []matrix) (runs []quantized) {
	for i, m := range from {
		q, ok := m.(quantized)
		if !ok || i+1 < len(from) && !q.WholeTiles() {
			return nil
		}
		runs = append(runs, q)
	}
	return runs
}

// eachRun returns a row with the results of the matrices for a row x, one after another.
func (l *Stacked) eachRun(x *tensor.Tensor, multiply func(s *device.Stream, m quantized, y device.Slice[dtype.BF16]) error) *tensor.Tensor {
	shape, rows := x.Shape(), 0
	for _, m := range l.runs {
		rows += m.Rows
	}
	shape[len(shape)-1] = rows
	return tensor.Op{Name: "Linear", In: []*tensor.Tensor{x}, DType: dtype.BFloat16, Shape: shape, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		to, err := tensor.SliceOf[dtype.BF16](y)
		if err != nil {
			return err
		}
		at := 0
		for _, m := range l.runs {
			if err := multiply(s, m, to.Slice(at, at+m.Rows)); err != nil {
				return err
			}
			at += m.Rows
		}
		return nil
	}}.Apply()
}

// stackedBlocks reports whether the matrices are one quantized matrix, and have no biases.
func (l *Stacked) stackedBlocks() bool {
	_, ok := l.all.(quantized)
	return ok && !l.Bias
}

// Gated returns SwiGLU of the results of two layers, of which the first is the gate. The argument has the results side by side in bfloat16, as
// Together returns them.
func (l *Stacked) Gated(both *tensor.Tensor) *tensor.Tensor {
	shape := both.Shape()
	if n := len(shape); n > 0 {
		shape[n-1] = l.Out[0]
	}
	return tensor.Op{Name: "SwiGLU", In: []*tensor.Tensor{both}, DType: dtype.BFloat16, Shape: shape, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		v, err := tensor.SlicesOf[dtype.BF16](both, y)
		if err != nil {
			return err
		}
		size := activation.Shape{Rows: y.Len() / l.Out[0], Columns: l.Out[0]}
		return activation.SwiGLU(s, size, activation.Stacked, activation.Operands[dtype.BF16]{Gate: v[0], Y: v[1]})
	}}.Apply()
}

// fusedSwiGLU is SwiGLU for one row of the residual stream.
func (l *Stacked) fusedSwiGLU(w matvec.Matrix, n *RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	return l.swiGLU(x, func(s *device.Stream, to device.Slice[dtype.BF16]) error {
		from, err := n.of(x)
		if err != nil {
			return err
		}
		return matvec.GateUp(s, w, from, to)
	})
}

// halfSwiGLU is SwiGLU for normalized rows.
func (l *Stacked) halfSwiGLU(b brains, x *tensor.Tensor) *tensor.Tensor {
	return l.swiGLU(x, func(s *device.Stream, to device.Slice[dtype.BF16]) error {
		from, err := tensor.SliceOf[dtype.BF16](x)
		if err != nil {
			return err
		}
		o := gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: from, C: to, Bias: l.bias, Activation: gemm.SwiGLU}
		return b.half(s, o, x.Len()/l.In)
	})
}

// manyGated is SwiGLU for many normalized rows and a quantized matrix.
func (l *Stacked) manyGated(m quantized, x *tensor.Tensor) *tensor.Tensor {
	return l.swiGLU(x, func(s *device.Stream, to device.Slice[dtype.BF16]) error {
		from, err := tensor.SliceOf[dtype.BF16](x)
		if err != nil {
			return err
		}
		rows := x.Len() / m.Columns
		return withScratch(s, quant.GateWorkspace(s.Device(), m.Matrix, rows), func(scratch device.Slice[float32]) error {
			return quant.MultiplyGate(s, m.Matrix, quant.Operands[dtype.BF16, dtype.BF16]{Rows: rows, X: from, Y: to, Workspace: scratch})
		})
	})
}

// swiGLU applies an operation with the result of SwiGLU.
func (l *Stacked) swiGLU(x *tensor.Tensor, launch func(s *device.Stream, to device.Slice[dtype.BF16]) error) *tensor.Tensor {
	shape := x.Shape()
	if n := len(shape); n > 0 {
		shape[n-1] = l.Out[0]
	}
	return tensor.Op{Name: "SwiGLU", In: []*tensor.Tensor{x}, DType: dtype.BFloat16, Shape: shape, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		if x.Dim(-1) != l.In {
			return fmt.Errorf("%w: rows of %v for %d columns", tensor.ErrShape, x.Shape(), l.In)
		}
		to, err := tensor.SliceOf[dtype.BF16](y)
		if err != nil {
			return err
		}
		return launch(s, to)
	}}.Apply()
}
