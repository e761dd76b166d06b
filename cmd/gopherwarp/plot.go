package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// The size and margins of a picture of losses.
const (
	plotWidth, plotHeight = 800, 480
	plotLeft, plotRight   = 60, 20
	plotTop, plotBottom   = 40, 50
)

// plotLosses draws the losses in a folder of finetune to a file.
func plotLosses(name, folder string) error {
	points, err := finetune.ReadLosses(filepath.Join(folder, "losses.csv"))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(drawLosses(points)), 0o666)
}

// drawLosses returns an SVG picture of losses over steps, from 0 to the greatest.
func drawLosses(points []finetune.Point) string {
	most, last := 1e-9, 1
	var losses, evals []finetune.Point
	for _, p := range points {
		last = max(last, p.Step)
		if !math.IsNaN(p.Loss) {
			most = max(most, p.Loss)
			losses = append(losses, p)
		}
		if !math.IsNaN(p.Eval) {
			most = max(most, p.Eval)
			evals = append(evals, finetune.Point{Step: p.Step, Loss: p.Eval})
		}
	}
	x := func(step int) float64 {
		return plotLeft + float64(plotWidth-plotLeft-plotRight)*float64(step)/float64(last)
	}
	y := func(loss float64) float64 {
		return plotHeight - plotBottom - float64(plotHeight-plotTop-plotBottom)*loss/most
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="14">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	const lines = 5
	for i := range lines + 1 {
		loss, step := most*float64(i)/lines, last*i/lines
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#d8d8d8"/><text x="%d" y="%.1f" text-anchor="end">%.2g</text>`+"\n", plotLeft, y(loss), plotWidth-plotRight, plotLeft-8, y(loss)+5, loss)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", x(step), plotHeight-plotBottom+20, step)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">step</text>`+"\n", plotWidth-plotRight, plotHeight-10)
	for i, c := range []struct {
		name, color string
		points      []finetune.Point
	}{{"loss", "#1f77b4", losses}, {"loss of -eval", "#ff7f0e", evals}} {
		if len(c.points) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="24" fill="%s">%s</text>`+"\n", plotLeft+20+100*i, c.color, c.name)
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" points="`, c.color)
		for _, p := range c.points {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(p.Step), y(p.Loss))
		}
		b.WriteString(`"/>` + "\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}
