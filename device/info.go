package device

import "fmt"

// Info describes a device.
type Info struct {
	Kind       string     // "cuda", "cpu" or "interp"
	Index      int        // among devices of its kind
	Name       string     // as its maker calls it: "NVIDIA H200"
	Reason     string     // why Open chose it over a better kind; empty where it is the best
	Memory     int64      // bytes in total
	Capability Capability // of a CUDA device
	Bus        string     // PCI address of a CUDA device: "0000:41:00.0"
	Driver     string     // the driver's version, where there is one
	Cores      int        // multiprocessors, or CPU cores
	Limits     Limits
}

// Limits bounds a launch.
type Limits struct {
	ThreadsPerBlock int
	Block, Grid     [3]int
	SharedPerBlock  int // bytes that a kernel may declare
	// SharedDynamic is the bytes that a block may have with dynamic shared memory; 0 is no
	// more than SharedPerBlock.
	SharedDynamic int
	ClusterBlocks int  // blocks in a cluster; 0 where there are no clusters
	Cooperative   bool // all blocks of a launch can run at once
}

// Capability is a CUDA compute capability: 9.0 is {9, 0}.
type Capability struct{ Major, Minor int }

// String returns the capability as "9.0".
func (c Capability) String() string { return fmt.Sprintf("%d.%d", c.Major, c.Minor) }

// String says in one line what the device is and, where Open had to settle for it, why.
func (i Info) String() string {
	var s string
	switch i.Kind {
	case "cuda":
		s = fmt.Sprintf("%s (cuda:%d, compute capability %v, %.0f GiB)", i.Name, i.Index, i.Capability, float64(i.Memory)/(1<<30))
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
