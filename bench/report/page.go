package report

import (
	"io"
	"math"
	"slices"
)

// page is what the page shows. Lengths are in units of the drawings.
type page struct {
	*Report
	Summary  Summary // of all groups but stream
	Bars     []Bar   // those that were measured
	Groups   []chart
	Roofline *roofline // nil if no case has both bytes and operations
}

// chart shows the cases of a group as bars.
type chart struct {
	Group  string
	Height int
	Rows   []row
}

// row is a case with a bar for each contender.
type row struct {
	Name, Unit, Ratio string
	Y                 int // of its center
	Bars              []bar
}

type bar struct {
	By, Class, Figure string
	Y                 int
	Width             float64
}

// Lengths in a drawing.
const (
	barHeight  = 14
	rowGap     = 14
	longestBar = 420
)

// WritePage writes the report as an HTML page with charts: the bars, the speeds of all contenders
// by group, and a roofline. The page is one file that loads no other.
func (r *Report) WritePage(w io.Writer) error {
	p := page{Report: r, Summary: r.Summarize(func(c Result) bool { return c.Group != Stream }), Roofline: r.roofline()}
	for _, b := range r.Bars() {
		if b.Measured() {
			p.Bars = append(p.Bars, b)
		}
	}
	bandwidth := r.bandwidth()
	for _, group := range r.groups() {
		p.Groups = append(p.Groups, r.chart(group, bandwidth))
	}
	var d document
	d.page(p)
	_, err := io.WriteString(w, d.String())
	return err
}

// bandwidth returns the highest bandwidth of any measurement, in bytes per second.
func (r *Report) bandwidth() (most float64) {
	for _, c := range r.Results {
		for _, m := range c.Measurements {
			if m.Seconds > 0 {
				most = max(most, c.Bytes/m.Seconds)
			}
		}
	}
	return most
}

// groups returns the groups of the cases, in their order.
func (r *Report) groups() []string {
	var groups []string
	for _, c := range r.Results {
		if !slices.Contains(groups, c.Group) {
			groups = append(groups, c.Group)
		}
	}
	return groups
}

// chart draws the cases of a group. The bars of a case that is measured by its bandwidth are
// relative to the highest bandwidth of the report; those of other cases are relative to the fastest
// contender.
func (r *Report) chart(group string, bandwidth float64) chart {
	c := chart{Group: group}
	for _, result := range r.Results {
		if result.Group != group {
			continue
		}
		full := result.Bytes / bandwidth // seconds of the longest bar
		if result.Unit() != "GB/s" {
			full = result.fastestSeconds()
		}
		line := row{Name: result.Name, Unit: result.Unit()}
		if ratio, ok := result.Ratio(); ok {
			line.Ratio = ratioText(ratio, ok)
		}
		top := c.Height
		for _, m := range result.Measurements {
			if m.Seconds > 0 {
				line.Bars = append(line.Bars, bar{m.By, class(m.By), digits(result.In(m.Seconds)), c.Height, longestBar * full / m.Seconds})
				c.Height += barHeight
			}
		}
		line.Y = (top + c.Height) / 2
		c.Height += rowGap
		c.Rows = append(c.Rows, line)
	}
	return c
}

// fastestSeconds returns the time of the fastest contender.
func (r *Result) fastestSeconds() float64 {
	fastest := math.Inf(1)
	for _, m := range r.Measurements {
		if m.Seconds > 0 {
			fastest = min(fastest, m.Seconds)
		}
	}
	return fastest
}

// class returns the CSS class for a contender.
func class(by string) string {
	switch by {
	case Ours, Tuned, Literal, Best, Unchecked:
		return by
	default:
		return "peer"
	}
}
