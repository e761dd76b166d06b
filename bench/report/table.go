package report

import (
	"fmt"
	"io"
	"strings"
)

// lineWidth is the maximum length of a line in a table.
const lineWidth = 79

// WriteTable writes the report for a terminal. A line for each case has the speeds of the plain Go kernel and of the literal twin, and their ratio.
// Then it has the speeds of the tuned Go kernel and of the best twin, and the ratio of the faster Go kernel to the faster twin. Peers, means,
// launches, bars and skipped cases follow. A report of bench/public has a table of its programs instead.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	wrap(&b, "", r.Device)
	if r.Twins != "" {
		wrap(&b, "", "twins by "+r.Twins)
	}
	if len(r.Peers) > 0 {
		wrap(&b, "", "beside "+strings.Join(r.Peers, ", "))
	}
	if r.Public {
		r.programs(&b)
	} else {
		r.cases(&b)
		r.peers(&b)
		r.summaries(&b)
	}
	r.launches(&b)
	r.bars(&b)
	for _, s := range r.Skipped {
		wrap(&b, "", fmt.Sprintf("skipped %s: %s", s.What, s.Why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) cases(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-15s %5s %-7s %6s %8s %6s  %6s %7s %6s\n", "case", "size", "unit", "plain", Literal, "ratio", Tuned, Best, "ratio")
	for _, c := range r.Results {
		if c.By(Ours) == nil {
			continue
		}
		fmt.Fprintf(b, "%-15s %5s %-7s %6s %8s %6s  %6s %7s %6s\n", c.Name, sizeText(c.Size), c.Unit(),
			c.figure(c.By(Ours)), c.figure(c.By(Literal)), ratioText(c.LiteralRatio()),
			c.figure(c.By(Tuned)), c.figure(c.By(Best)), ratioText(c.Ratio()))
		c.errors(b)
	}
}

// errors writes why contenders of the case have no time.
func (r *Result) errors(b *strings.Builder) {
	for _, m := range r.Measurements {
		if m.Error != "" {
			wrap(b, "  ", m.By+": "+m.Error)
		}
	}
}

func ratioText(ratio float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", ratio)
}

// peers lists the measurements of all contenders other than twins, with our speed relative to
// theirs.
func (r *Report) peers(b *strings.Builder) {
	head := fmt.Sprintf("\n%-16s %5s %-7s %8s %8s %-17s %6s\n", "case", "size", "unit", "ours", "peer", "", "ratio")
	for _, c := range r.Results {
		for _, m := range c.Measurements {
			if m.By == Ours || m.By == Tuned || m.By == Literal || m.By == Best || m.Seconds == 0 {
				continue
			}
			ours := c.rival(m.By)
			fmt.Fprintf(b, "%s%-16s %5s %-7s %8s %8s %-17s %6s\n", head, c.Name, sizeText(c.Size), c.Unit(),
				c.figure(ours), c.figure(&m), m.By, ratioText(ratio(ours, &m)))
			head = ""
		}
	}
}

// rival returns the measurement of ours that is compared with a peer's: the faster one or, for the
// kernel without checks, the plain one.
func (r *Result) rival(by string) *Measurement {
	if by == Unchecked {
		return r.By(Ours)
	}
	return r.Fastest(Ours, Tuned)
}

// summaries writes the means over the suite.
func (r *Report) summaries(b *strings.Builder) {
	for _, s := range [...]struct {
		what    string
		include func(Result) bool
	}{
		{"all but stream", func(c Result) bool { return c.Group != Stream }},
		{"stream", func(c Result) bool { return c.Group == Stream }},
	} {
		if m := r.Summarize(s.include); m.Cases > 0 {
			fmt.Fprintf(b, "\n%s: geometric mean %.3f, worst %.3f (%s), of %d", s.what, m.Mean, m.Worst, m.WorstCase, m.Cases)
		}
	}
	if m := r.SummarizeChecks(); m.Cases > 0 {
		fmt.Fprintf(b, "\nchecks on against off: geometric mean %.3f, worst %.3f (%s), of %d", m.Mean, m.Worst, m.WorstCase, m.Cases)
	}
	b.WriteString("\n")
}

func (r *Report) launches(b *strings.Builder) {
	if len(r.Launches) == 0 {
		return
	}
	var costs []string
	for _, l := range r.Launches {
		costs = append(costs, fmt.Sprintf("%d: %.2f", l.Arguments, l.Micros()))
	}
	wrap(b, "", "us a launch, by the number of arguments: "+strings.Join(costs, ", "))
}

// bars lists the bars that were measured, and names the others.
func (r *Report) bars(b *strings.Builder) {
	head := fmt.Sprintf("\n%-39s %6s %s\n", "bar", "figure", "demand")
	var missing []string
	for _, bar := range r.Bars() {
		if !bar.Measured() {
			missing = append(missing, bar.What)
			continue
		}
		line := fmt.Sprintf("%-39s %6s %-7s %-7s %s", bar.What, digits(bar.Figure), bar.Demand(), bar.Verdict(), bar.Worst)
		fmt.Fprintf(b, "%s%s\n", head, strings.TrimRight(line, " "))
		head = ""
		if len(bar.Missing) > 0 {
			wrap(b, "  ", "not measured: "+strings.Join(bar.Missing, ", "))
		}
	}
	if len(missing) > 0 && head == "" {
		wrap(b, "", "not measured: "+strings.Join(missing, "; "))
	}
}

// wrap writes text in lines of at most lineWidth, each after the indent. Of a text with several
// lines, it writes the first.
func wrap(b *strings.Builder, indent, text string) {
	text, _, _ = strings.Cut(text, "\n")
	line := indent
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == indent:
			line += word
		case len(line)+1+len(word) <= lineWidth:
			line += " " + word
		default:
			b.WriteString(line + "\n")
			line = indent + "  " + word
		}
	}
	b.WriteString(line + "\n")
}
