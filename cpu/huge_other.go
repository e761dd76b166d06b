//go:build !linux

package cpu

// hugePages does nothing: other systems use large pages by themselves, or need other means.
func hugePages([]byte) {}
