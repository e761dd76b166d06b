package main

import (
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// devices are the best device of this machine and the interpreter.
var devices = [...]string{"", "interp"}

func TestRun(t *testing.T) {
	for _, name := range devices {
		t.Setenv("GOPHERWARP_DEVICE", name)
		file := filepath.Join(t.TempDir(), "m.png")
		var out strings.Builder
		if err := run(&out, options{x: -0.6, width: 3, pixels: 90, out: file}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\nok  "+file+": 21600 points, ") {
			t.Errorf("run wrote\n%s", out.String())
		}
		checkPicture(t, file)
	}
}

// checkPicture checks a picture of the whole set with a width of 90 pixels.
func checkPicture(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := p.Bounds().Size(); size.X != 90 || size.Y != 60 {
		t.Errorf("the picture has %v pixels, want 90x60", size)
	}
	// Zero is in the set, and the corner is far from it.
	if got := p.At(63, 30); got != (color.RGBA{A: 255}) {
		t.Errorf("color at zero %v, want black", got)
	}
	if got := p.At(0, 0); got == (color.RGBA{A: 255}) {
		t.Error("the corner is black, want a color")
	}
}

func TestFollow(t *testing.T) {
	for _, c := range []struct {
		re, im float64
		steps  int32
		norm   float32
	}{
		{0, 0, limit, 0},
		{-1, 0, limit, 0},      // 0, -1, 0, -1, ...
		{-2, 0, limit, 4},      // the leftmost point
		{2, 0, 4, 1446 * 1446}, // 2, 6, 38, 1446
		{0, 1000, 1, 1000000},  // leaves at once
	} {
		steps, norm := follow(c.re, c.im)
		if steps != c.steps || norm != c.norm {
			t.Errorf("follow(%v, %v) = %v, %v; want %v, %v", c.re, c.im, steps, norm, c.steps, c.norm)
		}
	}
}
