package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// TestFile compares the file with what its authors say of it: 1,797 digits, of each kind about as many.
func TestFile(t *testing.T) {
	d, err := load()
	if err != nil {
		t.Fatal(err)
	}
	var count [classes]int
	for _, l := range d.Labels {
		count[l]++
	}
	if want := [classes]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; count != want || len(d.Inputs) != 1797*pixels {
		t.Errorf("%v of each kind, %d pixels", count, len(d.Inputs))
	}
	if low, high := slices.Min(d.Inputs), slices.Max(d.Inputs); low != 0 || high != 1 {
		t.Errorf("pixels from %g to %g", low, high)
	}
}

// TestLearning trains for a few epochs on the CPU.
func TestLearning(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	saved := filepath.Join(t.TempDir(), "digits.safetensors")
	history, out := trained(t, dev, options{epochs: 10, save: saved})
	if last := history[9]; last.test < 0.92 || last.loss > history[0].loss/2 {
		t.Errorf("after 10 epochs: %+v, want an accuracy of 92 %%", last)
	}
	if !strings.Contains(out, "epoch 10  loss 0.") {
		t.Errorf("progress:\n%s", out)
	}
	loaded(t, dev, saved, history[9].test)
	first, _ := trained(t, dev, options{epochs: 2})
	if second, _ := trained(t, dev, options{epochs: 2}); !slices.Equal(first, second) {
		t.Errorf("two runs differ: %v and %v", first, second)
	}
	if owners := dev.Owners(); len(owners) > 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
}

// trained returns what each of some epochs achieved, and what learn wrote.
func trained(t *testing.T, dev *device.Device, o options) ([]epoch, string) {
	t.Helper()
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	history, err := learn(t.Context(), &out, stream, o)
	if err := errors.Join(err, stream.Close()); err != nil {
		t.Fatal(err)
	}
	return history, out.String()
}

// loaded reads digits with a network that was saved, which has a certain accuracy.
func loaded(t *testing.T, dev *device.Device, name string, want float64) {
	t.Helper()
	stream, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	got, err := read(t.Context(), &out, stream, name)
	if err := errors.Join(err, stream.Close()); err != nil {
		t.Fatal(err)
	}
	if line := fmt.Sprintf("test %6.2f %%\n", 100*want); got != want || out.String() != line {
		t.Errorf("the network that was loaded: %v, %q, want %v", got, &out, want)
	}
}

// TestCurve draws a curve and looks for its colors at the places of its values.
func TestCurve(t *testing.T) {
	path := filepath.Join(t.TempDir(), "curve.png")
	if err := writePNG(path, learningCurve([]epoch{{training: 0.5, test: 0.9}, {training: 0.95, test: 1}})); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := chart{epochs: 2}
	if at := m.At(c.x(1), c.y(1)); at != orange {
		t.Errorf("the test digits of epoch 2: %v", at)
	}
	if at := m.At(c.x(1), c.y(0.95)); at != blue {
		t.Errorf("the training digits of epoch 2: %v", at)
	}
}

// TestTurn moves a picture by a whole pixel and by half of one, and turns it by a right angle.
func TestTurn(t *testing.T) {
	from, to := make([]float32, pixels), make([]float32, pixels)
	from[2*side+3] = 1
	for _, c := range []struct {
		m    move
		at   int
		want float32
	}{{move{}, 2*side + 3, 1}, {move{x: 1}, 2*side + 2, 1}, {move{y: -0.5}, 3*side + 3, 0.5}, {move{angle: math.Pi / 2}, 3*side + 5, 1}, {move{angle: -math.Pi / 2}, 4*side + 2, 1}} {
		turn(to, from, c.m)
		if got := to[c.at]; math.Abs(float64(got-c.want)) > 1e-6 {
			t.Errorf("%+v: pixel %d is %g, want %g: %v", c.m, c.at, got, c.want, to)
		}
	}
}
