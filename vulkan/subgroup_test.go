package vulkan

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// TestChooseSubgroup tests which subgroups kernels have on GPUs of several makers.
func TestChooseSubgroup(t *testing.T) {
	sizes := func(least, most, subgroups, stages uint32) *vulkansys.SubgroupSizes {
		return &vulkansys.SubgroupSizes{Least: least, Most: most, Subgroups: subgroups, Stages: stages}
	}
	const all = 1<<32 - 1
	for _, c := range []struct {
		name  string
		usual int
		sizes *vulkansys.SubgroupSizes
		want  subgroup
	}{
		{"NVIDIA", 32, sizes(32, 32, 64, 0xff), subgroup{lanes: 32}},
		{"AMD since RDNA", 64, sizes(32, 64, all, vulkansys.StageCompute), subgroup{32, true}},
		{"AMD before RDNA", 64, sizes(64, 64, all, 0), subgroup{lanes: 64}},
		{"Intel", 32, sizes(8, 32, 64, vulkansys.StageCompute), subgroup{32, true}},
		{"Intel, too few subgroups for the largest block", 32, sizes(8, 32, 16, vulkansys.StageCompute), subgroup{}},
		{"Intel, other stages", 32, sizes(8, 32, 64, vulkansys.StageCompute-1), subgroup{}},
		{"Qualcomm", 64, sizes(64, 128, 16, vulkansys.StageCompute), subgroup{}},
		{"llvmpipe", 8, sizes(8, 8, 32, vulkansys.StageCompute), subgroup{lanes: 8}},
		{"a driver without sizes", 64, nil, subgroup{lanes: 64}},
	} {
		if got := chooseSubgroup(c.usual, 1024, c.sizes); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestDemand runs a kernel that demands the size that subgroups have anyway.
func TestDemand(t *testing.T) {
	b := opened(t)
	if !b.controlsSubgroups(b.physical[0]) || b.subgroup.lanes == 0 {
		t.Skip("pipelines cannot demand a size")
	}
	b.subgroup.demanded = true
	out, err := b.probe(computing("cvt.u64.u32 %rd2, %r1;"), []byte{7, 0, 0, 0}, make([]byte, 8))
	if err != nil || out[0] != 7 {
		t.Errorf("%v, %v", out, err)
	}
}
