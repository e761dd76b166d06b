package vulkan

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// Type is the type of a device.
type Type int

// The types of devices, in the order in which gopherwarp.Open prefers them. gopherwarp.Open chooses an
// Other device only if GOPHERWARP_DEVICE selects it.
const (
	Discrete   Type = iota // a GPU with memory of its own
	Integrated             // a GPU that shares the CPU's memory
	Other                  // a CPU, such as Mesa's llvmpipe, or a virtual machine's GPU
)

// String returns the type as a noun, such as "discrete GPU".
func (t Type) String() string {
	return [...]string{"discrete GPU", "integrated GPU", "not a GPU of this machine"}[t]
}

// Description describes a device.
type Description struct {
	driver.Info
	Type Type
	// Subgroup is the number of lanes in a subgroup. It is 0 if the number varies, or if subgroups lack operations that
	// kernels use.
	Subgroup int
	// Missing lists the missing features that all kernels need. If there are any, Open returns ErrFeatures.
	Missing []string
	// Lacks lists the missing features that some kernels need in order to run, or to be fast.
	Lacks []string
}

// Complete reports whether the device is a GPU with all features that kernels can use through Vulkan. Unless GOPHERWARP_DEVICE selects
// a device, gopherwarp.Open chooses only complete Vulkan devices. Even a complete device lacks the features that Vulkan does not
// offer, such as tensor cores.
func (d *Description) Complete() bool { return d.Type != Other && len(d.Missing)+len(d.Lacks) == 0 }

// List describes the devices in the loader's order, including those that Open refuses.
func List() ([]Description, error) {
	s, err := start()
	if err != nil {
		return nil, err
	}
	defer s.close()
	var list []Description
	for i := range s.physical {
		list = append(list, s.describe(i))
	}
	return list, nil
}

// describe describes a device.
func (s *session) describe(i int) Description {
	f, f11, f12 := vulkansys.NewFeatures()
	s.Features(s.physical[i], f)
	p, _ := vulkansys.NewDriverProperties()
	s.Properties(s.physical[i], p)
	d := Description{Info: s.info(i), Type: typeOf(p.Kind), Subgroup: s.subgroup(s.physical[i]).lanes, Missing: required(f, f12)}
	d.Lacks = lacking(f, f11, f12).Names()
	if d.Subgroup != warpLanes {
		d.Lacks = append(d.Lacks, "subgroups of 32 threads, without which operations of warps are slow")
	}
	return d
}

// typeOf returns the type for a VkPhysicalDeviceType.
func typeOf(kind uint32) Type {
	switch kind {
	case vulkansys.KindDiscrete:
		return Discrete
	case vulkansys.KindIntegrated:
		return Integrated
	}
	return Other
}

// feature is a feature of Vulkan, with its name in Vulkan's specification in parentheses.
type feature struct {
	name string
	has  uint32 // 0 or 1
}

// absent returns the names of the features that a device does not have.
func absent(list []feature) (names []string) {
	for _, f := range list {
		if f.has == 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// lacking returns the features that a device does not have and only some kernels need.
func lacking(f *vulkansys.Features2, f11 *vulkansys.Features11, f12 *vulkansys.Features12) (set ptxspirv.Features) {
	for feature, has := range map[ptxspirv.Features]uint32{
		ptxspirv.Float64: f.Float64, ptxspirv.Int16: f.Int16, ptxspirv.Storage16: f11.Storage16,
		ptxspirv.Int8: f12.Int8, ptxspirv.Storage8: f12.Storage8, ptxspirv.BufferAtomics64: f12.BufferAtomics64,
	} {
		if has == 0 {
			set |= feature
		}
	}
	return set
}

// required returns the names of the features that a device does not have and all kernels need.
func required(f *vulkansys.Features2, f12 *vulkansys.Features12) []string {
	return absent([]feature{{"64-bit integers (shaderInt64)", f.Int64}, {"addresses of buffers (bufferDeviceAddress)", f12.Addresses}})
}

// text returns a string that ends with a zero byte.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
