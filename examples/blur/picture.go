package main

import (
	"bufio"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // for image.Decode
	"image/png"
	"math"
	"os"
)

// read reads a PNG or JPEG file. If name is empty, it returns a test picture.
func read(name string) (*image.RGBA, error) {
	if name == "" {
		return gopher(480, 360), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, _, err := image.Decode(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	flat := image.NewRGBA(image.Rectangle{Max: p.Bounds().Size()})
	draw.Draw(flat, flat.Rect, p, p.Bounds().Min, draw.Src)
	return flat, nil
}

// write writes a PNG file with the two pictures side by side.
func write(name string, left, right *image.RGBA) error {
	width := left.Rect.Dx()
	both := image.NewRGBA(image.Rect(0, 0, width+right.Rect.Dx(), left.Rect.Dy()))
	draw.Draw(both, left.Rect, left, image.Point{}, draw.Src)
	draw.Draw(both, right.Rect.Add(image.Pt(width, 0)), right, image.Point{}, draw.Src)
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	return cmp.Or(png.Encode(b, both), b.Flush(), f.Close())
}

// gopher draws a gopher's face on a checkered background.
func gopher(width, height int) *image.RGBA {
	p := image.NewRGBA(image.Rect(0, 0, width, height))
	unit := float64(min(width, height)) / 2
	for y := range height {
		for x := range width {
			p.SetRGBA(x, y, face((float64(x)-float64(width)/2)/unit, (float64(y)-float64(height)/2)/unit))
		}
	}
	return p
}

// face returns the color at x, y, which range from about -1 to 1. y increases downward.
func face(x, y float64) color.RGBA {
	x = math.Abs(x) // the face is symmetric
	inside := func(cx, cy, rx, ry float64) bool {
		return (x-cx)*(x-cx)/(rx*rx)+(y-cy)*(y-cy)/(ry*ry) < 1
	}
	black, white := color.RGBA{20, 20, 30, 255}, color.RGBA{250, 250, 250, 255}
	switch {
	case inside(0.26, -0.17, 0.09, 0.10), inside(0, 0.13, 0.10, 0.07):
		return black // pupils and nose
	case inside(0.30, -0.18, 0.25, 0.27):
		return white // eyes
	case x < 0.075 && y > 0.25 && y < 0.45:
		return white // teeth
	case inside(0.11, 0.22, 0.14, 0.11):
		return color.RGBA{230, 200, 160, 255} // snout
	case inside(0, 0.05, 0.72, 0.82), inside(0.58, -0.58, 0.16, 0.17):
		shade := uint8(40 * max(0, y))
		return color.RGBA{110 - shade, 206 - shade, 228 - shade, 255} // head and ears
	case (int(math.Floor(x*6))+int(math.Floor(y*6)))%2 == 0:
		return color.RGBA{236, 226, 200, 255}
	default:
		return color.RGBA{214, 150, 110, 255}
	}
}
