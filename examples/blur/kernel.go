package main

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//go:generate go tool kernelgen .

// size is the size of a picture. Its pixels are stored in row-major order with four bytes each:
// red, green, blue and alpha, as in image.RGBA.
type size struct{ width, height int }

// blurRows stores in dst, for each pixel of src, the weighted mean of the pixels around it in its
// row. weights[len(weights)/2] is the weight of the pixel itself; the weights sum to one.
//
//gpu:kernel
//gpu:block 16,16
func blurRows(t gpu.Thread, dst, src []uint8, weights []float32, z size) {
	x, y := t.GlobalX(), t.GlobalY()
	if x >= z.width || y >= z.height {
		return
	}
	for c := range 4 {
		var sum float32
		for i, w := range weights {
			near := clamp(x+i-len(weights)/2, z.width)
			sum += w * float32(src[(y*z.width+near)*4+c])
		}
		dst[(y*z.width+x)*4+c] = uint8(sum + 0.5)
	}
}

// blurColumns is like blurRows, but uses the pixels in the same column.
//
//gpu:kernel
//gpu:block 16,16
func blurColumns(t gpu.Thread, dst, src []uint8, weights []float32, z size) {
	x, y := t.GlobalX(), t.GlobalY()
	if x >= z.width || y >= z.height {
		return
	}
	for c := range 4 {
		var sum float32
		for i, w := range weights {
			near := clamp(y+i-len(weights)/2, z.height)
			sum += w * float32(src[(near*z.width+x)*4+c])
		}
		dst[(y*z.width+x)*4+c] = uint8(sum + 0.5)
	}
}

// edges stores in dst the magnitude of the brightness gradient of src, computed by Sobel's
// operator: black where the brightness is constant, white where it changes most.
//
//gpu:kernel
//gpu:block 16,16
func edges(t gpu.Thread, dst, src []uint8, z size) {
	x, y := t.GlobalX(), t.GlobalY()
	if x >= z.width || y >= z.height {
		return
	}
	var across, down float32
	for d := -1; d <= 1; d++ {
		weight := float32(2 - d*d)
		across += weight * (brightness(src, x+1, y+d, z) - brightness(src, x-1, y+d, z))
		down += weight * (brightness(src, x+d, y+1, z) - brightness(src, x+d, y-1, z))
	}
	a, d := float64(across), float64(down)
	steep := math.Sqrt(a*a + d*d)
	if steep > 255 {
		steep = 255
	}
	i := (y*z.width + x) * 4
	dst[i], dst[i+1], dst[i+2], dst[i+3] = uint8(steep), uint8(steep), uint8(steep), 255
}

// brightness returns the brightness, from 0 to 255, of the pixel of src closest to x, y.
func brightness(src []uint8, x, y int, z size) float32 {
	i := (clamp(y, z.height)*z.width + clamp(x, z.width)) * 4
	return 77./256*float32(src[i]) + 150./256*float32(src[i+1]) + 29./256*float32(src[i+2])
}

// clamp returns the value from 0 to n-1 that is closest to i.
func clamp(i, n int) int {
	if i < 0 {
		return 0
	}
	if i >= n {
		return n - 1
	}
	return i
}
