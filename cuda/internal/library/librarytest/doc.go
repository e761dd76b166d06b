// Package librarytest has what the tests of packages share that call NVIDIA's libraries: a stream of a fake
// device, and a fake library that fails on demand.
//
//	b := librarytest.New(t)
//	defer b.Close()
//	h, err := newHandle(kind.With("", b.Calls(fake.call)), b.Stream)
//	x, address := librarytest.Array[float32](b, 100)
package librarytest
