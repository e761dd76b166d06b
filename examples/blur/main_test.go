package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// drawOn blurs a file on the device that GOPHERWARP_DEVICE selects and returns the resulting file.
func drawOn(t *testing.T, device, in string) []byte {
	t.Helper()
	t.Setenv("GOPHERWARP_DEVICE", device)
	file := filepath.Join(t.TempDir(), "out.png")
	var out strings.Builder
	if err := run(&out, in, file, 1.5); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\nok  "+file) {
		t.Errorf("run wrote\n%s", out.String())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestSameBytes compares the results of the CPU device and the interpreter.
func TestSameBytes(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.png")
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, gopher(37, 21)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	cpu, interp := drawOn(t, "cpu", in), drawOn(t, "interp", in)
	if !bytes.Equal(cpu, interp) {
		t.Error("the CPU device and the PTX interpreter drew different pictures")
	}
	p, err := png.Decode(bytes.NewReader(cpu))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Bounds().Size(), image.Pt(2*37, 21); got != want {
		t.Errorf("size %v, want %v", got, want)
	}
}

// TestStep blurs a picture that is black on the left and white on the right.
func TestStep(t *testing.T) {
	p := image.NewRGBA(image.Rect(0, 0, 8, 3))
	for y := range 3 {
		for x := range 8 {
			p.SetRGBA(x, y, color.RGBA{A: 255})
			if x >= 4 {
				p.SetRGBA(x, y, color.RGBA{255, 255, 255, 255})
			}
		}
	}
	blurred, edged := loop(p.Pix, []float32{0.25, 0.5, 0.25}, size{8, 3})
	wantBlurred := []uint8{0, 0, 0, 64, 191, 255, 255, 255}
	// Sobel's weights of a column sum to 4: 4*64, 4*191 and so on, at most 255.
	wantEdged := []uint8{0, 0, 255, 255, 255, 255, 0, 0}
	for x := range 8 {
		for y := range 3 {
			i := (y*8 + x) * 4
			if blurred[i] != wantBlurred[x] || edged[i] != wantEdged[x] {
				t.Errorf("pixel %d, %d: blurred %d, edge %d; want %d and %d", x, y, blurred[i], edged[i], wantBlurred[x], wantEdged[x])
			}
		}
	}
}

func TestGaussianSumsToOne(t *testing.T) {
	for _, sigma := range []float64{0.1, 1, 2.5, 50} {
		var sum float64
		for _, w := range gaussian(sigma) {
			if float64(w)*65536 != float64(int(float64(w)*65536)) {
				t.Errorf("sigma %v: weight %v is no multiple of 1/65536", sigma, w)
			}
			sum += float64(w)
		}
		if sum != 1 {
			t.Errorf("sigma %v: the weights sum to %v, want 1", sigma, sum)
		}
	}
}

func TestBadInput(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.png")
	if err := os.WriteFile(text, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in    string
		sigma float64
		want  string
	}{
		{text, 1, "unknown format"},
		{"missing.png", 1, "missing.png"},
		{"", 0, "sigma is 0"},
	} {
		err := run(new(strings.Builder), c.in, filepath.Join(t.TempDir(), "o.png"), c.sigma)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("run(%q, sigma %v) = %v, want an error with %q", c.in, c.sigma, err, c.want)
		}
	}
}
