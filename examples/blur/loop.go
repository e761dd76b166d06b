package main

import "math"

// loop computes in plain Go what the kernels compute: src blurred, and the edges of the blurred
// picture.
func loop(src []uint8, weights []float32, z size) (blurred, edged []uint8) {
	rows := make([]uint8, len(src))
	blurred = make([]uint8, len(src))
	edged = make([]uint8, len(src))
	for y := range z.height {
		for x := range z.width {
			for c := range 4 {
				var sum float64
				for i, w := range weights {
					near := clamp(x+i-len(weights)/2, z.width)
					sum += float64(w) * float64(src[(y*z.width+near)*4+c])
				}
				rows[(y*z.width+x)*4+c] = uint8(sum + 0.5)
			}
		}
	}
	for y := range z.height {
		for x := range z.width {
			for c := range 4 {
				var sum float64
				for i, w := range weights {
					near := clamp(y+i-len(weights)/2, z.height)
					sum += float64(w) * float64(rows[(near*z.width+x)*4+c])
				}
				blurred[(y*z.width+x)*4+c] = uint8(sum + 0.5)
			}
		}
	}
	for y := range z.height {
		for x := range z.width {
			bright := steepness(blurred, x, y, z)
			copy(edged[(y*z.width+x)*4:], []uint8{bright, bright, bright, 255})
		}
	}
	return blurred, edged
}

// steepness returns what a thread of edges stores. It uses integers except for the square root.
func steepness(src []uint8, x, y int, z size) uint8 {
	var across, down int
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			i := (clamp(y+dy, z.height)*z.width + clamp(x+dx, z.width)) * 4
			bright := 77*int(src[i]) + 150*int(src[i+1]) + 29*int(src[i+2])
			across += dx * (2 - dy*dy) * bright
			down += dy * (2 - dx*dx) * bright
		}
	}
	return uint8(min(255, math.Sqrt(float64(across*across+down*down))/256))
}
