// Package librarytest contains code that the tests of the packages for NVIDIA's libraries share: a stream of
// a fake device, and a fake library that fails on demand.
//
//	b := librarytest.New(t)
//	defer b.Close()
//	h, err := newHandle(kind.With("", b.Calls(fake.call)), b.Stream)
//	x, address := librarytest.Array[float32](b, 100)
package librarytest
