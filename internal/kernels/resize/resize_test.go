package resize

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// axis is an axis with random windows.
type axis struct {
	Windows
	numbers []int32
}

func newAxis(r *rand.Rand, begin, count, taps int) axis {
	a := axis{Windows: Windows{Begin: begin, Count: count, Taps: taps}}
	for i := range Side {
		a.numbers = append(a.numbers, int32(i*count/Side))
	}
	for range taps * Side {
		a.numbers = append(a.numbers, int32(r.IntN(1<<Fraction)/taps*2-1<<Fraction/taps/2)) // some sums are below 0 or above 255
	}
	return a
}

// color returns color c of result i, whose source has the given pixels.
func (a axis) color(i, c int, pixel func(at int) uint32) uint32 {
	sum := int64(1) << (Fraction - 1)
	for k := range a.Taps {
		at := a.Begin + min(int(a.numbers[i])+k, a.Count-1)
		sum += int64(pixel(at)>>(8*c)&255) * int64(a.numbers[(k+1)*Side+i])
	}
	return uint32(max(0, min(sum>>Fraction, 255)))
}

// problem is a picture to resize.
type problem struct {
	width, height int
	pixels        []uint32
	first, second axis
	columns       bool // are resized first
	Normalization
}

func newProblem(width, height int, columns bool) problem {
	r := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	p := problem{width: width, height: height, columns: columns, Normalization: Normalization{[3]float32{0.5, 0.25, 0}, [3]float32{0.2, 1, 3}}}
	for range width * height {
		p.pixels = append(p.pixels, r.Uint32())
	}
	along, across := width, height
	if columns {
		along, across = height, width
	}
	p.first, p.second = newAxis(r, 1, along-2, 3), newAxis(r, 2, across-2, 4)
	return p
}

// operands returns the operands, whose results are not numbers yet.
func (p problem) operands(t *testing.T, s *device.Stream) Operands {
	poison := make([]float32, Side*Side*3)
	for i := range poison {
		poison[i] = float32(math.NaN())
	}
	x := Operands{
		Picture: Picture{kerneltest.Upload(t, s, p.pixels), 1, p.width}, Lines: kerneltest.Upload(t, s, make([]uint32, p.second.Count*Side)),
		First: p.first.Windows, Second: p.second.Windows, Out: kerneltest.Upload(t, s, poison), Down: Side, Right: 1, Normalization: p.Normalization,
	}
	if p.columns {
		x.Along, x.Across, x.Down, x.Right = p.width, 1, 1, Side
	}
	x.First.Table, x.Second.Table = kerneltest.Upload(t, s, p.first.numbers), kerneltest.Upload(t, s, p.second.numbers)
	return x
}

// want returns the result.
func (p problem) want() []float32 {
	along, across := 1, p.width
	if p.columns {
		along, across = across, along
	}
	list := make([]float32, Side*Side*3)
	for j := range Side {
		for i := range Side {
			to := j*Side + i
			if p.columns {
				to = i*Side + j
			}
			for c := range 3 {
				v := p.second.color(j, c, func(line int) uint32 {
					return p.first.color(i, c, func(at int) uint32 { return p.pixels[at*along+line*across] }) << (8 * c)
				})
				list[3*to+c] = (float32(v)/255 - p.Mean[c]) / p.Deviation[c]
			}
		}
	}
	return list
}

// TestSquare compares all bits with those that Go computes.
func TestSquare(t *testing.T) {
	problems := []problem{newProblem(40, 30, false), newProblem(17, 300, true), newProblem(500, 9, false)}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, p := range problems {
				x := p.operands(t, s)
				if err := Square(s, x); err != nil {
					t.Fatal(err)
				}
				want := p.want()
				for i, v := range kerneltest.Download(t, s, x.Out) {
					if v != want[i] {
						t.Fatalf("%d x %d: element %d is %v, want %v", p.width, p.height, i, v, want[i])
					}
				}
			}
		})
	}
}

// TestShapes demands an error for operands that do not fit each other.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	p := newProblem(40, 30, false)
	for name, change := range map[string]func(*Operands){
		"pixels":   func(x *Operands) { x.Pixels = x.Pixels.Slice(0, 30*39) },
		"lines":    func(x *Operands) { x.Lines = x.Lines.Slice(0, 100) },
		"out":      func(x *Operands) { x.Out = x.Out.Slice(0, Side*Side*3-1) },
		"table":    func(x *Operands) { x.First.Taps++ },
		"begin":    func(x *Operands) { x.Second.Begin = -1 },
		"count":    func(x *Operands) { x.First.Count = 0 },
		"distance": func(x *Operands) { x.Along = 0 },
		"place":    func(x *Operands) { x.Right = 0 },
	} {
		x := p.operands(t, s)
		if change(&x); !errors.Is(Square(s, x), ErrShape) {
			t.Errorf("%s: the error is not ErrShape", name)
		}
	}
	if err := Square(s, p.operands(t, s)); err != nil {
		t.Error(err)
	}
}
