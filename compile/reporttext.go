package compile

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteReports writes the reports to w as text, in lines of at most width characters unless a word is longer.
func WriteReports(w io.Writer, reports []*Report, width int) error {
	t := &reportText{w: bufio.NewWriter(w), width: max(width, 30)}
	for i, r := range reports {
		if i > 0 {
			t.line("", "")
		}
		t.report(r)
	}
	return t.w.Flush()
}

type reportText struct {
	w     *bufio.Writer
	width int
}

// line writes a heading and a text, whose further lines are indented.
func (t *reportText) line(heading, text string) {
	line, indent := heading, strings.Repeat(" ", 12)
	if text != "" {
		line = fmt.Sprintf("  %-10s", heading)
	}
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > t.width {
			fmt.Fprintln(t.w, line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	fmt.Fprintln(t.w, strings.TrimRight(line, " "))
}

func (t *reportText) report(r *Report) {
	v := r.Best()
	t.line(fmt.Sprintf("%s.%s %s:%d", r.Package, r.Kernel, r.File, r.Line), "")
	var names []string
	for _, v := range r.Variants {
		names = append(names, v.Name)
	}
	t.line("variants", strings.Join(names, "; "))
	t.line(v.Name+":", "")
	size := fmt.Sprintf("%d instructions, about %d registers", v.Instructions, v.Registers)
	if v.Local > 0 {
		size += fmt.Sprintf(", %d bytes of local memory", v.Local)
	}
	if v.Shared > 0 {
		size += fmt.Sprintf(", %d bytes of shared memory", v.Shared)
	}
	if v.Coarse > 0 {
		size += fmt.Sprintf(", %d elements per thread", v.Coarse)
	}
	t.line("code", size)
	t.line("loads", v.Loads.String())
	t.line("stores", v.Stores.String())
	t.loops(v)
	t.checks(r, v)
	t.line("CPU", r.CPU)
}

func (t *reportText) loops(v VariantReport) {
	t.line("loops", fmt.Sprintf("%d remaining", v.Loops))
	for _, n := range v.Notes {
		if n.What == "bounded" {
			continue // see checks
		}
		text := map[string]string{
			"unrolled":  fmt.Sprintf("fully unrolled, %d iterations", n.Rounds),
			"joined":    fmt.Sprintf("unrolled by %d", n.Rounds),
			"too large": fmt.Sprintf("not unrolled by %d, which would be too large", n.Rounds),
			"versioned": "versioned: a copy of the loop runs without checks",
		}[n.What]
		t.line("", n.Place+" "+text)
	}
}

func (t *reportText) checks(r *Report, v VariantReport) {
	t.line("checks", fmt.Sprintf("%d of %d remaining", len(v.Checks), r.Written))
	for _, n := range v.Notes {
		if n.What == "bounded" {
			t.line("", fmt.Sprintf("%s %d of them are skipped if a test at the start of the kernel passes", n.Place, n.Rounds))
		}
	}
	for _, c := range v.Checks {
		text := c.Place + " " + plain(c.Message)
		if c.Loop {
			text += " (in a loop)"
		}
		if c.Why != "" {
			text += ": " + c.Why
		}
		t.line("", text)
	}
}

// plain returns a fault's message without its values, which are known only at run time.
func plain(message string) string {
	if i := strings.IndexByte(message, '%'); i >= 0 {
		message = message[:i]
	}
	return strings.TrimRight(message, " [:")
}

// String returns "2 of 16 bytes, 3 single", or "none".
func (a Access) String() string {
	var words []string
	for _, n := range [...]struct {
		n    int
		what string
	}{{a.Wide, "of 16 bytes"}, {a.Half, "of up to 8 bytes"}, {a.Single, "single"}} {
		if n.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
