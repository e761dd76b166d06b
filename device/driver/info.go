package driver

import "fmt"

// Info describes a device.
type Info struct {
	Kind       string     // "cuda", "vulkan", "cpu" or "interp"
	Index      int        // among the devices of its kind
	Name       string     // from the manufacturer, such as "NVIDIA H200"
	Reason     string     // why Open chose the device instead of a better kind; empty if there is no better kind
	Memory     int64      // total bytes
	Capability Capability // of a CUDA device
	Bus        string     // PCI address of a CUDA device, such as "0000:41:00.0"
	Driver     string     // version of the driver, if there is one
	Cores      int        // multiprocessors or CPU cores
	GPU        bool       // whether the device is a GPU, not software that runs on the CPU
	Limits     Limits
	// FlushesSubnormals reports whether arithmetic in float32 may treat subnormal numbers as zeros.
	FlushesSubnormals bool
}

// Limits bounds the launches of a device.
type Limits struct {
	ThreadsPerBlock int
	Block, Grid     [3]int
	SharedPerBlock  int // bytes of static shared memory
	// SharedDynamic is the limit in bytes for a block with dynamic shared memory; 0 means
	// SharedPerBlock.
	SharedDynamic int
	ClusterBlocks int  // blocks in a cluster; 0 if there are no clusters
	Cooperative   bool // all blocks of a launch can run at the same time
}

// Capability is a CUDA compute capability: 9.0 is {9, 0}.
type Capability struct{ Major, Minor int }

// String returns the capability as "9.0".
func (c Capability) String() string { return fmt.Sprintf("%d.%d", c.Major, c.Minor) }

func (c Capability) less(d Capability) bool {
	return c.Major < d.Major || c.Major == d.Major && c.Minor < d.Minor
}

// String describes the device, and the Reason if there is one, in one line.
func (i Info) String() string {
	var s string
	switch i.Kind {
	case "cuda":
		s = fmt.Sprintf("%s (cuda:%d, compute capability %v, %.0f GiB)", i.Name, i.Index, i.Capability, float64(i.Memory)/(1<<30))
	case "vulkan":
		s = fmt.Sprintf("%s (vulkan:%d)", i.Name, i.Index)
	case "cpu":
		s = fmt.Sprintf("%s (cpu, %d cores)", i.Name, i.Cores)
	default:
		s = fmt.Sprintf("%s (%s)", i.Name, i.Kind)
	}
	if i.Reason != "" {
		s += ", because " + i.Reason
	}
	return s
}
