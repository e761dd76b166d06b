//go:build !amd64 && !arm64

package stack

import "runtime"

// take stores the innermost calls in s: first that of take, in the function that calls it.
func take(s *Stack) {
	n := runtime.Callers(2, s[:])
	clear(s[n:])
}
