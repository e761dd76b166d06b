package ptxspirv

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// Views are the sizes in which a device can access shared memory, apart from words of 32 bits
// (VK_KHR_workgroup_memory_explicit_layout). Without views, shared memory is an array of words, and access to larger elements takes several
// instructions.
type Views struct {
	Any   bool // 4 to 16 bytes
	Half  bool // 2 bytes
	Bytes bool // 1 byte
	// Atomics64 means that the device also has atomic operations on 8 bytes.
	Atomics64 bool
}

// view is the shared memory as an array of vectors: n elements of a size in bytes, of which 1 is a scalar.
type view struct{ size, n int }

// can reports whether the device has a view.
func (v Views) can(w view) bool {
	switch w.size {
	case 1:
		return v.Any && v.Bytes
	case 2:
		return v.Any && v.Half
	}
	return v.Any
}

// viewed returns a pointer to a vector in shared memory.
func (t *translator) viewed(p place, v view) spirv.ID {
	to := t.vector(v.size, v.n)
	variable, ok := t.views[v]
	if !ok {
		variable = t.viewFrom(0, v, t.sharedBytes*t.blockCount())
		t.views[v] = variable
		switch v.size {
		case 1:
			t.Capability(spirv.CapabilityWorkgroupExplicitLayout8Bit)
		case 2:
			t.Capability(spirv.CapabilityWorkgroupExplicitLayout16Bit)
		}
	}
	i := t.op(spirv.OpShiftRightLogical, ptx.U32, p.address, t.word(uint32(bits.TrailingZeros(uint(v.size*v.n)))))
	return t.Value(spirv.OpAccessChain, t.pointer(spirv.StorageWorkgroup, to), variable, t.word(0), i)
}

// viewFrom returns a variable: a view of some bytes from an offset on. All such variables begin at offset 0 of shared memory.
func (t *translator) viewFrom(offset int, v view, bytes int) spirv.ID {
	t.Capability(spirv.CapabilityWorkgroupExplicitLayout)
	t.Extension("SPV_KHR_workgroup_memory_explicit_layout")
	stride := v.size * v.n
	array := t.Array(t.vector(v.size, v.n), t.word(uint32((bytes+stride-1)/stride)), uint32(stride))
	block := t.Struct([]uint32{array}, []uint32{uint32(offset)})
	variable := t.Variable(t.pointer(spirv.StorageWorkgroup, block), spirv.StorageWorkgroup)
	t.Decorate(variable, spirv.DecorationAliased)
	return variable
}

// hiddenWords returns a variable: an array of words that the kernel does not know of, after its own shared memory.
func (t *translator) hiddenWords(bytes int) spirv.ID {
	variable := t.viewFrom(align(t.sharedBytes*t.blockCount(), 16)+t.hiddenBytes, view{4, 1}, bytes)
	t.hiddenBytes += align(bytes, 4)
	return variable
}
