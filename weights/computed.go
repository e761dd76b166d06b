package weights

import (
	"fmt"
	"io"
	"sync"
)

// NewComputed returns a tensor that a program can write to a file. The tensor calls compute when its data are read from the start, and keeps
// the result until the data have been read to the end. Thus a program can write a file of many such tensors that is larger than memory.
func NewComputed(spec Spec, compute func() ([]byte, error)) (*Tensor, error) {
	size, err := spec.Size()
	if err != nil {
		return nil, err
	}
	return NewTensor(spec, &computed{spec: spec, size: size, compute: compute})
}

// computed is the data of a tensor.
type computed struct {
	spec    Spec
	size    int
	compute func() ([]byte, error)

	mu   sync.Mutex
	data []byte // or nil
}

// ReadAt implements io.ReaderAt.
func (c *computed) ReadAt(p []byte, off int64) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if off >= int64(c.size) {
		return 0, io.EOF
	}
	if c.data == nil {
		data, err := c.compute()
		if err == nil && len(data) != c.size {
			err = fmt.Errorf("%w: tensor %q of shape %v has %d bytes", ErrFormat, c.spec.Name, c.spec.Shape, len(data))
		}
		if err != nil {
			return 0, err
		}
		c.data = data
	}
	if n = copy(p, c.data[off:]); off+int64(n) == int64(c.size) {
		c.data = nil
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
