package classify

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the formats of Decode
	_ "image/png"

	"github.com/gopherwarp/gopherwarp/internal/kernels/resize"
)

// ErrPicture is the error of data that are not a picture, and of pictures that are too large or empty.
var ErrPicture = errors.New("classify: not a picture")

const (
	maxPixels = 1 << 26     // of a picture
	shorter   = 256         // pixels of the shorter side of a resized picture
	side      = resize.Side // pixels of a side of what is classified
	densest   = 8 * 1032    // pixels that a byte of a file may stand for: the factor of deflate, with a bit per pixel
)

// Decode returns the picture in the contents of a JPEG or PNG file of at most 64 megapixels. The error matches ErrPicture.
func Decode(data []byte) (image.Image, error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPicture, err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPixels/c.Height {
		return nil, fmt.Errorf("%w: %d x %d pixels, at most %d are supported", ErrPicture, c.Width, c.Height, maxPixels)
	}
	if c.Width*c.Height > densest*len(data) { // before they are allocated
		return nil, fmt.Errorf("%w: %d bytes are not all of %d x %d pixels", ErrPicture, len(data), c.Width, c.Height)
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPicture, err)
	}
	return picture, nil
}
