package vulkan

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// TestMemoryType tests which type of memory is chosen, with the types of NVIDIA's driver for a discrete GPU.
func TestMemoryType(t *testing.T) {
	const cached = hostMemory | vulkansys.MemoryHostCached
	m := &vulkansys.MemoryProperties{TypeCount: 5, Types: [32]vulkansys.MemoryType{
		{}, {Flags: vulkansys.MemoryDeviceLocal}, {Flags: hostMemory}, {Flags: cached}, {Flags: vulkansys.MemoryDeviceLocal | hostMemory},
	}}
	for _, c := range []struct {
		types, flags uint32
		want         int
	}{
		{0x1f, vulkansys.MemoryDeviceLocal, 1},
		{0x1d, vulkansys.MemoryDeviceLocal, 4},
		{0x1f, hostMemory, 3},
		{0x07, hostMemory, 2}, // no cached memory is allowed
		{0x03, hostMemory, -1},
		{0x1f, nearMemory, 4},
		{0x0f, nearMemory, 2},
	} {
		if got := memoryType(m, c.types, c.flags); got != c.want {
			t.Errorf("of types %#x with flags %#x: %d, want %d", c.types, c.flags, got, c.want)
		}
	}
}
