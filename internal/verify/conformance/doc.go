// Package conformance is the conformance suite for devices: kernels for each behaviour of the
// language and of package gpu, with the values that plain Go computes for them.
//
//	for _, g := range conformance.Groups() {
//		for _, c := range g.Cases {
//			for behaviour, err := range c.On(ctx, dev) { ... } // what is wrong
//		}
//	}
//
// Its test runs the suite on the CPU, in the PTX interpreter and, if there is one, on a GPU. A test
// binary built by go test -c also runs on a machine without Go. The suite compares results, not
// speed. The interfaces of devices are tested by device/devicetest.
package conformance
