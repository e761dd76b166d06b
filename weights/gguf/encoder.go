package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/weights"
)

// encoder appends values in the format of the header. It remembers its first error.
type encoder struct {
	b     []byte
	depth int // of arrays around the value being written
	err   error
}

// fail records an error.
func (e *encoder) fail(kind error, format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))
	}
}

func (e *encoder) uint32(n uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, n) }

func (e *encoder) uint64(n uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, n) }

func (e *encoder) string(s string) {
	e.uint64(uint64(len(s)))
	e.b = append(e.b, s...)
}

// name appends the name of a tensor or the key of an entry.
func (e *encoder) name(what, name string) {
	if len(name) > maxName {
		e.fail(weights.ErrFormat, "a %s has %d bytes", what, len(name))
	}
	if !utf8.ValidString(name) {
		e.fail(weights.ErrFormat, "%s %q is not UTF-8", what, name)
	}
	e.string(name)
}

// typed appends the type of a value and the value.
func (e *encoder) typed(v any) {
	t, ok := typeOf(v)
	if !ok {
		e.fail(weights.ErrType, "GGUF has no metadata of type %T", v)
		return
	}
	e.uint32(uint32(t))
	e.value(v)
}

// typeOf returns the type of a value and reports whether there is one.
func typeOf(v any) (valueType, bool) {
	switch v.(type) {
	case uint8:
		return typeUint8, true
	case int8:
		return typeInt8, true
	case uint16:
		return typeUint16, true
	case int16:
		return typeInt16, true
	case uint32:
		return typeUint32, true
	case int32:
		return typeInt32, true
	case float32:
		return typeFloat32, true
	case bool:
		return typeBool, true
	case string:
		return typeString, true
	case uint64:
		return typeUint64, true
	case int64:
		return typeInt64, true
	case float64:
		return typeFloat64, true
	case []uint8, []int8, []uint16, []int16, []uint32, []int32, []float32, []bool, []string, []uint64, []int64, []float64, []any:
		return typeArray, true
	}
	return 0, false
}

// value appends a value without its type.
func (e *encoder) value(v any) {
	switch v := v.(type) {
	case bool, uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32, float64:
		e.number(v)
	case string:
		e.string(v)
	case []uint8:
		array(e, typeUint8, v, e.number)
	case []int8:
		array(e, typeInt8, v, e.number)
	case []uint16:
		array(e, typeUint16, v, e.number)
	case []int16:
		array(e, typeInt16, v, e.number)
	case []uint32:
		array(e, typeUint32, v, e.number)
	case []int32:
		array(e, typeInt32, v, e.number)
	case []float32:
		array(e, typeFloat32, v, e.number)
	case []bool:
		array(e, typeBool, v, e.number)
	case []string:
		array(e, typeString, v, e.value)
	case []uint64:
		array(e, typeUint64, v, e.number)
	case []int64:
		array(e, typeInt64, v, e.number)
	case []float64:
		array(e, typeFloat64, v, e.number)
	case []any:
		e.arrays(v)
	}
}

// number appends a number or a bool.
func (e *encoder) number(v any) {
	switch v := v.(type) {
	case bool:
		e.b = append(e.b, map[bool]byte{true: 1}[v])
	case uint8:
		e.b = append(e.b, v)
	case int8:
		e.b = append(e.b, uint8(v))
	case uint16:
		e.b = binary.LittleEndian.AppendUint16(e.b, v)
	case int16:
		e.b = binary.LittleEndian.AppendUint16(e.b, uint16(v))
	case uint32:
		e.uint32(v)
	case int32:
		e.uint32(uint32(v))
	case float32:
		e.uint32(math.Float32bits(v))
	case uint64:
		e.uint64(v)
	case int64:
		e.uint64(uint64(v))
	case float64:
		e.uint64(math.Float64bits(v))
	}
}

// array appends an array of elements of type t, each by a call of element.
func array[T any](e *encoder, t valueType, values []T, element func(any)) {
	e.uint32(uint32(t))
	e.uint64(uint64(len(values)))
	for _, v := range values {
		element(v)
	}
}

// arrays appends an array of arrays.
func (e *encoder) arrays(v []any) {
	if e.depth++; e.depth >= maxNesting {
		e.fail(weights.ErrFormat, "arrays are nested deeper than %d", maxNesting)
		return
	}
	array(e, typeArray, v, e.nested)
	e.depth--
}

// nested appends an array within an array.
func (e *encoder) nested(v any) {
	if t, ok := typeOf(v); !ok || t != typeArray {
		e.fail(weights.ErrType, "an array of arrays has an element of type %T", v)
		return
	}
	e.value(v)
}
