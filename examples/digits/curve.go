package main

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
)

// The picture of a learning curve: its size and margins in pixels, and the least accuracy that it shows.
const (
	width, height = 800, 480
	left, right   = 70, 30
	top, bottom   = 40, 50
	least         = 0.8
	glyph, gap    = 3, 3 // pixels of a dot of a letter, and between letters
	letter, tall  = 3*glyph + gap, 5 * glyph
)

var (
	black  = color.RGBA{0x20, 0x20, 0x20, 0xff}
	gray   = color.RGBA{0xd8, 0xd8, 0xd8, 0xff}
	blue   = color.RGBA{0x1f, 0x77, 0xb4, 0xff}
	orange = color.RGBA{0xff, 0x7f, 0x0e, 0xff}
)

// chart is a picture of accuracy over epochs.
type chart struct {
	*image.RGBA
	epochs int
}

// learningCurve draws the accuracy on training digits and test digits over epochs. Accuracies below 80 % are drawn at the lower edge.
func learningCurve(history []epoch) image.Image {
	c := chart{image.NewRGBA(image.Rect(0, 0, width, height)), len(history)}
	draw.Draw(c, c.Bounds(), image.White, image.Point{}, draw.Src)
	c.axes()
	c.curve(history, blue, func(e epoch) float64 { return e.training })
	c.curve(history, orange, func(e epoch) float64 { return e.test })
	c.text(left+20, top/2-tall/2, "TRAINING", blue)
	c.text(left+20+10*letter, top/2-tall/2, "TEST", orange)
	return c
}

// axes draws lines at multiples of 5 % and about ten epochs, with their numbers.
func (c chart) axes() {
	for percent := int(100 * least); percent <= 100; percent += 5 {
		y := c.y(float64(percent) / 100)
		c.line(image.Pt(left, y), image.Pt(width-right, y), gray)
		c.text(left-8-4*letter, y-tall/2, fmt.Sprintf("%3d%%", percent), black)
	}
	for i := 0; i < c.epochs; i++ {
		if step := (c.epochs + 9) / 10; (i+1)%step == 0 {
			c.line(image.Pt(c.x(i), top), image.Pt(c.x(i), height-bottom), gray)
			n := fmt.Sprint(i + 1)
			c.text(c.x(i)-len(n)*letter/2, height-bottom+8, n, black)
		}
	}
	c.text(width-right-5*letter, height-bottom+28, "EPOCH", black)
}

// x returns the place of an epoch.
func (c chart) x(i int) int { return left + (width-left-right)*(i+1)/max(c.epochs, 1) }

// y returns the place of an accuracy.
func (c chart) y(accuracy float64) int {
	return height - bottom - int((max(accuracy, least)-least)/(1-least)*(height-top-bottom))
}

// curve draws a value of all epochs.
func (c chart) curve(history []epoch, in color.Color, value func(e epoch) float64) {
	last := image.Pt(left, c.y(least))
	for i, e := range history {
		next := image.Pt(c.x(i), c.y(value(e)))
		for thick := range 2 {
			c.line(last.Add(image.Pt(0, thick)), next.Add(image.Pt(0, thick)), in)
		}
		last = next
	}
}

// line draws a line of one pixel.
func (c chart) line(from, to image.Point, in color.Color) {
	d := to.Sub(from)
	n := max(d.X, -d.X, d.Y, -d.Y, 1)
	for i := range n + 1 {
		c.Set(from.X+d.X*i/n, from.Y+d.Y*i/n, in)
	}
}

// font has the letters of the picture: five rows of three dots, of which each is an octal digit.
var font = map[rune]int{
	'0': 0o75557, '1': 0o26227, '2': 0o71747, '3': 0o71717, '4': 0o55711, '5': 0o74717, '6': 0o74757, '7': 0o71122, '8': 0o75757, '9': 0o75717,
	'%': 0o51245, 'A': 0o25755, 'C': 0o34443, 'E': 0o74647, 'G': 0o34553, 'H': 0o55755, 'I': 0o72227, 'N': 0o65555, 'O': 0o25552, 'P': 0o65644,
	'R': 0o65655, 'S': 0o34216, 'T': 0o72222,
}

// text writes letters from a corner on.
func (c chart) text(x, y int, s string, in color.Color) {
	for _, r := range s {
		for dot := range 15 {
			if font[r]>>(14-dot)&1 == 1 {
				at := image.Pt(x+dot%3*glyph, y+dot/3*glyph)
				draw.Draw(c, image.Rectangle{Min: at, Max: at.Add(image.Pt(glyph, glyph))}, image.NewUniform(in), image.Point{}, draw.Src)
			}
		}
		x += letter
	}
}

// writePNG writes a picture to a file.
func writePNG(path string, m image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(png.Encode(w, m), w.Flush(), f.Close())
}
