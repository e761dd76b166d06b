package weights

import (
	"fmt"
	"math"
	"reflect"
)

// Entry is a metadata entry. In a safetensors file, the value is a string. In a GGUF file, it is an integer of a fixed size, a float32, a
// float64, a bool, a string, a slice of one of these, or, for an array of arrays, an []any of such slices.
type Entry struct {
	Key   string
	Value any
}

// Metadata is a list of entries with unique keys, in the order of the file.
type Metadata []Entry

// Value returns the value of a key and reports whether there is one.
func (m Metadata) Value(key string) (any, bool) {
	for _, e := range m {
		if e.Key == key {
			return e.Value, true
		}
	}
	return nil, false
}

// Get returns the value of a key as a T. T must be the exact type of the value; otherwise the error matches ErrType. If there is no such
// key, the error matches ErrNotFound.
func Get[T any](m Metadata, key string) (T, error) {
	var zero T
	v, ok := m.Value(key)
	if !ok {
		return zero, fmt.Errorf("%w: metadata key %q", ErrNotFound, key)
	}
	t, ok := v.(T)
	if !ok {
		return zero, fmt.Errorf("%w: metadata key %q is of type %T, not %v", ErrType, key, v, reflect.TypeFor[T]())
	}
	return t, nil
}

// Int returns the value of a key of any integer type. If there is no such key, the error matches ErrNotFound. If the value is not an
// integer, or does not fit in an int, the error matches ErrType.
func (m Metadata) Int(key string) (int, error) {
	v, ok := m.Value(key)
	if !ok {
		return 0, fmt.Errorf("%w: metadata key %q", ErrNotFound, key)
	}
	r := reflect.ValueOf(v)
	switch {
	case r.IsValid() && r.CanInt() && int64(int(r.Int())) == r.Int():
		return int(r.Int()), nil
	case r.IsValid() && r.CanUint() && r.Uint() <= math.MaxInt:
		return int(r.Uint()), nil
	}
	return 0, fmt.Errorf("%w: metadata key %q is %v of type %T, not an int", ErrType, key, v, v)
}
