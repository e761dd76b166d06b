//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package console

import (
	"os"
	"syscall"
	"unsafe"
)

// columns returns the width of the terminal that f is, or 0.
func columns(f *os.File) int {
	var size struct{ rows, columns, width, height uint16 } // struct winsize of ioctl_tty(2)
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	failed := syscall.Errno(0)
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	})
	switch {
	case err != nil || failed != 0:
		return 0
	case size.columns == 0:
		return DefaultWidth // a terminal that does not know its size
	}
	return int(size.columns)
}
