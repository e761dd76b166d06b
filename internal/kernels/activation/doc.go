// Package activation applies activation functions to bfloat16 numbers, computed in float32.
//
//	err := activation.SwiGLU(s, device.Cover(n, 256), gate.All(), up.All(), out.All())
package activation

//go:generate go tool kernelgen .
