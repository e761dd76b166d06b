package classify_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/model/resnet/resnettest"
)

// openCPU opens the CPU, and fails the test if memory was not freed at its end.
func openCPU(t *testing.T) *device.Device {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if owners := dev.Owners(); len(owners) > 0 {
			t.Errorf("memory that was not freed: %v", owners)
		}
		dev.Close()
	})
	return dev
}

// disk returns a picture of a disk of a color.
func disk(width, height int, c color.Color) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			if (x-width/2)*(x-width/2)+(y-height/2)*(y-height/2) < min(width, height)*min(width, height)/9 {
				m.Set(x, y, c)
			} else {
				m.Set(x, y, color.White)
			}
		}
	}
	return m
}

// TestClassify compares the classes of pictures together with those of each alone.
func TestClassify(t *testing.T) {
	path := resnettest.Write(t, resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 6}, 2)
	m, err := classify.Open(openCPU(t), path, classify.Options{Names: []string{"zero", "one"}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	pictures := []image.Image{disk(300, 500, color.RGBA{R: 255, A: 255}), disk(231, 224, color.Black)}
	together, err := m.Classify(t.Context(), 6, pictures...)
	if err != nil || len(together) != 2 {
		t.Fatalf("%d lists, %v", len(together), err)
	}
	for i, p := range pictures {
		alone, err := m.Classify(t.Context(), 3, p)
		if err != nil || len(alone[0]) != 3 {
			t.Fatalf("%v, %v", alone, err)
		}
		sum := 0.0
		for j, x := range together[i] {
			sum += x.Probability
			if j < 3 && (x.Index != alone[0][j].Index || math.Abs(x.Probability-alone[0][j].Probability) > 1e-6) {
				t.Errorf("picture %d: class %d is %+v together, %+v alone", i, j, x, alone[0][j])
			}
			if name := map[int]string{0: "zero", 1: "one", 5: "class 5"}[x.Index]; name != "" && name != x.Name {
				t.Errorf("class %d is called %q", x.Index, x.Name)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("picture %d: the sum of the probabilities is %v", i, sum)
		}
	}
	if _, err := m.Classify(t.Context(), 1, image.NewGray(image.Rect(0, 0, 0, 5))); !errors.Is(err, classify.ErrPicture) {
		t.Errorf("an empty picture: %v, want ErrPicture", err)
	}
}

// TestLite0 classifies a disk of orange on white with real weights.
func TestLite0(t *testing.T) {
	const folder = "../models/efficientnet_lite0"
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("%v: make models fetches the model", err)
	}
	m, err := classify.Open(openCPU(t), folder, classify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got, err := m.Classify(t.Context(), 5, disk(400, 300, color.RGBA{R: 255, G: 140, A: 255}))
	if err != nil {
		t.Fatal(err)
	}
	if got[0][0].Index != 722 { // a ping-pong ball
		t.Errorf("got %+v", got)
	}
}

// TestDecode decodes a picture, and data that is none.
func TestDecode(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, disk(20, 10, color.Black)); err != nil {
		t.Fatal(err)
	}
	m, err := classify.Decode(b.Bytes())
	if err != nil || m.Bounds() != image.Rect(0, 0, 20, 10) {
		t.Errorf("%v, %v", m, err)
	}
	huge := bytes.Clone(b.Bytes())
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // the width and the height
	sparse := bytes.Clone(b.Bytes())
	copy(sparse[16:], []byte{0, 0, 0x1f, 0, 0, 0, 0x1f, 0}) // 63 megapixels, which the few bytes cannot have
	for name, data := range map[string][]byte{"empty": nil, "sparse": sparse, "text": []byte("GIF89a?"), "cut": b.Bytes()[:60], "huge": huge} {
		if _, err := classify.Decode(data); !errors.Is(err, classify.ErrPicture) {
			t.Errorf("%s: %v, want ErrPicture", name, err)
		}
	}
}

// TestOpenMistakes opens files without a supported model.
func TestOpenMistakes(t *testing.T) {
	if _, err := classify.Open(openCPU(t), filepath.Join(t.TempDir(), "none"), classify.Options{}); !errors.Is(err, classify.ErrModel) {
		t.Errorf("got %v, want ErrModel", err)
	}
}

// FuzzDecode checks that data is a picture whose size the data justifies, or an error.
func FuzzDecode(f *testing.F) {
	for _, m := range []image.Image{disk(20, 10, color.Black), image.NewGray(image.Rect(0, 0, 3, 3)), image.NewPaletted(image.Rect(0, 0, 9, 9), color.Palette{color.Black, color.White})} {
		var p, j bytes.Buffer
		if err := errors.Join(png.Encode(&p, m), jpeg.Encode(&j, m, nil)); err != nil {
			f.Fatal(err)
		}
		f.Add(p.Bytes())
		f.Add(j.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := classify.Decode(data)
		if err != nil {
			if !errors.Is(err, classify.ErrPicture) {
				t.Errorf("%v", err)
			}
			return
		}
		if n := m.Bounds().Dx() * m.Bounds().Dy(); n < 1 || n > 8256*len(data) {
			t.Errorf("%v from %d bytes", m.Bounds(), len(data))
		}
	})
}

// TestMargin demands that the square of 224 pixels begins where torchvision's center_crop does, which rounds halves to even.
func TestMargin(t *testing.T) {
	path := resnettest.Write(t, resnet.Config{Blocks: [4]int{1, 1, 1, 1}, Width: 8, Classes: 2}, 1)
	m, err := classify.Open(openCPU(t), path, classify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for width, want := range map[int]float32{256: 16, 257: 16, 259: 18, 341: 58, 343: 60} {
		picture := image.NewGray(image.Rect(0, 0, width, 256))
		for i := range picture.Pix {
			picture.Pix[i] = uint8(i % width)
		}
		pixels, err := classify.Prepare(t.Context(), m, picture)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(float64(pixels[0]-want)) <= 1e-3) {
			t.Errorf("of %d columns, column %v is the first, want %v", width, pixels[0], want)
		}
	}
}
