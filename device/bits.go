//go:build 386 || arm || mips || mipsle

package device

// In kernels, int has 64 bits on every device, so that other systems are refused, with an error that says why.
var _ = gopherwarpNeedsA64BitSystem
