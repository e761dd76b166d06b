package classify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"os"
	"slices"
	"testing"
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
		short := min(r.Width, r.Height)
		f := map[string]filter{"bilinear": bilinear, "bicubic": bicubic}[r.Filter]
		got := f.square(picture(r.Width, r.Height), shorter*r.Width/short, shorter*r.Height/short)
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
	want := bicubic.square(m, 460, 256)
	for name, p := range map[string]image.Image{"RGBA": opaque, "NRGBA64": deep, "transparent": moved} {
		if got := bicubic.square(p, 460, 256); !slices.Equal(got, want) {
			t.Errorf("%s: the first colors are %v, want %v", name, got[:12], want[:12])
		}
	}
	gray := image.NewYCbCr(image.Rect(0, 0, 2, 2), image.YCbCrSubsampleRatio420)
	copy(gray.Y, []uint8{200, 200, 200, 200})
	gray.Cb[0], gray.Cr[0] = 128, 128
	if got := bilinear.square(gray, 256, 256); got[0] != 200 || got[1] != 200 || got[2] != 200 {
		t.Errorf("a gray picture has the color %v", got[:3])
	}
}
