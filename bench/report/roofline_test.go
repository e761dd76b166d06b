package report

import (
	"math"
	"strings"
	"testing"
)

// crowded returns a report whose cases are close together in the roofline, two of them at the same
// point.
func crowded() *Report {
	r := &Report{}
	add := func(name string, bytes, flops, seconds float64) {
		r.Results = append(r.Results, Result{Name: name, Group: "dense", Bytes: bytes, Flops: flops, Measurements: []Measurement{{By: Ours, Seconds: seconds}}})
	}
	add("product-f32", 2e8, 1.4e11, 0.003)
	add("product-bf16", 4e8, 1.1e12, 0.0014)
	add("product-bf16-4k", 1e8, 1.4e11, 0.00018)
	add("product-fp8", 2.7e8, 1.1e12, 0.00072)
	add("sgemm32", 2e8, 1.4e11, 0.0044)
	add("sgemm64", 2e8, 1.4e11, 0.0031)
	add("another", 2e8, 1.4e11, 0.0031)
	add("stream", 4e9, 0, 0.001)
	add("n-body", 3e6, 8.6e10, 0.003)
	return r
}

func TestRoofline(t *testing.T) {
	f := crowded().roofline()
	if f.Bandwidth != "4000 GB/s" || len(f.Points) != 8 || len(f.Ceilings) != 3 || f.Ceilings[1].Rate != "786 TFLOP/s" {
		t.Errorf("the roofline has %s, %d points, ceilings %+v", f.Bandwidth, len(f.Points), f.Ceilings)
	}
	for i, p := range f.Points {
		right := p.TX + letterWidth*float64(len(p.Name))
		if p.X < 0 || p.Y < 0 || p.Y > drawingHeight || right > drawingWidth+80 || p.TY < -8 {
			t.Errorf("%s at %.0f, %.0f, its text from %.0f to %.0f at %.0f, is not in the drawing", p.Name, p.X, p.Y, p.TX, right, p.TY)
		}
		for _, q := range f.Points[:i] {
			if p.TX < q.TX+letterWidth*float64(len(q.Name)) && q.TX < right && math.Abs(p.TY-q.TY) < lineHeight {
				t.Errorf("the texts of %s and %s overlap", p.Name, q.Name)
			}
		}
	}
	if (&Report{}).roofline() != nil {
		t.Error("an empty report has a roofline")
	}
}

// TestChart checks that all bandwidths are drawn to one scale.
func TestChart(t *testing.T) {
	r := &Report{Results: []Result{
		{Name: "a", Group: "g", Bytes: 4e9, Measurements: []Measurement{{By: Ours, Seconds: 0.001}, {By: "torch", Seconds: 0.002}}},
		{Name: "b", Group: "g", Bytes: 1e9, Measurements: []Measurement{{By: Ours, Seconds: 0.001}}},
		{Name: "c", Group: "g", Measurements: []Measurement{{By: Ours, Seconds: 0.003}, {By: Unchecked, Seconds: 0.0015}}},
	}}
	var got []string
	for _, row := range r.chart("g", r.bandwidth()).Rows {
		for _, b := range row.Bars {
			got = append(got, b.Class+" "+digits(b.Width))
		}
	}
	if want := "gopherwarp 420, peer 210, gopherwarp 105, gopherwarp 210, unchecked 420"; strings.Join(got, ", ") != want {
		t.Errorf("the bars are %q, want %s", got, want)
	}
}
