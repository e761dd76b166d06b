package report

import (
	"fmt"
	"math"
	"slices"
)

// roofline draws cases by operations per byte (horizontally) and operations per second
// (vertically), both on logarithmic scales, below the roofs that the same run has reached.
type roofline struct {
	Bandwidth string // of the slanted roof
	Slope     [4]float64
	Ceilings  []ceiling
	Points    []point
	Across    []tick
	Up        []tick
}

// ceiling is the highest rate that was reached with one kind of arithmetic.
type ceiling struct {
	Label, Rate string
	X, Y, W     float64
}

// point is a case. Its label is at TX, TY.
type point struct {
	Name, Label string
	X, Y        float64
	TX, TY      float64
}

// tick is a mark on an axis.
type tick struct {
	Label string
	At    float64
}

// The drawing: horizontally, logarithms to base 2; vertically, to base 10.
const (
	drawingWidth, drawingHeight = 640, 340
	firstIntensity, intensities = -4, 20
	firstRate, rates            = 10, 5.5
)

func across(intensity float64) float64 {
	return drawingWidth * (math.Log2(intensity) - firstIntensity) / intensities
}

func up(rate float64) float64 {
	return drawingHeight * (1 - (math.Log10(rate)-firstRate)/rates)
}

// roofline returns the drawing, or nil if no case has both bytes and operations.
func (r *Report) roofline() *roofline {
	f := &roofline{}
	bandwidth, peak := 0.0, 0.0
	for _, c := range r.Results {
		m := c.Fastest(Ours, Tuned)
		if m == nil || c.Bytes == 0 {
			continue
		}
		bandwidth = max(bandwidth, c.Bytes/m.Seconds)
		if c.Flops == 0 {
			continue
		}
		rate, intensity := c.Flops/m.Seconds, c.Flops/c.Bytes
		peak = max(peak, rate)
		label := fmt.Sprintf("%s: %.3g operations per byte, %s TFLOP/s", c.Name, intensity, digits(rate/1e12))
		f.Points = append(f.Points, point{Name: c.Name, Label: label, X: across(intensity), Y: up(rate)})
	}
	if len(f.Points) == 0 {
		return nil
	}
	f.Bandwidth = digits(bandwidth/1e9) + " GB/s"
	start := max(math.Exp2(firstIntensity), math.Pow(10, firstRate)/bandwidth)
	f.Slope = [4]float64{across(start), up(start * bandwidth), across(peak / bandwidth), up(peak)}
	f.ceilings(r, bandwidth)
	f.ticks()
	f.place()
	return f
}

// ceilings draws the rates of the matrix products, which only arithmetic limits.
func (f *roofline) ceilings(r *Report, bandwidth float64) {
	for _, of := range [...]struct{ name, label string }{
		{"product-f32", "float32"}, {"product-bf16", "bfloat16"}, {"product-fp8", "8-bit floats"},
	} {
		c := r.Case(of.name)
		if c == nil || c.Fastest(Ours, Tuned) == nil {
			continue
		}
		rate := c.Flops / c.Fastest(Ours, Tuned).Seconds
		x := across(rate / bandwidth)
		f.Ceilings = append(f.Ceilings, ceiling{of.label, digits(rate/1e12) + " TFLOP/s", x, up(rate), drawingWidth - x})
	}
}

// ticks marks the axes.
func (f *roofline) ticks() {
	for i := firstIntensity + 1; i < firstIntensity+intensities; i += 3 {
		label := fmt.Sprint(math.Exp2(float64(i)))
		if i < 0 {
			label = fmt.Sprintf("1/%v", math.Exp2(float64(-i)))
		}
		f.Across = append(f.Across, tick{label, across(math.Exp2(float64(i)))})
	}
	for i, label := range []string{"10 GFLOP/s", "100 GFLOP/s", "1 TFLOP/s", "10 TFLOP/s", "100 TFLOP/s", "1000 TFLOP/s"} {
		f.Up = append(f.Up, tick{label, up(math.Pow10(firstRate + i))})
	}
}

// Approximate sizes of the points' labels.
const (
	letterWidth = 6.2
	lineHeight  = 11
)

// place finds a place for each point's label, near the point, that overlaps neither another label
// nor a point.
func (f *roofline) place() {
	type box struct{ left, right, middle float64 }
	var taken []box
	for _, p := range f.Points {
		taken = append(taken, box{p.X - 5, p.X + 5, p.Y})
	}
	for _, c := range f.Ceilings { // their labels end at the right edge, above the line
		taken = append(taken, box{drawingWidth - letterWidth*float64(len(c.Label)), drawingWidth, c.Y - 5})
	}
	for i := range f.Points {
		p := &f.Points[i]
		width := letterWidth * float64(len(p.Name))
		free := func(b box) bool {
			return !slices.ContainsFunc(taken, func(t box) bool {
				return b.left < t.right && t.left < b.right && math.Abs(b.middle-t.middle) < lineHeight
			})
		}
		at := box{p.X + 8, p.X + 8 + width, p.Y}
		for step := 1; step < 12 && !free(at); step++ {
			shift := float64((step + 1) / 2 * lineHeight)
			if step%2 == 0 {
				shift = -shift
			}
			at.middle = p.Y + shift
		}
		taken = append(taken, at)
		p.TX, p.TY = at.left, at.middle
	}
}
