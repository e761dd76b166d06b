// Package dtype names the element types that kernels and devices agree on, with
// their sizes.
//
// It holds no data and no conversions of arrays; it is the vocabulary in which a
// parameter of a kernel, an argument of a print and a column of a report are described.
//
//	t, ok := dtype.Of[float32]()
//	fmt.Println(t, t.Size(), ok) // float32 4 true
//	h := dtype.BF16From32(3.14159)
//	fmt.Println(h, h.Float32()) // 3.14 3.140625
package dtype
