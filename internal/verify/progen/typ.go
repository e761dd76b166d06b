package progen

import (
	"fmt"
	"strings"
)

// kind is the sort of a type.
type kind int

const (
	signed kind = iota
	unsigned
	float
	boolean
	half
	array
	structure
)

// typ is a type of the language.
type typ struct {
	name   string // as it is written
	kind   kind
	bits   int
	elem   *typ // of an array
	length int
	fields []*typ // of a struct: F0, F1 and so on
}

var (
	typeBool    = &typ{name: "bool", kind: boolean}
	typeInt     = &typ{name: "int", kind: signed, bits: 64}
	typeInt32   = &typ{name: "int32", kind: signed, bits: 32}
	typeInt64   = &typ{name: "int64", kind: signed, bits: 64}
	typeUint32  = &typ{name: "uint32", kind: unsigned, bits: 32}
	typeUint64  = &typ{name: "uint64", kind: unsigned, bits: 64}
	typeUint    = &typ{name: "uint", kind: unsigned, bits: 64}
	typeInt8    = &typ{name: "int8", kind: signed, bits: 8}
	typeInt16   = &typ{name: "int16", kind: signed, bits: 16}
	typeUint8   = &typ{name: "uint8", kind: unsigned, bits: 8}
	typeUint16  = &typ{name: "uint16", kind: unsigned, bits: 16}
	typeFloat32 = &typ{name: "float32", kind: float, bits: 32}
	typeFloat64 = &typ{name: "float64", kind: float, bits: 64}
)

// halves are kept and converted; their bits are not compared, since those of a NaN are left open.
var halves = []*typ{
	{name: "dtype.F16", kind: half, bits: 16}, {name: "dtype.F16", kind: half, bits: 16}, {name: "dtype.BF16", kind: half, bits: 16},
	{name: "dtype.F8E4M3", kind: half, bits: 8}, {name: "dtype.F8E5M2", kind: half, bits: 8},
}

// integers are the integer types, the common ones more than once.
var integers = []*typ{
	typeInt, typeInt, typeInt32, typeInt32, typeInt64, typeUint32, typeUint64, typeUint,
	typeInt8, typeInt16, typeUint8, typeUint16,
}

var floats = []*typ{typeFloat32, typeFloat64}

func (t *typ) scalar() bool  { return t.kind < array }
func (t *typ) integer() bool { return t.kind <= unsigned }
func (t *typ) number() bool  { return t.kind <= float }

func arrayOf(n int, elem *typ) *typ {
	return &typ{name: fmt.Sprintf("[%d]%s", n, elem.name), kind: array, elem: elem, length: n}
}

func isInteger(t *typ) bool { return t.integer() }
func is(want *typ) func(*typ) bool {
	return func(t *typ) bool { return t.name == want.name }
}

// layout returns the scalar types that t is made of.
func (t *typ) layout() string {
	switch t.kind {
	case array:
		return fmt.Sprintf("[%d]%s", t.length, t.elem.layout())
	case structure:
		var fields []string
		for _, f := range t.fields {
			fields = append(fields, f.layout())
		}
		return "{" + strings.Join(fields, " ") + "}"
	}
	return t.name
}

// comparable reports whether == of two values says the same everywhere.
func (t *typ) comparable() bool { return !reaches(t, func(t *typ) bool { return t.kind == half }) }
