package deep

// Divide divides.
func Divide(a, b int64) int64 {
	if a > 1<<40 {
		return 0
	}
	return a / b // deep
}
