package gpu

// Assert panics with "assertion failed: " and the message, which is a constant, unless cond is
// true.
func Assert(cond bool, message string) {
	if !cond {
		panic("assertion failed: " + message)
	}
}
