package classify

import (
	"image"
	"image/color"
	"image/draw"
)

// colors returns the red, green and blue of each pixel, and a fourth byte: transparency is ignored. It allocates little for the types of
// most files.
func colors(picture image.Image) []uint8 {
	b := picture.Bounds()
	switch p := picture.(type) {
	case *image.NRGBA:
		return joined(p.Pix, p.Stride, b)
	case *image.RGBA:
		if p.Opaque() {
			return joined(p.Pix, p.Stride, b)
		}
	case *image.YCbCr, *image.Gray:
		m := image.NewRGBA(b)
		draw.Draw(m, b, p, b.Min, draw.Src)
		return m.Pix
	}
	list := make([]uint8, 0, 4*b.Dx()*b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			list = append(list, c.R, c.G, c.B, c.A)
		}
	}
	return list
}

// joined returns rows of four bytes for each pixel, which begin stride bytes apart. It copies them if there is something between them.
func joined(rows []uint8, stride int, b image.Rectangle) []uint8 {
	w := 4 * b.Dx()
	if stride == w {
		return rows[:w*b.Dy()]
	}
	list := make([]uint8, 0, w*b.Dy())
	for y := range b.Dy() {
		list = append(list, rows[y*stride:y*stride+w]...)
	}
	return list
}
