package dtype

// Signed, Unsigned, Integer, Float and Number are constraints for generic kernels and functions
// that compute. Types that have the small floats' layout, uint8 and uint16, count only
// under their own names: F16 is no integer.
type (
	// Signed is an integer with a sign.
	Signed interface {
		~int | ~int8 | ~int16 | ~int32 | ~int64
	}
	// Unsigned is an integer without a sign.
	Unsigned interface {
		~uint | ~uint32 | ~uint64 | ~uintptr | uint8 | uint16
	}
	// Integer is an integer.
	Integer interface{ Signed | Unsigned }
	// Float is a float that Go computes with.
	Float interface{ ~float32 | ~float64 }
	// Number is an integer or a float.
	Number interface{ Integer | Float }
)
