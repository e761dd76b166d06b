// Package library contains the code that the packages for NVIDIA's libraries on streams share: an object of a
// library (a handle, a plan, a generator) that works for one stream at a time, and calls that allocate
// nothing.
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
// Package toolkit opens libraries and looks up their functions. The packages cublas, cufft and curand define
// the functions and their arguments.
package library
