// Package driver defines the interfaces that a back end of package device implements, and the types
// that generated code passes to package device.
//
// Programs use package device. This package is for back ends and for generated code:
//
//   - A back end (packages cuda, vulkan and cpu, and the PTX interpreter) implements Backend, Queue,
//     Memory and Mark, and makes a device with device.New. It may also implement the optional interfaces
//     in optional.go.
//   - The files that "gopherwarp build" writes describe each compiled kernel as a Kernel. A
//     launcher obtains a Plan from its stream, passes the arguments in the order of the parameters,
//     and launches.
//
// The body of a launcher:
//
//	p := s.Plan(multiplyKernel, g)
//	a.Pass(p)         // a device.Slice
//	driver.Pass(p, n) // a number, a boolean or a struct
//	return p.Launch()
//
// Constants of this package define the layouts of three data structures that compiled code and back
// ends share: the parameter block, the fault and print records, and the environment. Each queue and
// each graph has an environment, a small block of device memory. Through it, kernels report faults
// and prints, and count the blocks that arrive at a grid barrier.
package driver
