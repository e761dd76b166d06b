package ir

// Format is the element format of matrices that tensor cores multiply.
type Format int64

// The formats. MMA takes those of 16 bits.
const (
	FormatF16 Format = iota
	FormatBF16
	FormatTF32
	FormatE4M3
	FormatE5M2
	numFormats
)

// Size returns the size of an element in bytes.
func (f Format) Size() int64 {
	switch f {
	case FormatTF32:
		return 4
	case FormatE4M3, FormatE5M2:
		return 1
	}
	return 2
}

func loadMatrix(v *Value) string {
	t := v.Type
	ok := t.Kind == KindArray && t.Elem.Kind == KindI32 && (t.Len == 1 || t.Len == 2 || t.Len == 4)
	return want(ok && v.Args[0].Type.IsPtr() && v.Imm>>1 == 0, "loads %v from %v", t, v.Args[0].Type)
}

func storeMatrix(v *Value) string {
	for i, a := range v.Args {
		if a.Type.IsPtr() != (i == 0) || i > 0 && a.Type.Kind != KindI32 {
			return want(false, "has argument %d of type %v", i, a.Type)
		}
	}
	return nothing(v)
}

func mma(v *Value) string {
	if !v.Type.Equal(ArrayOf(4, F32)) || v.Imm < 0 || v.Imm > int64(FormatBF16) {
		return want(false, "makes %v of format %d", v.Type, v.Imm)
	}
	for i, a := range v.Args {
		part := I32
		if i >= 6 {
			part = F32
		}
		if !a.Type.Equal(part) {
			return want(false, "has argument %d of type %v", i, a.Type)
		}
	}
	return ""
}
