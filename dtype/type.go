package dtype

import "reflect"

// Type is an element type. The zero Type is Invalid.
type Type uint8

// The element types, named as in Go. String is a type of print arguments only.
const (
	Invalid Type = iota
	Bool
	Int8
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	String
)

var facts = [...]struct {
	name string
	size int
	kind reflect.Kind
}{
	Invalid: {"invalid", 0, reflect.Invalid},
	Bool:    {"bool", 1, reflect.Bool},
	Int8:    {"int8", 1, reflect.Int8},
	Int16:   {"int16", 2, reflect.Int16},
	Int32:   {"int32", 4, reflect.Int32},
	Int64:   {"int64", 8, reflect.Int64},
	Uint8:   {"uint8", 1, reflect.Uint8},
	Uint16:  {"uint16", 2, reflect.Uint16},
	Uint32:  {"uint32", 4, reflect.Uint32},
	Uint64:  {"uint64", 8, reflect.Uint64},
	Float32: {"float32", 4, reflect.Float32},
	Float64: {"float64", 8, reflect.Float64},
	String:  {"string", 0, reflect.String},
}

// String returns the type's Go name.
func (t Type) String() string {
	if int(t) >= len(facts) {
		t = Invalid
	}
	return facts[t].name
}

// Size returns the size of one element in bytes; 0 for Invalid and String.
func (t Type) Size() int {
	if int(t) >= len(facts) {
		return 0
	}
	return facts[t].size
}

// Parse returns the type with the given Go name.
func Parse(name string) (Type, bool) {
	for t, f := range facts {
		if t != int(Invalid) && f.name == name {
			return Type(t), true
		}
	}
	return Invalid, false
}

// Of returns the element type of T. An int is an Int64 and a uint a Uint64: the
// project supports 64-bit hosts only. It reports false for every other type.
func Of[T any]() (Type, bool) {
	k := reflect.TypeFor[T]().Kind()
	switch k {
	case reflect.Int:
		return Int64, true
	case reflect.Uint, reflect.Uintptr:
		return Uint64, true
	}
	for t, f := range facts {
		if t != int(Invalid) && f.kind == k {
			return Type(t), true
		}
	}
	return Invalid, false
}
