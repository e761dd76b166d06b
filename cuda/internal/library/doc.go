// Package library is what the packages share that call NVIDIA's libraries on streams: an object of a library
// (a handle, a plan, a generator) that works for one stream at a time, and calls that allocate nothing.
//
//	o := &library.Object{Library: l, Device: s.Device()}
//	err := o.Within(func() error { return o.Invoke(create, uintptr(unsafe.Pointer(&handle))) })
//	...
//	func (g *Generator) runOn(on cuda.Handle) error { // called by cuda.Each, with the lock held
//		if err := o.Bind(on, g.setStream); err != nil {
//			return err
//		}
//		return o.Run(generate, g.args[:])
//	}
//
// Opening libraries and looking up their functions is package toolkit's. Which functions there are, and what
// their arguments mean, is up to the packages above: cublas, cufft, curand.
package library
