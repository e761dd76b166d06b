package weights

import (
	"fmt"
	"runtime/debug"
	"unsafe"
)

// Guard calls read and returns its error. The function read may read the memory of a mapped file. If the file was truncated after Map, Guard returns
// an error that matches ErrTruncated; without Guard, the process would end. Guard does not protect other goroutines, or C code, such as a driver that
// copies from the memory.
func (f *File) Guard(read func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		failed := recover()
		if failed == nil {
			return
		}
		fault, ok := failed.(interface{ Addr() uintptr })
		if !ok {
			panic(failed)
		}
		s := f.sourceAt(fault.Addr())
		if s == nil {
			panic(failed)
		}
		err = fmt.Errorf("%w: %s", ErrTruncated, s.name)
	}()
	return read()
}

// sourceAt returns the source whose mapped memory includes the address, or nil.
func (f *File) sourceAt(address uintptr) *Source {
	for _, s := range f.Sources {
		begin := uintptr(unsafe.Pointer(unsafe.SliceData(s.mapped)))
		if s.mapped != nil && address >= begin && address-begin < uintptr(len(s.mapped)) {
			return s
		}
	}
	return nil
}
