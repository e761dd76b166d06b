package main

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the file of digits
	"io"
	"math"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/train"
)

const (
	side    = 8 // pixels along each side of a picture
	pixels  = side * side
	darkest = 16 // the value of a pixel
	classes = 10
)

// file has, for each digit, its pixels row by row and the digit, as bytes.
//
//go:embed digits.gz
var file []byte

// digits are pictures of handwritten digits, whose pixels are from 0 to 1, and what they show.
type digits = train.Examples[float32, int32]

// load returns the digits of the file.
func load() (digits, error) {
	d := digits{Width: pixels}
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return d, err
	}
	all, err := io.ReadAll(r)
	if err != nil {
		return d, err
	}
	for ; len(all) > pixels; all = all[pixels+1:] {
		for _, v := range all[:pixels] {
			d.Inputs = append(d.Inputs, float32(v)/darkest)
		}
		d.Labels = append(d.Labels, int32(all[pixels]))
	}
	return d, nil
}

// divided returns the digits for training and those for the test.
func divided() (training, test digits, err error) {
	all, err := load()
	if err == nil {
		training, test = all.Split(all.Len()*4/5, 1)
	}
	return training, test, err
}

// around returns the numbers of the nine pixels around each pixel, and -1 for those outside the picture.
func around() (list []int32) {
	for at := range pixels {
		for i := range 9 {
			x, y := at%side+i%3-1, at/side+i/3-1
			if x < 0 || y < 0 || x >= side || y >= side {
				list = append(list, -1)
			} else {
				list = append(list, int32(y*side+x))
			}
		}
	}
	return list
}

// The variations of pictures for training, with which the network reads more of those that it has not seen.
const (
	farthest = 0.7 // pixels by which a picture is moved along x and y
	turned   = 0.1 // radians by which it is turned
	noise    = 0.1 // standard deviation of what is added to pixels
)

// varied returns digits whose pictures are moved and turned at random, with noise.
func varied(d digits, r *rand.Rand) digits {
	v := digits{Inputs: make([]float32, len(d.Inputs)), Labels: d.Labels, Width: d.Width}
	between := func(limit float64) float64 { return limit * (2*r.Float64() - 1) }
	for at := 0; at < len(d.Inputs); at += pixels {
		turn(v.Inputs[at:at+pixels], d.Inputs[at:at+pixels], move{between(farthest), between(farthest), between(turned)})
	}
	for i := range v.Inputs {
		v.Inputs[i] += float32(noise * r.NormFloat64())
	}
	return v
}

// move is a movement of a picture by pixels, and its turn around the center by an angle.
type move struct{ x, y, angle float64 }

// turn stores a picture that is moved, with linear interpolation.
func turn(to, from []float32, m move) {
	const center = (side - 1) / 2.
	sin, cos := math.Sincos(m.angle)
	for i := range to {
		dx, dy := float64(i%side)-center, float64(i/side)-center
		x, y := cos*dx+sin*dy+center+m.x, cos*dy-sin*dx+center+m.y
		left, top := math.Floor(x), math.Floor(y)
		right, bottom := float32(x-left), float32(y-top)
		at := func(dx, dy int) float32 { return pixel(from, int(left)+dx, int(top)+dy) }
		to[i] = (1-bottom)*((1-right)*at(0, 0)+right*at(1, 0)) + bottom*((1-right)*at(0, 1)+right*at(1, 1))
	}
}

// pixel returns a pixel, or 0 outside the picture.
func pixel(p []float32, x, y int) float32 {
	if x < 0 || y < 0 || x >= side || y >= side {
		return 0
	}
	return p[y*side+x]
}
