package cpu

// least returns the least of the limits that are there: 0 is none.
func least(limits ...int64) (first int64) {
	for _, n := range limits {
		if n > 0 && (first == 0 || n < first) {
			first = n
		}
	}
	return first
}
