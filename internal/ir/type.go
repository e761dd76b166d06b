package ir

import (
	"fmt"
	"strings"
)

// Kind is the kind of a type.
type Kind uint8

// The kinds. Void is the type of operations without a result.
const (
	KindVoid Kind = iota
	KindI1
	KindI8
	KindI16
	KindI32
	KindI64
	KindF32
	KindF64
	KindPtr
	KindStruct
	KindArray
)

// Space is the address space that a pointer points into.
type Space uint8

// The address spaces. A Generic pointer may point into any of them.
const (
	Generic Space = iota
	Global
	Shared
	Local
	Constant
)

var spaceNames = [...]string{Generic: "generic", Global: "global", Shared: "shared", Local: "local", Constant: "const"}

// String returns the space's name in the text form.
func (s Space) String() string { return spaceNames[s] }

// Type is the type of a value. Scalar types are the variables below; compare types with
// Equal, never by address.
type Type struct {
	Kind   Kind
	Space  Space   // of a pointer
	Fields []*Type // of a struct
	Elem   *Type   // of an array
	Len    int64   // of an array
}

// The scalar types, and Slice, the form of a Go slice: address, length, capacity.
var (
	Void  = &Type{Kind: KindVoid}
	I1    = &Type{Kind: KindI1}
	I8    = &Type{Kind: KindI8}
	I16   = &Type{Kind: KindI16}
	I32   = &Type{Kind: KindI32}
	I64   = &Type{Kind: KindI64}
	F32   = &Type{Kind: KindF32}
	F64   = &Type{Kind: KindF64}
	Ptr   = &Type{Kind: KindPtr}
	Slice = StructOf(Ptr, I64, I64)
)

// PtrTo returns the type of pointers into space.
func PtrTo(space Space) *Type { return &Type{Kind: KindPtr, Space: space} }

// StructOf returns a struct type, laid out as Go lays it out on 64-bit machines.
func StructOf(fields ...*Type) *Type { return &Type{Kind: KindStruct, Fields: fields} }

// ArrayOf returns an array type.
func ArrayOf(n int64, elem *Type) *Type { return &Type{Kind: KindArray, Len: n, Elem: elem} }

// IsInt reports whether t is an integer type; I1 is one.
func (t *Type) IsInt() bool { return t.Kind >= KindI1 && t.Kind <= KindI64 }

// IsFloat reports whether t is a floating-point type.
func (t *Type) IsFloat() bool { return t.Kind == KindF32 || t.Kind == KindF64 }

// IsPtr reports whether t is a pointer type.
func (t *Type) IsPtr() bool { return t.Kind == KindPtr }

// IsScalar reports whether t is an integer, float or pointer type.
func (t *Type) IsScalar() bool { return t.Kind >= KindI1 && t.Kind <= KindPtr }

// Bits returns the width of a scalar: 1 for I1, 64 for pointers.
func (t *Type) Bits() int {
	switch t.Kind {
	case KindI1:
		return 1
	case KindI8:
		return 8
	case KindI16:
		return 16
	case KindI32, KindF32:
		return 32
	case KindI64, KindF64, KindPtr:
		return 64
	}
	panic(fmt.Sprintf("BUG: ir: no width for %v", t))
}

// Equal reports whether t and u are the same type.
func (t *Type) Equal(u *Type) bool {
	if t == u {
		return true
	}
	if t.Kind != u.Kind || t.Space != u.Space || t.Len != u.Len || len(t.Fields) != len(u.Fields) {
		return false
	}
	for i, f := range t.Fields {
		if !f.Equal(u.Fields[i]) {
			return false
		}
	}
	return t.Elem == nil || t.Elem.Equal(u.Elem)
}

// NumParts returns the number of fields or elements of a struct or array; 0 for others.
func (t *Type) NumParts() int {
	if t.Kind == KindArray {
		return int(t.Len)
	}
	return len(t.Fields)
}

// Part returns the type of field or element i.
func (t *Type) Part(i int) *Type {
	if t.Kind == KindArray {
		return t.Elem
	}
	return t.Fields[i]
}

// PartOffset returns the offset in bytes of field or element i.
func (t *Type) PartOffset(i int) int64 {
	if t.Kind == KindArray {
		return int64(i) * t.Elem.Size()
	}
	var off int64
	for j, f := range t.Fields {
		off = alignUp(off, f.Align())
		if j == i {
			return off
		}
		off += f.Size()
	}
	panic(fmt.Sprintf("BUG: ir: %v has no field %d", t, i))
}

// Size returns the size in bytes in memory, padding at the end included. A trailing field
// of size zero takes up space, as in Go.
func (t *Type) Size() int64 {
	switch t.Kind {
	case KindVoid:
		return 0
	case KindI1:
		return 1
	case KindArray:
		return t.Len * t.Elem.Size()
	case KindStruct:
		n := len(t.Fields)
		if n == 0 {
			return 0
		}
		last := t.Fields[n-1].Size()
		end := t.PartOffset(n-1) + last
		if last == 0 && end > 0 {
			end++
		}
		return alignUp(end, t.Align())
	}
	return int64(t.Bits() / 8)
}

// Align returns the alignment in bytes.
func (t *Type) Align() int64 {
	switch t.Kind {
	case KindArray:
		return t.Elem.Align()
	case KindStruct:
		a := int64(1)
		for _, f := range t.Fields {
			a = max(a, f.Align())
		}
		return a
	}
	return max(1, t.Size())
}

func alignUp(n, a int64) int64 { return (n + a - 1) / a * a }

var scalarNames = [...]string{KindVoid: "void", KindI1: "i1", KindI8: "i8", KindI16: "i16", KindI32: "i32", KindI64: "i64", KindF32: "f32", KindF64: "f64"}

// String returns the type in the text form: "i32", "ptr.global", "{ptr, i64}", "[4]f32".
func (t *Type) String() string {
	switch t.Kind {
	case KindPtr:
		if t.Space == Generic {
			return "ptr"
		}
		return "ptr." + t.Space.String()
	case KindStruct:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = f.String()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case KindArray:
		return fmt.Sprintf("[%d]%v", t.Len, t.Elem)
	}
	return scalarNames[t.Kind]
}
