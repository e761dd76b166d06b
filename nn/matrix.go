package nn

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// matrix is a matrix on a device.
type matrix interface {
	size() quant.Shape
	bytes() int64 // on the device
	// multiply enqueues a product.
	multiply(s *device.Stream, p product) error
	// gather stores the rows with the given numbers in y. A number outside the matrix yields zeros.
	gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error
	// back returns the products of the rows of g, of activations, and the matrix, which are the derivative with respect to X of a
	// product, given that with respect to Y.
	back(g *tensor.Tensor) *tensor.Tensor
}

// product is the operands of a product of a matrix W: Y = X W^T + bias, or Y += X W^T + bias if add is set. Rows of X and Y are
// vectors. The elements of X are those of activations; the elements of Y are the same, or float32.
type product struct {
	x, y *tensor.Tensor
	bias device.Slice[float32]    // empty for none
	half device.Slice[dtype.BF16] // the bias, if activations are bfloat16
	add  bool
	to   *tensor.Tensor // of the shape of Y and the elements of X, or nil: what is added to the result
	// activation is that of a product whose X and Y have half precision.
	activation gemm.Activation
}

// rows returns the number of rows of X.
func (p product) rows(columns int) int { return p.x.Len() / columns }

// stored is a matrix as it is in a file.
type stored struct {
	of   weights.Type
	data []byte
	quant.Shape
}

// read reads matrix number i of those that are loaded together, of rows of the given number of columns.
func (l *loader) read(i int, name string, rows, columns int) (stored, error) {
	t, err := l.tensor(name)
	if err != nil {
		return stored{}, err
	}
	if s := t.Shape(); len(s) != 2 || s[0] != rows || s[1] != columns {
		return stored{}, fmt.Errorf("%w: %s is %v, want [%d %d]", ErrShape, name, s, rows, columns)
	}
	if _, ok := formatOf(t.Type()); !isDense(t.Type()) && !ok {
		return stored{}, fmt.Errorf("%w: %s is of type %v", ErrFormat, name, t.Type())
	}
	if n, _ := t.Type().Block(); columns%n != 0 {
		return stored{}, fmt.Errorf("%w: %s has rows of %d elements, but blocks of type %v have %d", ErrShape, name, columns, t.Type(), n)
	}
	data, err := l.rows(i, t, rows)
	return stored{t.Type(), data, quant.Shape{Rows: rows, Columns: columns}}, err
}

// matrices loads matrices with the same number of columns. The rows of neighbours that are quantized in the same format follow each other
// in memory, as do those of all if they are dense and have elements of the same type on the device; runs are the matrices of such rows.
func (l *loader) matrices(names []string, rows []int, columns int) (list, runs []matrix, err error) {
	var from []stored
	for i, name := range names {
		m, err := l.read(i, name, rows[i], columns)
		if err != nil {
			return nil, nil, err
		}
		from = append(from, m)
	}
	list, all, err := l.dense(from)
	if all != nil || err != nil {
		return list, []matrix{all}, err
	}
	for len(from) > 0 {
		n := stackable(from)
		parts, run, err := l.place(from[:n])
		if err != nil {
			return nil, nil, err
		}
		list, runs, from = append(list, parts...), append(runs, run), from[n:]
	}
	return list, runs, nil
}

// matrix loads a matrix of rows of the given number of columns.
func (l *loader) matrix(name string, rows, columns int) (matrix, error) {
	list, _, err := l.matrices([]string{name}, []int{rows}, columns)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// place uploads one matrix, or quantized ones that are stackable.
func (l *loader) place(from []stored) (list []matrix, all matrix, err error) {
	if f, ok := formatOf(from[0].of); ok {
		return l.stack(f, from)
	}
	return l.dense(from)
}

// rows reads the rows of matrix number i of those that are loaded together, in the order that LoadOptions.Order says. The result is
// valid until the next call for that i. It may be the memory of a mapped file.
func (l *loader) rows(i int, t *weights.Tensor, rows int) ([]byte, error) {
	if l.params.blank && isDense(t.Type()) {
		return nil, nil
	}
	data, err := l.data(i, t)
	if err != nil {
		return nil, err
	}
	order := l.order(t.Name())
	if order == nil || l.params.blank {
		return data, nil
	}
	ordered, size := make([]byte, len(data)), len(data)/max(rows, 1)
	for i := range rows {
		copy(ordered[i*size:(i+1)*size], data[order(i)*size:])
	}
	return ordered, nil
}

// data returns the data of matrix number i of those that are loaded together: the memory of a mapped file, or else a copy. A GPU needs a
// copy, because nothing guards what its driver reads.
func (l *loader) data(i int, t *weights.Tensor) ([]byte, error) {
	if t.Mapped() && l.params.stream.Device().Info().Kind == "cpu" && !l.params.blank {
		data, err := t.Bytes()
		if err != nil || uintptr(unsafe.Pointer(unsafe.SliceData(data)))%unsafe.Alignof(uint64(0)) == 0 {
			return data, err
		}
	}
	for len(l.memory) <= i {
		l.memory = append(l.memory, nil)
	}
	if cap(l.memory[i]) < t.Size() {
		l.memory[i] = make([]byte, t.Size())
	}
	data := l.memory[i][:t.Size()]
	if l.params.blank {
		return data, nil
	}
	return data, readAll(t, data)
}

const (
	readers  = 8       // goroutines that read a tensor: one alone does not reach the speed of memory
	leastRun = 4 << 20 // bytes that are worth a goroutine
)

// readAll reads all bytes of a tensor.
func readAll(t *weights.Tensor, data []byte) error {
	n := min(readers, 1+len(data)/leastRun)
	size := (len(data) + n - 1) / n
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		from, to := min(i*size, len(data)), min((i+1)*size, len(data))
		all.Go(func() { _, errs[i] = t.ReadAt(data[from:to], int64(from)) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// order returns the row of the file that becomes row i of a tensor, or nil if rows keep their order.
func (l *loader) order(name string) func(i int) int {
	if l.options.Order == nil {
		return nil
	}
	return l.options.Order(name)
}

// cast returns the memory of data as elements of T, which has no pointers. Lifetimes: the result keeps data alive. Memory of make is
// aligned for any T.
func cast[T any](data []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(zero)))
}

// withScratch calls f with memory for n numbers, which is free after what f enqueues.
func withScratch(s *device.Stream, n int, f func(scratch device.Slice[float32]) error) error {
	if n == 0 {
		return f(device.Slice[float32]{})
	}
	b, err := device.MakeDirty[float32](s, n)
	if err != nil {
		return err
	}
	err = f(b.All())
	if e := b.Close(); err == nil {
		err = e
	}
	return err
}

// plainly computes a product of float32 operands: f stores the products of vectors.
func (p product) plainly(s *device.Stream, size quant.Shape, f func(v vectors) error) error {
	v, err := tensor.SlicesOf[float32](p.x, p.y)
	if err != nil {
		return err
	}
	x, y, n := v[0], v[1], p.rows(size.Columns)
	biased := func(y device.Slice[float32]) error {
		if err := f(vectors{n, x, y}); err != nil || p.bias.Len() == 0 {
			return err
		}
		for i := range n {
			if err := add(s, p.bias, y.Slice(i*size.Rows, (i+1)*size.Rows)); err != nil {
				return err
			}
		}
		return nil
	}
	to, err := residual[float32](p)
	if err != nil {
		return err
	}
	if !p.add {
		if err := biased(y); err != nil || to.Len() == 0 {
			return err
		}
		return add(s, to, y)
	}
	return withScratch(s, y.Len(), func(sums device.Slice[float32]) error {
		if err := biased(sums); err != nil {
			return err
		}
		return add(s, sums, y)
	})
}

// add adds x to y.
func add(s *device.Stream, x, y device.Slice[float32]) error {
	return matvec.AddPlain(s, device.Cover(y.Len(), 256), x, y)
}

// vector returns the values of a tensor of n float32 or half-precision elements, in the order that LoadOptions.Order says.
func (l *loader) vector(name string, n int) ([]float32, error) {
	t, err := l.tensor(name)
	if err != nil {
		return nil, err
	}
	if s := t.Shape(); len(s) != 1 || s[0] != n {
		return nil, fmt.Errorf("%w: %s is %v, want [%d]", ErrShape, name, s, n)
	}
	data, err := l.rows(0, t, n)
	if err != nil {
		return nil, err
	}
	values := make([]float32, n)
	if isDense(t.Type()) {
		widen(values, stored{of: t.Type(), data: data})
		return values, nil
	}
	if err := gguf.Dequantize(t.Type(), values, data); err != nil {
		return nil, fmt.Errorf("%w: %s is of type %v", ErrFormat, name, t.Type())
	}
	return values, nil
}
