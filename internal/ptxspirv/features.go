package ptxspirv

import "github.com/gopherwarp/gopherwarp/internal/spirv"

// Features is a set of features of Vulkan that some kernels need and some devices lack.
type Features uint

// The features.
const (
	Float64 Features = 1 << iota
	Int16
	Storage16
	Int8
	Storage8
	BufferAtomics64
)

// features has a row for each feature: its name, with that of Vulkan's specification in parentheses, and the capability of SPIR-V that needs it.
var features = []struct {
	feature    Features
	name       string
	capability uint32
}{
	{Float64, "float64 (shaderFloat64)", spirv.CapabilityFloat64},
	{Int16, "16-bit integers (shaderInt16)", spirv.CapabilityInt16},
	{Storage16, "16-bit elements of slices (storageBuffer16BitAccess)", spirv.CapabilityStorageBuffer16BitAccess},
	{Int8, "8-bit integers (shaderInt8)", spirv.CapabilityInt8},
	{Storage8, "8-bit elements of slices (storageBuffer8BitAccess)", spirv.CapabilityStorageBuffer8BitAccess},
	{BufferAtomics64, "64-bit atomics (shaderBufferInt64Atomics)", spirv.CapabilityInt64Atomics},
}

// Names returns the names of the features in f.
func (f Features) Names() (names []string) {
	for _, row := range features {
		if f&row.feature != 0 {
			names = append(names, row.name)
		}
	}
	return names
}

// use declares a capability of SPIR-V that needs one of the features. It fails if the device lacks the feature: drivers need not refuse such a
// kernel, and some crash.
func (t *translator) use(capability uint32) {
	for _, row := range features {
		if row.capability == capability && t.options.Lacks&row.feature != 0 {
			t.fail("%s needs %s, which the device lacks", t.in, row.name)
		}
	}
	t.Capability(capability)
}
