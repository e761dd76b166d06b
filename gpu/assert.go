package gpu

// Assert panics with "assertion failed: " followed by message if cond is false. The message must be
// a constant.
func Assert(cond bool, message string) {
	if !cond {
		panic("assertion failed: " + message)
	}
}
