package ptx

// Type is a fundamental type of the ISA (section 5.2).
type Type uint8

// The types, named as in PTX without the dot.
const (
	NoType Type = iota
	Pred
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	F16x2
	BF16
	BF16x2
	F32
	F64
)

// Class groups types by the interpretation of their bits.
type Class uint8

// The classes. Untyped is compatible with every other class of the same size.
const (
	Untyped Class = iota
	Unsigned
	Signed
	Float
	Predicate
)

var types = [...]struct {
	name  string
	size  int
	class Class
}{
	NoType: {"", 0, Untyped},
	Pred:   {"pred", 1, Predicate},
	B8:     {"b8", 1, Untyped},
	B16:    {"b16", 2, Untyped},
	B32:    {"b32", 4, Untyped},
	B64:    {"b64", 8, Untyped},
	B128:   {"b128", 16, Untyped},
	U8:     {"u8", 1, Unsigned},
	U16:    {"u16", 2, Unsigned},
	U32:    {"u32", 4, Unsigned},
	U64:    {"u64", 8, Unsigned},
	S8:     {"s8", 1, Signed},
	S16:    {"s16", 2, Signed},
	S32:    {"s32", 4, Signed},
	S64:    {"s64", 8, Signed},
	F16:    {"f16", 2, Float},
	F16x2:  {"f16x2", 4, Float},
	BF16:   {"bf16", 2, Float},
	BF16x2: {"bf16x2", 4, Float},
	F32:    {"f32", 4, Float},
	F64:    {"f64", 8, Float},
}

// String returns the type as PTX writes it, with the dot.
func (t Type) String() string { return "." + types[t].name }

// Size returns the type's size in bytes; it returns 1 for predicates.
func (t Type) Size() int { return types[t].size }

// Class returns the class of t.
func (t Type) Class() Class { return types[t].class }

// ParseType returns the type with the given name, without the dot.
func ParseType(name string) (Type, bool) {
	for t, f := range types {
		if f.name == name && t != int(NoType) {
			return Type(t), true
		}
	}
	return NoType, false
}

// Space is a state space (section 5.1).
type Space uint8

// The state spaces. Generic addresses refer to one of the other spaces.
const (
	Generic Space = iota
	Register
	Global
	Shared
	Local
	Const
	Param
)

var spaces = [...]string{Generic: "generic", Register: "reg", Global: "global", Shared: "shared", Local: "local", Const: "const", Param: "param"}

// String returns the space's name in PTX, without the dot.
func (s Space) String() string { return spaces[s] }

// ParseSpace returns the space with the given name, without the dot. Suffixes that name a
// part of a space ("shared::cta", "param::entry") are dropped.
func ParseSpace(name string) (Space, bool) {
	switch name {
	case "shared::cta", "shared::cluster":
		return Shared, true
	case "param::entry", "param::func":
		return Param, true
	}
	for s, n := range spaces {
		if n == name && s != int(Generic) {
			return Space(s), true
		}
	}
	return Generic, false
}
