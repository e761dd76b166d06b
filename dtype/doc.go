// Package dtype defines the element types of kernels and devices, with their names and sizes. It
// includes the floating-point types that Go lacks: float16, bfloat16 and two 8-bit formats.
//
// The package describes the types of kernel parameters and print arguments. It has no arrays and no
// conversions of arrays.
//
//	t, ok := dtype.Of[float32]()
//	fmt.Println(t, t.Size(), ok) // float32 4 true
//	h := dtype.BF16From32(3.14159)
//	fmt.Println(h, h.Float32()) // 3.14 3.140625
package dtype
