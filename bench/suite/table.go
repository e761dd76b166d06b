package suite

import (
	"fmt"
	"io"
	"strings"
)

// lineWidth is how long the lines of a table are at most.
const lineWidth = 79

// WriteTable writes the report for a terminal: a line for each case, with the speeds of our plain
// kernel, of the literal twin and their ratio, then those of our tuned kernel, of the best twin and
// the ratio of the faster of ours to the faster of the twins; then peers, means, launches and what was
// skipped.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	wrap(&b, "", r.Device)
	if r.Twins != "" {
		wrap(&b, "", "twins by "+r.Twins)
	}
	r.cases(&b)
	r.peers(&b)
	r.summaries(&b)
	r.launches(&b)
	for _, s := range r.Skipped {
		wrap(&b, "", fmt.Sprintf("skipped %s: %s", s.What, s.Why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) cases(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-15s %5s %-7s %6s %8s %6s  %6s %7s %6s\n", "case", "size", "unit", "plain", Literal, "ratio", Tuned, Best, "ratio")
	for _, c := range r.Results {
		if c.by(Ours) == nil {
			continue
		}
		fmt.Fprintf(b, "%-15s %5s %-7s %6s %8s %6s  %6s %7s %6s\n", c.Name, sizeText(c.Size), c.Unit(),
			c.figure(c.by(Ours)), c.figure(c.by(Literal)), ratioText(c.LiteralRatio()),
			c.figure(c.by(Tuned)), c.figure(c.by(Best)), ratioText(c.Ratio()))
		for _, m := range c.Measurements {
			if m.Error != "" {
				wrap(b, "  ", m.By+": "+m.Error)
			}
		}
	}
}

func ratioText(ratio float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.3f", ratio)
}

// peers lists what joined reports have measured, with our speed over theirs.
func (r *Report) peers(b *strings.Builder) {
	head := fmt.Sprintf("\n%-16s %7s  %-7s %9s %-22s %7s\n", "case", "size", "unit", "peer", "", "ratio")
	for _, c := range r.Results {
		for _, m := range c.Measurements {
			if m.By == Ours || m.By == Tuned || m.By == Literal || m.By == Best || m.Seconds == 0 {
				continue
			}
			ours, ratio := c.fastest(Ours, Tuned), "-"
			if ours != nil {
				ratio = ratioText(m.Seconds/ours.Seconds, true)
			}
			fmt.Fprintf(b, "%s%-16s %7s  %-7s %9s %-22s %7s\n", head, c.Name, sizeText(c.Size), c.Unit(), c.figure(&m), m.By, ratio)
			head = ""
		}
	}
}

// summaries writes the means that the suite is judged by.
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

// wrap writes text in lines that are not longer than lineWidth, each after the indent. Of a text
// of several lines it takes the first.
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
