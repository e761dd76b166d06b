package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/embedding"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// formatOf returns the format of blocks that matrices of a type have, and reports whether there is one.
func formatOf(t weights.Type) (quant.Format, bool) {
	switch t {
	case weights.Q4_0:
		return quant.Q4_0, true
	case weights.Q4_1:
		return quant.Q4_1, true
	case weights.Q5_0:
		return quant.Q5_0, true
	case weights.Q5_1:
		return quant.Q5_1, true
	case weights.Q8_0:
		return quant.Q8_0, true
	case weights.Q2_K:
		return quant.Q2_K, true
	case weights.Q3_K:
		return quant.Q3_K, true
	case weights.Q4_K:
		return quant.Q4_K, true
	case weights.Q5_K:
		return quant.Q5_K, true
	case weights.Q6_K:
		return quant.Q6_K, true
	}
	return 0, false
}

// quantized is a matrix of blocks.
type quantized struct {
	quant.Matrix
	moderate bool // see quant.Packed
}

func (m quantized) size() quant.Shape { return m.Shape }

func (m quantized) bytes() int64 {
	return sizeOf(m.Planes) + sizeOf(m.Scales) + sizeOf(m.Minima) + sizeOf(m.Groups)
}

func (m quantized) gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	return quant.Gather(s, m.Matrix, rows, y)
}

func (m quantized) multiply(s *device.Stream, p product) error {
	switch {
	case p.x.DType() == dtype.Float16:
		return m.multiplyFine(s, p)
	case p.x.DType() == dtype.Float32:
		return p.plainly(s, m.Shape, func(v vectors) error {
			return runQuantized(s, m, quant.Operands[float32, float32]{Rows: v.n, X: v.x, Y: v.y})
		})
	case p.to != nil:
		return fmt.Errorf("%w: a sum of %v and products of a quantized matrix", ErrFormat, p.to.DType())
	case p.y.DType() == dtype.Float32:
		return multiplyQuantized(s, m, p, p.bias)
	}
	return multiplyQuantized(s, m, p, p.half)
}

// fine reports whether products with the normalized rows of x should be those of float16 numbers, which are more exact than bfloat16: it
// takes no longer, and no number is beyond their range.
func (m quantized) fine(n *RMSNorm, x *tensor.Tensor) bool {
	return m.moderate && n.out == dtype.BFloat16 && n.moderate && quant.Fine(x.Scope().Stream().Device(), m.Matrix, x.Len()/m.Columns)
}

// multiplyFine multiplies float16 vectors. The products are float32.
func (m quantized) multiplyFine(s *device.Stream, p product) error {
	x, err := tensor.SliceOf[dtype.F16](p.x)
	if err != nil {
		return err
	}
	y, err := tensor.SliceOf[float32](p.y)
	if err != nil {
		return err
	}
	n := p.rows(m.Columns)
	return withScratch(s, quant.FineWorkspace(s.Device(), m.Matrix, n), func(scratch device.Slice[float32]) error {
		return quant.MultiplyFine(s, m.Matrix, quant.FineOperands{Rows: n, X: x, Y: y, Workspace: scratch})
	})
}

// runQuantized multiplies with scratch memory.
func runQuantized[X, Y quant.Element](s *device.Stream, m quantized, x quant.Operands[X, Y]) error {
	return withScratch(s, quant.Workspace[X, Y](s.Device(), m.Matrix, x.Rows), func(scratch device.Slice[float32]) error {
		x.Workspace = scratch
		return quant.Multiply(s, m.Matrix, x)
	})
}

// multiplyQuantized multiplies bfloat16 vectors. A bias is what the products are added to.
func multiplyQuantized[Y interface {
	quant.Element
	row.Number
}](s *device.Stream, m quantized, p product, bias device.Slice[Y]) error {
	x, err := tensor.SliceOf[dtype.BF16](p.x)
	if err != nil {
		return err
	}
	y, err := tensor.SliceOf[Y](p.y)
	if err != nil {
		return err
	}
	n := p.rows(m.Columns)
	to := quant.Operands[dtype.BF16, Y]{Rows: n, X: x, Y: y, Add: p.add}
	if bias.Len() == 0 {
		return runQuantized(s, m, to)
	}
	if y, ok := any(y).(device.Slice[float32]); ok && p.add {
		for i := range n {
			if err := add(s, p.bias, y.Slice(i*m.Rows, (i+1)*m.Rows)); err != nil {
				return err
			}
		}
		return runQuantized(s, m, to)
	}
	zeros, err := device.Make[int32](s, n)
	if err != nil {
		return err
	}
	defer zeros.Close()
	shape := embedding.Shape{Tokens: n, Vocabulary: 1, Columns: m.Rows}
	if err := embedding.Gather(s, shape, embedding.Operands[Y, Y]{Table: bias, Indices: zeros.All(), Out: y}); err != nil {
		return err
	}
	to.Add = true
	return runQuantized(s, m, to)
}

// packing is what the size of a packed matrix depends on.
type packing struct {
	quant.Format
	quant.Shape
}

// pack packs a matrix. If the parameters are blank, it packs one matrix of each size.
func (l *loader) pack(f quant.Format, m stored) (*quant.Packed, error) {
	at := packing{f, m.Shape}
	if p := l.packed[at]; p != nil {
		return p, nil
	}
	p, err := quant.PackGuarded(f, m.data, m.Shape, l.file.Guard)
	if err == nil && l.params.blank {
		l.packed[at] = p
	}
	return p, err
}

// stack uploads matrices in one format as parts of one matrix. The rows of all but the last are whole tiles.
func (l *loader) stack(f quant.Format, from []stored) (list []matrix, all matrix, err error) {
	var packed []*quant.Packed
	moderate := true
	whole := quant.Matrix{Shape: quant.Shape{Columns: from[0].Columns}, Format: f}
	for _, m := range from {
		p, err := l.pack(f, m)
		if err != nil {
			return nil, nil, err
		}
		packed, whole.Rows, moderate = append(packed, p), whole.Rows+m.Rows, moderate && p.Moderate
	}
	parts := make([]quant.Matrix, len(packed))
	if whole.Planes, err = together(l.params, packed, func(i int) ([]uint32, *device.Slice[uint32]) { return packed[i].Planes, &parts[i].Planes }); err != nil {
		return nil, nil, err
	}
	if whole.Scales, err = together(l.params, packed, func(i int) ([]dtype.F16, *device.Slice[dtype.F16]) { return packed[i].Scales, &parts[i].Scales }); err != nil {
		return nil, nil, err
	}
	if whole.Minima, err = together(l.params, packed, func(i int) ([]dtype.F16, *device.Slice[dtype.F16]) { return packed[i].Minima, &parts[i].Minima }); err != nil {
		return nil, nil, err
	}
	whole.Groups, err = together(l.params, packed, func(i int) ([]uint16, *device.Slice[uint16]) { return packed[i].Groups, &parts[i].Groups })
	for i, p := range packed {
		parts[i].Shape, parts[i].Format = p.Shape, f
		list = append(list, quantized{parts[i], p.Moderate})
	}
	return list, quantized{whole, moderate}, err
}

// together uploads arrays of matrices, one after another. Of returns that of a matrix, and where its copy goes.
func together[T any](p *Params, list []*quant.Packed, of func(i int) ([]T, *device.Slice[T])) (device.Slice[T], error) {
	n := 0
	for i := range list {
		host, _ := of(i)
		n += len(host)
	}
	if n == 0 {
		return device.Slice[T]{}, nil
	}
	all, err := allocate[T](p, n)
	if err != nil {
		return all, err
	}
	n = 0
	for i := range list {
		host, to := of(i)
		*to = all.Slice(n, n+len(host))
		n += len(host)
		if err := device.UploadTo(p.stream, *to, host); err != nil {
			return all, err
		}
	}
	return all, nil
}

// stackable returns how many of the first matrices can be parts of one quantized matrix; 1 if they cannot.
func stackable(from []stored) int {
	n := 1
	for _, quantized := formatOf(from[0].of); quantized && n < len(from) && from[n].of == from[0].of && from[n-1].WholeTiles(); {
		n++
	}
	return n
}
