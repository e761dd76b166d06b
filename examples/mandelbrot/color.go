package main

import (
	"image"
	"image/color"
	"math"
)

// palette is a cycle of evenly spaced colors.
var palette = [...][3]float64{
	{0, 7, 60}, {20, 80, 180}, {120, 200, 240}, {250, 252, 240}, {255, 190, 60}, {170, 60, 20}, {40, 8, 40},
}

// paint returns the picture of v at half its width and height: each pixel is the mean of the colors
// of four points.
func paint(steps []int32, norm []float32, v view) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, v.width/2, v.height/2))
	for y := range v.height / 2 {
		for x := range v.width / 2 {
			var sum [3]float64
			for _, i := range [4]int{0, 1, v.width, v.width + 1} {
				at := 2*y*v.width + 2*x + i
				for c, part := range colorOf(steps[at], norm[at]) {
					sum[c] += part / 4
				}
			}
			p.SetRGBA(x, y, color.RGBA{uint8(sum[0]), uint8(sum[1]), uint8(sum[2]), 255})
		}
	}
	return p
}

// colorOf returns the red, green and blue, from 0 to 255, of a point. The norm contributes a
// fraction of a step, which makes the colors smooth (Linas Vepstas, "Renormalizing the Mandelbrot
// Escape", 1997).
func colorOf(steps int32, norm float32) [3]float64 {
	if steps == limit {
		return [3]float64{}
	}
	smooth := float64(steps) - math.Log2(math.Log(float64(norm))/math.Log(far))
	turn := math.Sqrt(max(0, smooth)) / 6
	at := (turn - math.Floor(turn)) * float64(len(palette))
	from, part := palette[int(at)], at-math.Floor(at)
	to := palette[(int(at)+1)%len(palette)]
	for c := range from {
		from[c] += part * (to[c] - from[c])
	}
	return from
}
