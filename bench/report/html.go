package report

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
)

// head is the beginning of the page: the title and the styles.
//
//go:embed head.html
var head string

// document is a page of HTML. It is written without a template because html/template would add half a megabyte to the command.
type document struct{ strings.Builder }

// add appends HTML with arguments, as fmt.Sprintf does. Strings among the arguments are escaped, for text and for quoted attributes.
func (d *document) add(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = html.EscapeString(s)
		}
	}
	fmt.Fprintf(d, format, args...)
}

// page appends the whole page.
func (d *document) page(p page) {
	d.WriteString(head)
	d.title(p)
	if len(p.Bars) > 0 {
		d.bars(p.Bars)
	}
	if len(p.Groups) > 0 {
		d.add("<p>In the charts, all bars in GB/s have the same scale, up to the highest bandwidth of the run. " +
			"In other cases, the longest bar is the fastest.\nThe number on the right is our speed relative to the faster CUDA twin. " +
			"<i>literal</i> and <i>best</i> are the twins, <i>tuned</i> is our kernel\nas an expert writes it, and <i>unchecked</i> is " +
			"our kernel without checks of indices.</p>\n")
	}
	for _, c := range p.Groups {
		d.chart(c)
	}
	if p.Roofline != nil {
		d.roofline(p.Roofline)
	}
	d.rest(p.Report)
	d.add("</html>\n")
}

// title appends the facts of the run and the summary.
func (d *document) title(p page) {
	d.add("<h1>gopherwarp bench</h1>\n<p>%s", p.Device)
	if p.Driver != "" {
		d.add(", driver %s", p.Driver)
	}
	d.add("<br>\n%s UTC", p.Date.Format("2006-01-02 15:04"))
	if p.Commit != "" {
		d.add(", commit %s", p.Commit)
	}
	if p.Quick {
		d.add(", a quick run")
	}
	if p.Twins != "" {
		d.add("<br>\nCUDA C++ twins: %s", p.Twins)
	} else {
		d.add("<br>\nno CUDA C++ twins")
	}
	if len(p.Peers) > 0 {
		d.add("<br>\nbeside %s", strings.Join(p.Peers, ", "))
	}
	d.add("</p>\n")
	if s := p.Summary; s.Cases > 0 {
		d.add("<p>Speed against the faster twin, without stream: geometric mean <b>%.3f</b>,\nworst <b>%.3f</b> (%s), of %d cases.</p>\n",
			s.Mean, s.Worst, s.WorstCase, s.Cases)
	}
}

// bars appends the table of the bars.
func (d *document) bars(bars []Bar) {
	d.add("<h2>Bars</h2>\n<p>The project's requirements on itself: a time, or our speed relative to the peer after the colon.</p>\n" +
		`<div class="wide"><table><tr><th>bar</th><th>figure</th><th>demand</th><th class="left"></th><th class="left">worst case</th></tr>` + "\n")
	for _, b := range bars {
		d.add(`<tr><td>%s</td><td>%s</td><td>%s</td><td class="left %s">%s</td><td class="left">%s</td></tr>`+"\n",
			b.What, digits(b.Figure), b.Demand(), b.Verdict(), b.Verdict(), b.Worst)
	}
	d.add("</table></div>\n")
}

// chart appends the drawing of a group.
func (d *document) chart(c chart) {
	d.add("<h2>%s</h2>\n"+`<svg viewBox="0 0 780 %d" role="img" aria-label="%s">`+"\n", c.Group, c.Height, c.Group)
	for _, r := range c.Rows {
		d.add(`<text x="0" y="%d" dominant-baseline="middle">%s, %s</text>`+"\n", r.Y, r.Name, r.Unit)
		for _, b := range r.Bars {
			d.add(`<rect class="%s" x="165" y="%d" width="%.1f" height="12"><title>%s: %s</title></rect>`+"\n", b.Class, b.Y, b.Width, b.By, b.Figure)
			d.add(`<text x="%.1f" dx="171" y="%d" dy="10">%s %s</text>`+"\n", b.Width, b.Y, b.Figure, b.By)
		}
		d.add(`<text x="775" y="%d" dominant-baseline="middle" text-anchor="end">%s</text>`+"\n", r.Y, r.Ratio)
	}
	d.add("</svg>\n")
}

// roofline appends the drawing of the roofs and the points below them.
func (d *document) roofline(f *roofline) {
	d.add("<h2>Roofline</h2>\n<p>Our faster kernel of each case, by operations per byte (horizontal) and operations per second (vertical), "+
		"on logarithmic scales. The roofs are the highest rates\nof this run: %s", f.Bandwidth)
	for _, c := range f.Ceilings {
		d.add("; %s in %s", c.Rate, c.Label)
	}
	d.add(`.</p>` + "\n" + `<svg viewBox="-80 -12 800 385" role="img" aria-label="roofline">` + "\n")
	for _, t := range f.Across {
		d.add(`<path class="axis" d="M%.1f 0V340"/><text x="%.1f" y="356" text-anchor="middle">%s</text>`+"\n", t.At, t.At, t.Label)
	}
	for _, t := range f.Up {
		d.add(`<path class="axis" d="M0 %.1fH640"/><text x="-6" y="%.1f" dy="4" text-anchor="end">%s</text>`+"\n", t.At, t.At, t.Label)
	}
	d.add(`<text x="640" y="370" text-anchor="end">operations per byte</text>` + "\n")
	d.add(`<path class="roof" d="M%.1f %.1f %.1f %.1f"/>`+"\n", f.Slope[0], f.Slope[1], f.Slope[2], f.Slope[3])
	for _, c := range f.Ceilings {
		d.add(`<path class="roof ceiling" d="M%.1f %.1fh%.1f"/><text x="640" y="%.1f" dy="-4" text-anchor="end">%s</text>`+"\n", c.X, c.Y, c.W, c.Y, c.Label)
	}
	for _, p := range f.Points {
		d.add(`<circle class="gopherwarp" cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>`+"\n", p.X, p.Y, p.Label)
		d.add(`<text x="%.1f" y="%.1f" dy="4">%s</text>`+"\n", p.TX, p.TY, p.Name)
	}
	d.add("</svg>\n")
}

// rest appends the launches and what was not measured.
func (d *document) rest(r *Report) {
	if len(r.Launches) > 0 {
		d.add("<h2>Launches</h2>\n<table><tr><th>arguments</th><th>us</th></tr>\n")
		for _, l := range r.Launches {
			d.add("<tr><td>%d</td><td>%.2f</td></tr>\n", l.Arguments, l.Micros())
		}
		d.add("</table>\n")
	}
	if len(r.Skipped) > 0 {
		d.add("<h2>Skipped</h2>\n<ul>")
		for _, s := range r.Skipped {
			d.add("<li>%s: %s</li>", s.What, s.Why)
		}
		d.add("</ul>\n")
	}
}
