// Command blur blurs a picture and detects the edges of the result, with a thread for each pixel,
// and writes both pictures side by side.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

func main() {
	in := flag.String("in", "", "PNG or JPEG file to read; by default, the command draws a picture")
	out := flag.String("out", "blur.png", "PNG file to write")
	sigma := flag.Float64("sigma", 2.5, "standard deviation of the blur in pixels, greater than 0 and at most 50")
	flag.Parse()
	if err := run(os.Stdout, *in, *out, *sigma); err != nil {
		fmt.Fprintln(os.Stderr, "blur:", err)
		os.Exit(1)
	}
}

// run blurs the picture in the file in, compares the result with that of a plain Go loop, and
// writes the file out.
func run(w io.Writer, in, out string, sigma float64) error {
	if !(sigma > 0 && sigma <= 50) {
		return fmt.Errorf("sigma is %v; it must be greater than 0 and at most 50", sigma)
	}
	picture, err := read(in)
	if err != nil {
		return err
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Fprintln(w, "device:", dev.Info())

	weights := gaussian(sigma)
	began := time.Now()
	blurred, edged, err := process(s, picture, weights)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "device with copies  %v\n", time.Since(began).Round(time.Microsecond))
	began = time.Now()
	wantBlurred, wantEdged := loop(picture.Pix, weights, size{picture.Rect.Dx(), picture.Rect.Dy()})
	fmt.Fprintf(w, "CPU loop            %v\n", time.Since(began).Round(time.Microsecond))

	if !bytes.Equal(blurred.Pix, wantBlurred) || !bytes.Equal(edged.Pix, wantEdged) {
		return fmt.Errorf("the picture differs from that of the plain loop")
	}
	if err := write(out, blurred, edged); err != nil {
		return err
	}
	fmt.Fprintf(w, "ok  %s: %d bytes equal to the loop's\n", out, len(blurred.Pix)+len(edged.Pix))
	return nil
}

// gaussian returns weights that approximate a normal distribution with the given standard
// deviation. They are multiples of 1/65536 and sum to one. Sums of their products with bytes are
// exact in float32, so every device computes the same bytes.
func gaussian(sigma float64) []float32 {
	radius := int(math.Ceil(3 * sigma))
	fall := func(i int) float64 { return math.Exp(-float64(i*i) / (2 * sigma * sigma)) }
	sum := fall(0)
	for i := 1; i <= radius; i++ {
		sum += 2 * fall(i)
	}
	weights := make([]float32, 2*radius+1)
	weights[radius] = 1
	for i := 1; i <= radius; i++ {
		w := float32(math.Round(fall(i)/sum*65536) / 65536)
		weights[radius-i], weights[radius+i] = w, w
		weights[radius] -= 2 * w
	}
	return weights
}

// process blurs p on the stream's device and returns the result and its edges.
func process(s *device.Stream, p *image.RGBA, weights []float32) (blurred, edged *image.RGBA, err error) {
	a, errA := device.Upload(s, p.Pix)
	b, errB := device.Make[uint8](s, len(p.Pix))
	w, errW := device.Upload(s, weights)
	if err := cmp.Or(errA, errB, errW); err != nil {
		return nil, nil, err
	}
	defer a.Close()
	defer b.Close()
	defer w.Close()

	blurred, edged = image.NewRGBA(p.Rect), image.NewRGBA(p.Rect)
	z := size{p.Rect.Dx(), p.Rect.Dy()}
	blocks := device.CoverBlocks(z.width, z.height, device.Dim{X: 16, Y: 16})
	return blurred, edged, cmp.Or(
		BlurRows(s, blocks, b.All(), a.All(), w.All(), z),
		BlurColumns(s, blocks, a.All(), b.All(), w.All(), z),
		Edges(s, blocks, b.All(), a.All(), z),
		device.Download(s, blurred.Pix, a),
		device.Download(s, edged.Pix, b),
		s.Synchronize(context.Background()),
	)
}
