// Package cudasys is the CUDA driver's interface as a struct of functions: types, status
// codes, and Load, which fills the struct from the driver's library.
//
//	d, err := cudasys.Load()
//	if s := d.Init(0); s != cudasys.Success { return s } // CUDA_ERROR_NO_DEVICE, ...
//	var n int32
//	s := d.DeviceGetCount(&n)
//
// It adds no meaning and no safety to the driver's: contexts, lifetimes and errors are
// package cuda's. Because the functions are fields, a test can put others in their place;
// package cudafake has a whole driver made of Go.
package cudasys
