package row

import "github.com/gopherwarp/gopherwarp/device"

// Form is a form of an operation. Both forms compute the same function, but add in different orders.
type Form int

// The forms.
const (
	Plain Form = iota // blocks of 16 threads, which access neighbouring elements: for CPUs
	Wide              // some lanes of a warp, a block or a cluster for each row; each thread accesses 16 bytes at once: for GPUs
)

// FormFor returns the form for a stream's device.
func FormFor(s *device.Stream) Form { return FormOf(s.Device()) }

// wideShared is the shared memory of a block that kernels of the Wide form may use. All CUDA GPUs have it.
const wideShared = 48 << 10

// FormOf returns the form for a device: Plain for the CPU and for a device of Vulkan that has little shared memory, Wide for a GPU
// and for the interpreter of a GPU's code.
func FormOf(d *device.Device) Form {
	if i := d.Info(); i.Kind == "cpu" || i.Limits.SharedPerBlock < wideShared {
		return Plain
	}
	return Wide
}
