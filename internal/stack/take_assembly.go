//go:build amd64 || arm64

package stack

// take stores the innermost calls in s: first that of take, in the function that calls it.
//
// A Go function that calls another one saves its caller's frame pointer below its own return address. The frame pointers are therefore a
// list of frames, and take reads the return address of each. It is written in assembly because Go has no expression for the frame
// pointer, and because a goroutine that executes assembly is not interrupted, so its stack does not move.
//
//go:noescape
func take(s *Stack)
