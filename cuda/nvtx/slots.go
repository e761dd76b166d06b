package nvtx

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// The protocol is that of NVTX's public header nvtx3/nvToolsExt.h: the program calls the library's
// InitializeInjectionNvtx2 with a function that returns tables by number; the library asks the
// table of callbacks for the program's slots and puts its functions into them.

// Slots of the core module that the package uses, and how many there are.
const (
	mark       = 2  // nvtxMarkA
	rangeStart = 5  // nvtxRangeStartA
	rangeEnd   = 7  // nvtxRangeEnd
	slotCount  = 16 // of a module, at most
	coreModule = 1
	modules    = 7 // with module 0, which is none
)

// Numbers of tables.
const (
	tableCallbacks = 1
	tableVersion   = 3
	apiVersion     = 3
)

// slots is what the profiler's library reads and writes.
//
// Lifetime: its addresses are the library's until the process ends. The callbacks, which are never
// freed, hold the slots, and Go does not move what is on the heap. Threads: the library writes inside
// InitializeInjectionNvtx2 only.
type slots struct {
	functions [modules][slotCount]uintptr
	pointers  [modules][slotCount]*uintptr // to the functions; nil for slot 0
	callbacks struct {
		size   uintptr
		module uintptr
	}
	version struct {
		size               uintptr
		version, _reserved uint32
		set                uintptr
	}
}

// exports returns the C function that returns the tables.
func (s *slots) exports() uintptr {
	for m := range s.pointers {
		for i := 1; i < slotCount; i++ {
			s.pointers[m][i] = &s.functions[m][i]
		}
	}
	s.callbacks.size, s.callbacks.module = unsafe.Sizeof(s.callbacks), dl.Callback(s.module)
	s.version.size, s.version.version, s.version.set = unsafe.Sizeof(s.version), apiVersion, dl.Callback(func(uintptr) uintptr { return 0 })
	return dl.Callback(func(table uintptr) uintptr {
		switch uint32(table) {
		case tableCallbacks:
			return uintptr(unsafe.Pointer(&s.callbacks))
		case tableVersion:
			return uintptr(unsafe.Pointer(&s.version))
		}
		return 0
	})
}

// module stores where the slots of a module are, and how many, and returns whether there are any.
// A library may demand modules of which this package uses nothing: those of names and domains.
func (s *slots) module(module uintptr, table **[slotCount]*uintptr, size *uint32) uintptr {
	if m := uint32(module); m == 0 || m >= modules {
		return 0
	}
	*table = &s.pointers[uint32(module)]
	if size != nil {
		*size = slotCount
	}
	return 1
}
