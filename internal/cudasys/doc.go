// Package cudasys is the interface of the CUDA driver as a struct of functions. It contains the driver's
// types and status codes, and Load, which fills the struct from the driver's library.
//
//	d, err := cudasys.Load()
//	if s := d.Init(0); s != cudasys.Success { return s } // CUDA_ERROR_NO_DEVICE, ...
//	var n int32
//	s := d.DeviceGetCount(&n)
//
// It adds neither meaning nor safety to the driver's functions: package cuda manages contexts, lifetimes and
// errors. Because the functions are fields, tests can replace them; package cudafake is a complete driver
// written in Go.
package cudasys
