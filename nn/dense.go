package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/embedding"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// isDense reports whether the elements of a type are numbers that matrices may have.
func isDense(t weights.Type) bool {
	return t == weights.F32 || t == weights.F16 || t == weights.BF16
}

// dense uploads dense matrices with the same number of columns, one after another, as elements of the same type. It returns a nil all
// if that is not possible.
func (l *loader) dense(from []stored) (list []matrix, all matrix, err error) {
	rows, brain, short := 0, 0, l.params.activations == dtype.Float16
	for _, m := range from {
		if !isDense(m.of) {
			return nil, nil, nil
		}
		if rows += m.Rows; m.of == weights.BF16 || l.params.half() {
			brain++
		}
	}
	switch {
	case short:
		return room[dtype.F16]{rows, shorten, func(s quant.Shape, w device.Slice[dtype.F16]) matrix { return halves{s, w} }}.place(l.params, from)
	case brain == len(from):
		return room[dtype.BF16]{rows, narrow, func(s quant.Shape, w device.Slice[dtype.BF16]) matrix { return brains{s, w} }}.place(l.params, from)
	case brain == 0:
		return room[float32]{rows, widen, func(s quant.Shape, w device.Slice[float32]) matrix { return singles{s, w} }}.place(l.params, from)
	}
	return nil, nil, nil
}

// room is how matrices of some rows together become matrices on the device: convert converts their elements, and of returns a matrix.
type room[T any] struct {
	rows    int
	convert func(to []T, m stored)
	of      func(s quant.Shape, w device.Slice[T]) matrix
}

// place uploads matrices, and returns them and the matrix of all rows.
func (r room[T]) place(p *Params, from []stored) (list []matrix, all matrix, err error) {
	whole := quant.Shape{Rows: r.rows, Columns: from[0].Columns}
	w, err := allocate[T](p, whole.Rows*whole.Columns)
	if err != nil {
		return nil, nil, err
	}
	at := 0
	for _, m := range from {
		part := w.Slice(at, at+m.Rows*m.Columns)
		at += m.Rows * m.Columns
		host, ok := any(cast[dtype.BF16](m.data)).([]T)
		switch {
		case p.blank:
			list = append(list, r.of(m.Shape, part))
			continue
		case !ok || m.of != weights.BF16:
			host = make([]T, part.Len())
			r.convert(host, m)
		}
		if err := device.UploadTo(p.stream, part, host); err != nil {
			return nil, nil, err
		}
		list = append(list, r.of(m.Shape, part))
	}
	return list, r.of(whole, w), nil
}

// widen converts the elements of a dense matrix to float32, which is exact.
func widen(to []float32, m stored) {
	switch m.of {
	case weights.F32:
		copy(to, cast[float32](m.data))
	case weights.F16:
		for i, v := range cast[dtype.F16](m.data) {
			to[i] = v.Float32()
		}
	case weights.BF16:
		for i, v := range cast[dtype.BF16](m.data) {
			to[i] = v.Float32()
		}
	}
}

// narrow converts the elements of a dense matrix that are not bfloat16, rounded to nearest.
func narrow(to []dtype.BF16, m stored) {
	switch m.of {
	case weights.F16:
		for i, v := range cast[dtype.F16](m.data) {
			to[i] = dtype.BF16From32(v.Float32())
		}
	case weights.F32:
		for i, v := range cast[float32](m.data) {
			to[i] = dtype.BF16From32(v)
		}
	}
}

// singles is a matrix of float32 elements.
type singles struct {
	quant.Shape
	w device.Slice[float32]
}

func (m singles) size() quant.Shape { return m.Shape }

func (m singles) bytes() int64 { return sizeOf(m.w) }

func (m singles) multiply(s *device.Stream, p product) error {
	v, err := tensor.SlicesOf[float32](p.x, p.y)
	if err != nil {
		return err
	}
	if p.rows(m.Columns) < manyRows {
		return p.plainly(s, m.Shape, func(v vectors) error { return each(s, m.Shape, m.w, v) })
	}
	x := gemm.Operands[float32, float32, float32]{A: v[0], B: m.w, C: v[1], Bias: p.bias, Weights: true}
	if x.Residual, err = residual[float32](p); err != nil {
		return err
	}
	if p.add {
		x.Residual = x.C
	}
	return gemm.Float32(s, gemm.Shape{Layout: gemm.NT, M: p.rows(m.Columns), N: m.Rows, K: m.Columns}, x)
}

func (m singles) gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	shape := embedding.Shape{Tokens: rows.Len(), Vocabulary: m.Rows, Columns: m.Columns}
	return embedding.Gather(s, shape, embedding.Operands[float32, float32]{Table: m.w, Indices: rows, Out: y})
}

// brains is a matrix of bfloat16 elements.
type brains struct {
	quant.Shape
	w device.Slice[dtype.BF16]
}

func (m brains) size() quant.Shape { return m.Shape }

func (m brains) bytes() int64 { return sizeOf(m.w) }

func (m brains) gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	shape := embedding.Shape{Tokens: rows.Len(), Vocabulary: m.Rows, Columns: m.Columns}
	return embedding.Widen(s, shape, embedding.Operands[dtype.BF16, float32]{Table: m.w, Indices: rows, Out: y})
}

func (m brains) multiply(s *device.Stream, p product) error {
	switch {
	case p.x.DType() == dtype.Float32:
		return p.plainly(s, m.Shape, func(v vectors) error { return m.plain(s, v) })
	case p.y.DType() == dtype.Float32:
		return m.to32(s, p)
	}
	v, err := tensor.SlicesOf[dtype.BF16](p.x, p.y)
	if err != nil {
		return err
	}
	to, err := residual[dtype.BF16](p)
	if err != nil {
		return err
	}
	return m.half(s, gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: v[0], C: v[1], Bias: p.bias, Residual: to, Activation: p.activation}, p.rows(m.Columns))
}

// plain multiplies float32 vectors.
func (m brains) plain(s *device.Stream, v vectors) error {
	if v.n < manyRows || s.Device().Info().Kind != "cpu" {
		return each(s, m.Shape, m.w, v)
	}
	shape := gemm.Shape{Layout: gemm.NT, M: v.n, N: m.Rows, K: m.Columns}
	return gemm.Weights(s, shape, gemm.Operands[float32, dtype.BF16, float32]{A: v.x, B: m.w, C: v.y, Weights: true})
}

// manyRows is the number of vectors from which on CPUs multiply them together: package gemm packs the matrix each time.
const manyRows = 32

// vectors are n vectors and their products.
type vectors struct {
	n    int
	x, y device.Slice[float32]
}

// each multiplies one vector after the other.
func each[T float32 | dtype.BF16](s *device.Stream, size quant.Shape, w device.Slice[T], v vectors) error {
	shape := matvec.Shape{Rows: size.Rows, Columns: size.Columns}
	for i := range v.n {
		x, y := v.x.Slice(i*size.Columns, (i+1)*size.Columns), v.y.Slice(i*size.Rows, (i+1)*size.Rows)
		if err := matvec.Multiply(s, shape, matvec.Operands[T]{W: w, X: x, Y: y}); err != nil {
			return err
		}
	}
	return nil
}

// half multiplies n bfloat16 vectors, with results rounded to bfloat16.
func (m brains) half(s *device.Stream, x gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16], n int) error {
	shape := gemm.Shape{Layout: gemm.NT, M: n, N: m.Rows, K: m.Columns}
	x.B, x.Weights = m.w, true
	return withScratch(s, gemm.Workspace(s.Device(), shape, x.Activation), func(scratch device.Slice[float32]) error {
		x.Workspace = scratch
		return gemm.Half(s, shape, x)
	})
}

// to32 multiplies bfloat16 vectors, with float32 results.
func (m brains) to32(s *device.Stream, p product) error {
	from, err := tensor.SliceOf[dtype.BF16](p.x)
	if err != nil {
		return err
	}
	to, err := tensor.SliceOf[float32](p.y)
	if err != nil {
		return err
	}
	n := p.rows(m.Columns)
	if form := m.form(s); n == 1 && p.add && form.Threads > 0 {
		return matvec.Accumulate(s, m.vector(form), from, to)
	}
	x := gemm.Operands[dtype.BF16, dtype.BF16, float32]{A: from, B: m.w, C: to, Bias: p.bias, Weights: true}
	if p.add {
		x.Residual = to
	}
	shape := gemm.Shape{Layout: gemm.NT, M: n, N: m.Rows, K: m.Columns}
	return withScratch(s, gemm.Workspace(s.Device(), shape, gemm.None), func(scratch device.Slice[float32]) error {
		x.Workspace = scratch
		return gemm.HalfTo32(s, shape, x)
	})
}
