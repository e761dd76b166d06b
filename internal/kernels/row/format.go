package row

import "github.com/gopherwarp/gopherwarp/dtype"

// Number is an element type of operands.
type Number interface {
	float32 | dtype.BF16 | dtype.F16
}

// Format converts elements of type T to float32 and back. Of rounds to the nearest element, to even from halfway.
type Format[T any] interface {
	Float32(x T) float32
	Of(x float32) T
}

// F32 is the format of float32.
type F32 struct{}

// Float32 returns x.
func (F32) Float32(x float32) float32 { return x }

// Of returns x.
func (F32) Of(x float32) float32 { return x }

// BF16 is the format of dtype.BF16.
type BF16 struct{}

// Float32 returns x as a float32.
func (BF16) Float32(x dtype.BF16) float32 { return x.Float32() }

// Of returns x rounded to a dtype.BF16.
func (BF16) Of(x float32) dtype.BF16 { return dtype.BF16From32(x) }

// F16 is the format of dtype.F16.
type F16 struct{}

// Float32 returns x as a float32.
func (F16) Float32(x dtype.F16) float32 { return x.Float32() }

// Of returns x rounded to a dtype.F16.
func (F16) Of(x float32) dtype.F16 { return dtype.F16From32(x) }
