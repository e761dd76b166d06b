// Package conformance is what every device must get right: kernels for each behaviour of the
// language and of package gpu, and the values that plain Go computes for them.
//
//	for _, g := range conformance.Groups() {
//		for _, c := range g.Cases {
//			for behaviour, err := range c.On(ctx, dev) { ... } // what is wrong
//		}
//	}
//
// Its test runs it on the CPU, in the PTX interpreter and on a GPU where there is one;
// built by go test -c it does so on a bare machine. It compares results, not speed, and
// it knows nothing of how a device is made: device/devicetest is for that.
package conformance
