// Package deep has functions that panic, for kernels of another package. It has no kernels.
//
//	q := deep.Divide(a, b) // panics where b is 0
package deep

// Divide divides.
func Divide(a, b int64) int64 {
	if a > 1<<40 {
		return 0
	}
	return a / b // deep
}
