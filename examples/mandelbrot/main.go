// Command mandelbrot draws the Mandelbrot set, a thread for each point.
package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

type options struct {
	x, y, width float64 // center and width of the part of the plane to draw
	pixels      int     // width of the picture; its height is two thirds of the width
	out         string
}

func main() {
	var o options
	flag.Float64Var(&o.x, "x", -0.743643, "real part of the center")
	flag.Float64Var(&o.y, "y", 0.131826, "imaginary part of the center")
	flag.Float64Var(&o.width, "width", 0.004, "width of the part of the plane; -width 3 -x -0.6 -y 0 shows the whole set")
	flag.IntVar(&o.pixels, "pixels", 1200, "width of the picture in pixels")
	flag.StringVar(&o.out, "out", "mandelbrot.png", "file to write")
	flag.Parse()
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "mandelbrot:", err)
		os.Exit(1)
	}
}

// run draws the picture, compares it with that of a plain Go loop, and writes it to a file.
func run(w io.Writer, o options) error {
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

	v := o.view()
	began := time.Now()
	steps, norm, err := compute(s, v)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "device with copies  %v\n", time.Since(began).Round(time.Microsecond))
	began = time.Now()
	wantSteps, wantNorm := make([]int32, len(steps)), make([]float32, len(norm))
	mandelbrotLoop(wantSteps, wantNorm, v)
	fmt.Fprintf(w, "CPU loop            %v\n", time.Since(began).Round(time.Microsecond))

	// Close to the boundary of the set, the last bit of a product decides, and a GPU may round once
	// where the CPU rounds twice.
	others := differences(steps, wantSteps)
	if others > len(steps)/100 {
		return fmt.Errorf("%d of %d points differ from the plain loop; at most 1%% may differ", others, len(steps))
	}
	if err := writePNG(o.out, paint(steps, norm, v)); err != nil {
		return err
	}
	fmt.Fprintf(w, "ok  %s: %d points, %d of them differ from the loop's\n", o.out, len(steps), others)
	return nil
}

// view returns the points of the picture: two by two for each pixel.
func (o options) view() view {
	width, height := 2*o.pixels, 2*(o.pixels*2/3)
	step := o.width / float64(width)
	return view{
		left: o.x - step*float64(width-1)/2, top: o.y + step*float64(height-1)/2,
		step: step, width: width, height: height,
	}
}

// compute returns the results of the kernel for each point of v.
func compute(s *device.Stream, v view) (steps []int32, norm []float32, err error) {
	n := v.width * v.height
	ds, errS := device.Make[int32](s, n)
	dn, errN := device.Make[float32](s, n)
	if err := cmp.Or(errS, errN); err != nil {
		return nil, nil, err
	}
	defer ds.Close()
	defer dn.Close()
	steps, norm = make([]int32, n), make([]float32, n)
	return steps, norm, cmp.Or(
		Mandelbrot(s, device.CoverBlocks(v.width, v.height, device.Dim{X: 16, Y: 16}), ds.All(), dn.All(), v),
		device.Download(s, steps, ds),
		device.Download(s, norm, dn),
		s.Synchronize(context.Background()),
	)
}

func differences(a, b []int32) int {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func writePNG(name string, p image.Image) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	return cmp.Or(png.Encode(b, p), b.Flush(), f.Close())
}
