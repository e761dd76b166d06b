package dtype

// Signed, Unsigned, Integer, Float and Number are constraints for generic kernels and functions
// that do arithmetic. They exclude F16, BF16, F8E4M3 and F8E5M2: of the types whose underlying type
// is uint8 or uint16, they permit only uint8 and uint16 themselves.
type (
	// Signed is the constraint of signed integers.
	Signed interface {
		~int | ~int8 | ~int16 | ~int32 | ~int64
	}
	// Unsigned is the constraint of unsigned integers.
	Unsigned interface {
		~uint | ~uint32 | ~uint64 | ~uintptr | uint8 | uint16
	}
	// Integer is the constraint of integers.
	Integer interface{ Signed | Unsigned }
	// Float is the constraint of the floating-point types for which Go has arithmetic.
	Float interface{ ~float32 | ~float64 }
	// Number is the constraint of integers and floating-point numbers.
	Number interface{ Integer | Float }
)
