package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The size and margins of the picture.
const (
	width, height = 800, 440
	left, right   = 70, 30
	top, bottom   = 60, 60
	inside        = 24 // between the margins and the first and last point
)

// draw returns an SVG picture of rates, from 0 on, over the numbers of tokens, whose scale is logarithmic.
func draw(title string, points []point) string {
	first, last, most := math.Inf(1), 0.0, 0.0
	for _, p := range points {
		first, last, most = min(first, float64(p.prompt)), max(last, float64(p.prompt)), max(most, p.rate)
	}
	step := round(most / 5)
	most = max(step, step*math.Ceil(most/step))
	x := func(n int) float64 {
		if last == first {
			return left + inside
		}
		return left + inside + (width-left-right-2*inside)*math.Log(float64(n)/first)/math.Log(last/first)
	}
	y := func(rate float64) float64 { return height - bottom - (height-top-bottom)*rate/most }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="14" text-anchor="middle">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="30" font-size="17" text-anchor="start">Tokens per second: %s</text>`+"\n", left, html.EscapeString(title))
	for i := 0; float64(i)*step <= most+step/2; i++ {
		rate := float64(i) * step
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#d8d8d8"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n", left, y(rate), width-right, left-8, y(rate)+5, rate)
	}
	var line strings.Builder
	for _, p := range points {
		fmt.Fprintf(&line, "%.1f,%.1f ", x(p.prompt), y(p.rate))
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#1f77b4"/><text x="%.1f" y="%.1f">%d</text>`+"\n", x(p.prompt), y(p.rate), x(p.prompt), float64(height-bottom+22), p.prompt)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="#1f77b4" font-size="12">%.0f</text>`+"\n", x(p.prompt), y(p.rate)-10, p.rate)
	}
	fmt.Fprintf(&b, `<polyline fill="none" stroke="#1f77b4" stroke-width="2" points="%s"/>`+"\n", strings.TrimSpace(line.String()))
	fmt.Fprintf(&b, `<text x="%d" y="%d">tokens before the generated ones</text>`+"\n</svg>\n", (left+width-right)/2, height-14)
	return b.String()
}

// round returns the smallest of 1, 2 and 5 times a power of ten that is at least v.
func round(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(v, 1e-9))))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= v {
			return f * power
		}
	}
	return 10 * power
}
