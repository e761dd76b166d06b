package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// A Tensor is an array of numbers in a device's memory.
type Tensor struct {
	scope   *Scope // nil for tensors of Wrap
	frame   *frame // that frees it, or nil
	memory  *memory
	dtype   dtype.Type
	shape   []int
	strides []int // in elements, one for each dimension
	offset  int   // of the first element, in elements
	node    *node // of the tape, or nil for a constant
	version int   // of the memory, if the tape holds the tensor for a derivative
	err     error // the first mistake, if the tensor is void
}

// Scope returns the Scope that owns t, or nil for a tensor made by Wrap and a nil tensor.
func (t *Tensor) Scope() *Scope {
	if t == nil {
		return nil
	}
	return t.scope
}

// DType returns the element type, or dtype.Invalid for a void or nil tensor.
func (t *Tensor) DType() dtype.Type {
	if t == nil {
		return dtype.Invalid
	}
	return t.dtype
}

// Shape returns the size of each dimension. For a scalar, it is empty.
func (t *Tensor) Shape() []int {
	if t == nil {
		return nil
	}
	return slices.Clone(t.shape)
}

// Dims returns the number of dimensions.
func (t *Tensor) Dims() int {
	if t == nil {
		return 0
	}
	return len(t.shape)
}

// Dim returns the size of dimension i. A negative i counts from the end: -1 is the last dimension. The size is 0 if there is no
// such dimension.
func (t *Tensor) Dim(i int) int {
	if i < 0 {
		i += t.Dims()
	}
	if t == nil || i < 0 || i >= len(t.shape) {
		return 0
	}
	return t.shape[i]
}

// Len returns the number of elements: 0 for a void or nil tensor.
func (t *Tensor) Len() int {
	if t == nil || t.err != nil {
		return 0
	}
	n, _ := product(t.shape)
	return n
}

// Err returns the mistake that made t void, or nil. For a nil tensor, the mistake is ErrValue.
func (t *Tensor) Err() error {
	if t == nil {
		return mistake("Err", errNil)
	}
	return t.err
}

// String returns the element type and the shape, such as "float32 [1000 3]".
func (t *Tensor) String() string {
	if t == nil {
		return "nil"
	}
	if t.err != nil {
		return "void: " + t.err.Error()
	}
	return fmt.Sprintf("%v %v", t.dtype, t.shape)
}

// IsContiguous reports whether the elements are consecutive in memory, in row-major order.
func (t *Tensor) IsContiguous() bool {
	if t == nil {
		return true
	}
	next := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 && t.strides[i] != next {
			return t.Len() == 0
		}
		next *= t.shape[i]
	}
	return true
}

// usualDims is the number of dimensions for which a tensor needs a single allocation.
const usualDims = 4

// room is where operations make the sizes or strides of an intermediate result without an allocation. Tensors and errors have copies.
type room [2 * usualDims]int

// sizes is room for the sizes and strides of a tensor.
type sizes struct{ shape, strides [usualDims]int }

// use gives t room for n dimensions, here if possible.
func (r *sizes) use(t *Tensor, n int) {
	if n > usualDims {
		t.shape, t.strides = make([]int, n), make([]int, n)
		return
	}
	t.shape, t.strides = r.shape[:n:n], r.strides[:n:n]
}

// sized returns a tensor with room for the sizes and strides of n dimensions.
func sized(n int) *Tensor {
	t := &struct {
		Tensor
		sizes sizes
	}{}
	t.sizes.use(&t.Tensor, n)
	return &t.Tensor
}

// arranged returns a contiguous tensor with memory of its own.
func arranged(shape []int, of dtype.Type, m memory) *Tensor {
	t := &struct {
		Tensor
		sizes sizes
		own   memory
	}{own: m}
	t.sizes.use(&t.Tensor, len(shape))
	t.memory, t.dtype = &t.own, of
	copy(t.shape, shape)
	fillRowMajor(t.strides, shape)
	return &t.Tensor
}

// rowMajor returns the strides of consecutive elements.
func rowMajor(shape []int) []int {
	strides := make([]int, len(shape))
	fillRowMajor(strides, shape)
	return strides
}

// fillRowMajor stores the strides of consecutive elements.
func fillRowMajor(strides, shape []int) {
	next := 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = next
		next *= max(shape[i], 1)
	}
}

// product returns the number of elements of a shape. The error is that of a negative size, or of more elements than an int counts.
func product(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("%w: a dimension of %d in %v", ErrShape, d, slices.Clone(shape)) // a copy, so that shape does not escape
		}
		if d > 0 && n > math.MaxInt/16/d {
			return 0, fmt.Errorf("%w: too many elements in %v", ErrShape, slices.Clone(shape))
		}
		n *= d
	}
	return n, nil
}
