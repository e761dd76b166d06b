package device

import "fmt"

// Fault is a kernel's panic: an index out of range, a division by zero, a call of panic.
// Other threads of the launch may have gone on; what the kernel wrote is not to be relied on.
type Fault struct {
	Kernel        string
	File          string // base name
	Line          int
	Message       string
	Block, Thread [3]int
}

// Error returns "multiply: kernels.go:12: index out of range [7] with length 5 (block 0,0,0 thread 7,0,0)".
func (f *Fault) Error() string {
	return fmt.Sprintf("%s: %s:%d: %s (block %s thread %s)", f.Kernel, f.File, f.Line, f.Message, commas(f.Block), commas(f.Thread))
}

func commas(i [3]int) string { return fmt.Sprintf("%d,%d,%d", i[0], i[1], i[2]) }
