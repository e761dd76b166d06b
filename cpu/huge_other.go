//go:build !linux

package cpu

// hugePages does nothing: other systems have large pages by other means, or as they see fit.
func hugePages([]byte) {}
