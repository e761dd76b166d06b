package cpu

// least returns the lowest of the limits. A limit of 0 means none.
func least(limits ...int64) (first int64) {
	for _, n := range limits {
		if n > 0 && (first == 0 || n < first) {
			first = n
		}
	}
	return first
}
