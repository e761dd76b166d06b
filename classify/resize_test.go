package classify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/resize"
)

// picture returns one with colors that change from pixel to pixel.
func picture(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		mixed := uint32(i%width)*40503 ^ uint32(i/width)*30011
		m.SetNRGBA(i%width, i/width, color.NRGBA{R: uint8(mixed >> 7), G: uint8(mixed * 3 >> 7), B: uint8(mixed * 5 >> 7), A: 255})
	}
	return m
}

// square returns the bytes of the square in the middle of a resized picture.
func square(t *testing.T, f filter, m image.Image) (colors []uint8) {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	p := preparation{f, resize.Normalization{Deviation: [3]float32{1, 1, 1}}}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	values, err := p.values(t.Context(), s, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		colors = append(colors, uint8(math.Round(float64(v))))
	}
	return colors
}

// TestSquare demands the bytes that Pillow computes, which testdata/resize.py prints.
func TestSquare(t *testing.T) {
	data, err := os.ReadFile("testdata/resize.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Results []struct {
			Width, Height  int
			Filter, SHA256 string
			First          []int
		}
	}
	if err := json.Unmarshal(data, &want); err != nil || len(want.Results) < 22 {
		t.Fatalf("%d results, %v", len(want.Results), err)
	}
	for _, r := range want.Results {
		f := map[string]filter{"bilinear": bilinear, "bicubic": bicubic}[r.Filter]
		got := square(t, f, picture(r.Width, r.Height))
		if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != r.SHA256 {
			t.Errorf("%d x %d, %s: the first colors are %v, want %v", r.Width, r.Height, r.Filter, got[:12], r.First)
		}
	}
}

// TestColors reads the same colors from pictures of several types, and those of transparent pixels as if they were not.
func TestColors(t *testing.T) {
	m := picture(9, 5)
	opaque, deep, moved := image.NewRGBA(m.Rect), image.NewNRGBA64(m.Rect), image.NewNRGBA(m.Rect.Add(image.Pt(3, 4)))
	for y := range 5 {
		for x := range 9 {
			opaque.Set(x, y, m.At(x, y))
			deep.Set(x, y, m.At(x, y))
			c := m.NRGBAAt(x, y)
			c.A = uint8(x) // the first column is transparent
			moved.SetNRGBA(3+x, 4+y, c)
		}
	}
	want := square(t, bicubic, m)
	for name, p := range map[string]image.Image{"RGBA": opaque, "NRGBA64": deep, "transparent": moved} {
		if got := square(t, bicubic, p); !slices.Equal(got, want) {
			t.Errorf("%s: the first colors are %v, want %v", name, got[:12], want[:12])
		}
	}
	gray := image.NewYCbCr(image.Rect(0, 0, 2, 2), image.YCbCrSubsampleRatio420)
	copy(gray.Y, []uint8{200, 200, 200, 200})
	gray.Cb[0], gray.Cr[0] = 128, 128
	if got := square(t, bilinear, gray); got[0] != 200 || got[1] != 200 || got[2] != 200 {
		t.Errorf("a gray picture has the color %v", got[:3])
	}
}
