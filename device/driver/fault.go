package driver

import "fmt"

// Fault is a panic of a kernel: an index out of range, a division by zero, a call of panic.
// Other threads of the launch may have continued; the memory that the launch writes is unspecified.
type Fault struct {
	Kernel        string
	Package       string // import path of the kernel's package; the line may be in another package
	File          string // base name
	Line          int
	Message       string
	Block, Thread [3]int
	// Launch numbers the launch among those of its stream, starting at 1. It is 0 for a launch
	// in a graph, and if the device does not know the launch.
	Launch int
	// Launched is the line of the program that launched the kernel, such as "main.go:42". It is empty
	// unless the device records callers (see device.Device.RecordCallers) or the launch is in a graph.
	Launched string
}

// Error returns "example.com/try.multiply: kernels.go:12: index out of range [7] with length 5 (block 0,0,0 thread 7,0,0)",
// followed by the line that launched the kernel if it is known.
func (f *Fault) Error() string {
	kernel := f.Kernel
	if f.Package != "" {
		kernel = f.Package + "." + kernel
	}
	text := fmt.Sprintf("%s: %s:%d: %s (block %s thread %s)", kernel, f.File, f.Line, f.Message, commas(f.Block), commas(f.Thread))
	if f.Launched != "" {
		text += ", launched at " + f.Launched
	}
	return text
}

func commas(i [3]int) string { return fmt.Sprintf("%d,%d,%d", i[0], i[1], i[2]) }
