package array

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Class is the arithmetic for a type of elements.
type Class int

// The classes.
const (
	None    Class = iota // no arithmetic
	Integer              // in int64
	Single               // in float32
	Double               // in float64
)

// ClassOf returns the class of a type.
func ClassOf(t dtype.Type) Class {
	switch t {
	case dtype.Bool, dtype.Uint8, dtype.Int32, dtype.Int64:
		return Integer
	case dtype.Float32, dtype.Float16, dtype.BFloat16:
		return Single
	case dtype.Float64:
		return Double
	}
	return None
}

// supported returns an error if there is no arithmetic for a type.
func supported(list ...dtype.Type) error {
	for _, t := range list {
		if ClassOf(t) == None {
			return fmt.Errorf("%w: %v", ErrType, t)
		}
	}
	return nil
}
