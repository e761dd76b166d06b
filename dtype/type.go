package dtype

import "reflect"

// Type is an element type. The zero Type is Invalid.
type Type uint8

// The element types. The constants from Bool through String are named after Go's types; String occurs
// only as the type of a print argument. Float16, BFloat16, Float8E4M3 and Float8E5M2 are the types F16, BF16,
// F8E4M3 and F8E5M2.
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
	Float16
	BFloat16
	Float8E4M3
	Float8E5M2
)

var facts = [...]struct {
	name  string
	ident string // the name of the constant
	size  int
	kind  reflect.Kind // matches types of any name; Invalid if only typ matches
	typ   reflect.Type
}{
	Invalid: {"invalid", "Invalid", 0, reflect.Invalid, nil},
	Bool:    {"bool", "Bool", 1, reflect.Bool, nil},
	Int8:    {"int8", "Int8", 1, reflect.Int8, nil},
	Int16:   {"int16", "Int16", 2, reflect.Int16, nil},
	Int32:   {"int32", "Int32", 4, reflect.Int32, nil},
	Int64:   {"int64", "Int64", 8, reflect.Int64, nil},
	Uint8:   {"uint8", "Uint8", 1, reflect.Uint8, nil},
	Uint16:  {"uint16", "Uint16", 2, reflect.Uint16, nil},
	Uint32:  {"uint32", "Uint32", 4, reflect.Uint32, nil},
	Uint64:  {"uint64", "Uint64", 8, reflect.Uint64, nil},
	Float32: {"float32", "Float32", 4, reflect.Float32, nil},
	Float64: {"float64", "Float64", 8, reflect.Float64, nil},
	String:  {"string", "String", 0, reflect.String, nil},

	Float16:    {"float16", "Float16", 2, reflect.Invalid, reflect.TypeFor[F16]()},
	BFloat16:   {"bfloat16", "BFloat16", 2, reflect.Invalid, reflect.TypeFor[BF16]()},
	Float8E4M3: {"float8e4m3", "Float8E4M3", 1, reflect.Invalid, reflect.TypeFor[F8E4M3]()},
	Float8E5M2: {"float8e5m2", "Float8E5M2", 1, reflect.Invalid, reflect.TypeFor[F8E5M2]()},
}

// String returns the name of the type in Go, or a name in the same style for a type that Go lacks,
// such as "float16".
func (t Type) String() string {
	if int(t) >= len(facts) {
		t = Invalid
	}
	return facts[t].name
}

// Ident returns the name of the type's constant in this package, such as "Float16".
func (t Type) Ident() string {
	if int(t) >= len(facts) {
		t = Invalid
	}
	return facts[t].ident
}

// Size returns the size of an element in bytes, which is 0 for Invalid and String.
func (t Type) Size() int {
	if int(t) >= len(facts) {
		return 0
	}
	return facts[t].size
}

// Parse returns the type whose String method returns name, and reports whether there is one.
func Parse(name string) (Type, bool) {
	for t, f := range facts {
		if t != int(Invalid) && f.name == name {
			return Type(t), true
		}
	}
	return Invalid, false
}

// Of returns the element type of T and reports whether there is one. It returns Int64 for int and
// Uint64 for uint, because the project supports only 64-bit hosts.
func Of[T any]() (Type, bool) {
	typ := reflect.TypeFor[T]()
	for t, f := range facts {
		if f.typ == typ {
			return Type(t), true
		}
	}
	k := typ.Kind()
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
