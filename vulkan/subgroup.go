package vulkan

import "github.com/gopherwarp/gopherwarp/internal/vulkansys"

// subgroup is what kernels find of a device's subgroups.
type subgroup struct {
	lanes    int  // as in Description.Subgroup
	demanded bool // pipelines must demand that number
}

// warpLanes is the number of threads of a warp. Exchanges in a warp are fast if subgroups have as many.
const warpLanes = 32

// Operations of subgroups that kernels use (VkSubgroupFeatureFlagBits): basic, arithmetic, ballot, shuffle.
const subgroupOperations = 0x1 | 0x4 | 0x8 | 0x10

// subgroup returns what kernels find of a device's subgroups.
func (s *session) subgroup(p vulkansys.PhysicalDevice) subgroup {
	all, usual, _ := vulkansys.NewProperties2()
	var sizes *vulkansys.SubgroupSizes
	if s.controlsSubgroups(p) {
		sizes = all.WithSubgroupSizes()
	}
	s.Properties(p, all)
	if usual.Operations&subgroupOperations != subgroupOperations {
		return subgroup{}
	}
	return chooseSubgroup(int(usual.Size), int(all.Limits.Invocations), sizes)
}

// controlsSubgroups reports whether pipelines of a device may demand a size of subgroups.
func (s *session) controlsSubgroups(p vulkansys.PhysicalDevice) bool {
	if !s.HasExtension(p, vulkansys.SubgroupSizeControl) {
		return false
	}
	f, _, _ := vulkansys.NewFeatures()
	c := f.WithSizeControl()
	s.Features(p, f)
	return c.Control != 0
}

// chooseSubgroup returns the subgroups of a device that usually have a number of lanes. The sizes are nil if the device has only that one. AMD's
// GPUs since RDNA have 64 lanes, and 32 if a pipeline demands it. Intel's have 8, 16 or 32, which their driver chooses for each pipeline that
// demands nothing, whatever it says the usual number is.
func chooseSubgroup(usual, threads int, sizes *vulkansys.SubgroupSizes) subgroup {
	switch {
	case sizes == nil || sizes.Least == sizes.Most:
		return subgroup{lanes: usual}
	case sizes.Least > warpLanes || sizes.Most < warpLanes || sizes.Stages&vulkansys.StageCompute == 0 || int64(sizes.Subgroups)*warpLanes < int64(threads):
		return subgroup{} // nothing can be relied on
	}
	return subgroup{lanes: warpLanes, demanded: true}
}
