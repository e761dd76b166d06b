//go:build !cgo

package crossing

// Possible reports whether the program was built with cgo.
const Possible = false

// Abs must not be called.
func Abs(int) int { panic("BUG: built without cgo") }
