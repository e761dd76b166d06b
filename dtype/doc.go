// Package dtype lists the number types that kernels support, with their names and sizes. It defines
// the types that Go lacks: float16, bfloat16 and two 8-bit formats.
//
//	t, ok := dtype.Of[float32]()
//	fmt.Println(t, t.Size(), ok) // float32 4 true
//	h := dtype.BF16From32(3.14159)
//	fmt.Println(h, h.Float32()) // 3.14 3.140625
package dtype
