package weights

import "fmt"

// Spec describes a tensor.
type Spec struct {
	Name string
	Type Type
	// Shape is the number of elements along each dimension, outermost dimension first, as in PyTorch and NumPy. GGUF files store the
	// opposite order. The shape of a scalar is empty.
	Shape []int
}

// Len returns the number of elements. The errors of Len and Size match ErrFormat.
func (s Spec) Len() (int, error) {
	n := 1
	empty := false
	for _, d := range s.Shape {
		if d < 0 {
			return 0, fmt.Errorf("%w: tensor %q has the shape %v", ErrFormat, s.Name, s.Shape)
		}
		if d == 0 {
			empty = true
			continue
		}
		var ok bool
		if n, ok = product(n, d); !ok {
			return 0, fmt.Errorf("%w: the number of elements of tensor %q, of shape %v, overflows", ErrFormat, s.Name, s.Shape)
		}
	}
	if empty {
		return 0, nil
	}
	return n, nil
}

// Size returns the size in bytes.
func (s Spec) Size() (int, error) {
	n, err := s.Len()
	if err != nil {
		return 0, err
	}
	size, err := s.Type.Size(n)
	if err != nil {
		return 0, fmt.Errorf("tensor %q of shape %v: %w", s.Name, s.Shape, err)
	}
	return size, nil
}
