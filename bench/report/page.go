package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
)

//go:embed page.html
var pageSource string

// page is what the template shows. Lengths are in units of the drawings.
type page struct {
	*Report
	Summary  Summary // without stream
	Groups   []chart
	Roofline *roofline // nil where no case has both bytes and operations
}

// chart has the cases of a group as bars.
type chart struct {
	Group  string
	Height int
	Rows   []row
}

// row is a case with a bar for each contender.
type row struct {
	Name, Unit, Ratio string
	Y                 int // of its middle
	Bars              []bar
}

type bar struct {
	By, Class, Figure string
	Y                 int
	Width             float64
}

// Lengths of a drawing.
const (
	barHeight  = 14
	rowGap     = 14
	longestBar = 420
)

// WritePage writes the report as an HTML page with charts: the speeds of all contenders by
// groups, and a roofline. It is one file that loads nothing.
func (r *Report) WritePage(w io.Writer) error {
	t, err := template.New("page").Parse(pageSource)
	if err != nil {
		return fmt.Errorf("BUG: bench: page: %w", err)
	}
	p := page{Report: r, Summary: r.Summarize(func(c Result) bool { return c.Group != Stream }), Roofline: r.roofline()}
	for _, group := range r.groups() {
		p.Groups = append(p.Groups, r.chart(group))
	}
	return t.Execute(w, p)
}

// groups returns the groups of the cases in their order.
func (r *Report) groups() []string {
	var groups []string
	seen := map[string]bool{}
	for _, c := range r.Results {
		if !seen[c.Group] {
			seen[c.Group] = true
			groups = append(groups, c.Group)
		}
	}
	return groups
}

// chart draws the cases of a group. In a case the longest bar is that of the fastest.
func (r *Report) chart(group string) chart {
	c := chart{Group: group}
	for _, result := range r.Results {
		if result.Group != group {
			continue
		}
		line := row{Name: result.Name, Unit: result.Unit(), Ratio: ratioText(result.Ratio())}
		fastest := math.Inf(1)
		for _, m := range result.Measurements {
			if m.Seconds > 0 {
				fastest = min(fastest, m.Seconds)
			}
		}
		top := c.Height
		for _, m := range result.Measurements {
			if m.Seconds > 0 {
				line.Bars = append(line.Bars, bar{m.By, class(m.By), digits(result.In(m.Seconds)), c.Height, longestBar * fastest / m.Seconds})
				c.Height += barHeight
			}
		}
		line.Y = (top + c.Height) / 2
		c.Height += rowGap
		c.Rows = append(c.Rows, line)
	}
	return c
}

// class returns the class of style for who measured.
func class(by string) string {
	switch by {
	case Ours, Tuned, Literal, Best:
		return by
	default:
		return "peer"
	}
}

// roofline draws cases by operations a byte (across) and operations a second (up), both in
// logarithms, below the two roofs that this very run has reached.
type roofline struct {
	Ridge, Top, Left float64 // corners of the roof
	Bandwidth, Peak  string
	Points           []point
}

type point struct {
	Name, Label string
	X, Y        float64
}

// The roofline's axes: 600 x 320 for 2^-4 to 2^14 operations a byte and six powers of ten
// below 10^15 a second.
func across(intensity float64) float64 { return 600 * (math.Log2(intensity) + 4) / 18 }

func up(rate float64) float64 { return 320 * (15 - math.Log10(rate)) / 6 }

func (r *Report) roofline() *roofline {
	var bandwidth, peak float64
	f := &roofline{}
	for _, c := range r.Results {
		m := c.Fastest(Ours, Tuned)
		if m == nil || c.Bytes == 0 {
			continue
		}
		bandwidth = max(bandwidth, c.Bytes/m.Seconds)
		if c.Flops == 0 {
			continue
		}
		peak = max(peak, c.Flops/m.Seconds)
		label := fmt.Sprintf("%s: %.3g operations a byte, %s TFLOP/s", c.Name, c.Flops/c.Bytes, digits(c.Flops/m.Seconds/1e12))
		f.Points = append(f.Points, point{c.Name, label, across(c.Flops / c.Bytes), up(c.Flops / m.Seconds)})
	}
	if len(f.Points) == 0 {
		return nil
	}
	f.Ridge, f.Top, f.Left = across(peak/bandwidth), up(peak), up(bandwidth/16)
	f.Bandwidth, f.Peak = digits(bandwidth/1e9)+" GB/s", digits(peak/1e12)+" TFLOP/s"
	return f
}
