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
	// Launched is the line that launched the kernel, "main.go:42", where the device records
	// that (see Device.RecordCallers) or the launch is a graph's; else empty.
	Launched string
}

// Error returns "multiply: kernels.go:12: index out of range [7] with length 5 (block 0,0,0 thread 7,0,0)",
// and where the kernel was launched, if that is known.
func (f *Fault) Error() string {
	text := fmt.Sprintf("%s: %s:%d: %s (block %s thread %s)", f.Kernel, f.File, f.Line, f.Message, commas(f.Block), commas(f.Thread))
	if f.Launched != "" {
		text += ", launched at " + f.Launched
	}
	return text
}

func commas(i [3]int) string { return fmt.Sprintf("%d,%d,%d", i[0], i[1], i[2]) }
