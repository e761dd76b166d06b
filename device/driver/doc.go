// Package driver defines what package device needs from a back end, and what generated code
// passes to it.
//
// Programs use package device. This package is for the code below it:
//
//   - A back end (packages cuda and cpu, and the PTX interpreter) implements Backend, Queue,
//     Memory and Mark, and makes a device with device.New. It may also implement the optional
//     interfaces in optional.go.
//   - The files that "gopherwarp build" writes describe each compiled kernel as a Kernel. A
//     launcher obtains a Plan from its stream, passes the arguments in the order of the
//     parameters, and launches.
//
// The body of a launcher:
//
//	p := s.Plan(multiplyKernel, g)
//	a.Pass(p)         // a device.Slice
//	driver.Pass(p, n) // a number, a boolean or a struct
//	return p.Launch()
//
// The layouts that compiled code and back ends share (parameter block, environment, fault and
// print records) are constants of this package.
package driver
