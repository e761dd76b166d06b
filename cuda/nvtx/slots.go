package nvtx

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// The protocol is that of NVTX's public header nvtx3/nvToolsExt.h. The program calls the library's
// function InitializeInjectionNvtx2 and passes a function that returns tables by number. The
// library gets the program's slots from the table of callbacks, and stores its functions in them.

// Slots of the core module that the package uses, and the number of slots.
const (
	mark       = 2  // nvtxMarkA
	rangeStart = 5  // nvtxRangeStartA
	rangeEnd   = 7  // nvtxRangeEnd
	slotCount  = 16 // the maximum of any module
	coreModule = 1
	modules    = 7 // including module 0, which is invalid
)

// Numbers of tables.
const (
	tableCallbacks = 1
	tableVersion   = 3
	apiVersion     = 3
)

// slots is the memory that the profiler's library reads and writes.
//
// Lifetimes: the library uses its addresses until the process ends. The callbacks, which are never freed,
// keep the slots alive, and Go does not move heap objects. Threads: the library writes only during
// InitializeInjectionNvtx2.
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

// module stores the address and the number of a module's slots, and returns whether the module
// exists. A library may require modules that this package does not use, such as those for names and
// domains.
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
