// Package vulkansys calls the Vulkan API without cgo: the functions and structs that compute needs, for 64-bit systems.
//
//	d, err := vulkansys.Load()                 // errors.Is(err, dl.ErrNotFound): no loader
//	instance, err := d.CreateInstance()
//	list, err := d.PhysicalDevices(instance)
//
// Structs have the layout of vulkan_core.h. They are passed by address, so they must be on the heap; the functions of this package take
// pointers, which escape, and keep what they point to alive during the call. Handles are numbers; 0 is no object. A Result that is
// negative is an error.
package vulkansys
