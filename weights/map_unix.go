//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package weights

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first size bytes of a file for reading. The mapping outlives the file's descriptor.
func mapFile(file *os.File, size int) ([]byte, error) {
	raw, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var mapped []byte
	var failed error
	err = raw.Control(func(fd uintptr) {
		mapped, failed = unix.Mmap(int(fd), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	})
	if err != nil {
		return nil, err
	}
	return mapped, failed
}

// unmapFile unmaps memory that mapFile returned.
func unmapFile(mapped []byte) error { return unix.Munmap(mapped) }
