//go:build cgo

package crossing

// #include <stdlib.h>
import "C"

// Possible reports whether the program was built with cgo.
const Possible = true

// Abs calls the C library's abs.
func Abs(x int) int { return int(C.abs(C.int(x))) }
