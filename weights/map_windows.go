package weights

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps the first size bytes of a file for reading. Windows refuses to truncate a mapped file.
func mapFile(file *os.File, size int) ([]byte, error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(file.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	address, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err := errors.Join(err, windows.CloseHandle(mapping)); err != nil { // a view keeps its mapping open
		return nil, err
	}
	return unsafe.Slice((*byte)(pointerTo(address)), size), nil
}

// pointerTo returns an address outside Go's memory as a pointer. A direct conversion would be a mistake for memory of
// Go, and go vet reports it.
func pointerTo(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// unmapFile unmaps memory that mapFile returned.
func unmapFile(mapped []byte) error {
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(mapped))))
}
