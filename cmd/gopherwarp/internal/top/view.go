package top

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
)

// View draws a snapshot in a terminal of width columns and height lines. Where GPUs take too many
// lines each gets one.
func View(s Snapshot, width, height int) string {
	v := view{width: max(width, 20)}
	v.title(s)
	short := height > 0 && 4*len(s.GPUs)+6 > height
	for i, g := range s.GPUs {
		switch {
		case g.Err != nil:
			v.line(wrong, fmt.Sprintf("%2d  %s  %v", i, g.Name, g.Err))
		case short:
			v.brief(i, g)
		default:
			v.gpu(i, g)
		}
	}
	v.processes(s)
	lines := v.lines
	if height > 0 && len(lines) > height {
		lines = lines[:height]
	}
	return strings.Join(lines, "\n")
}

var (
	plain  ansi.Style
	strong = ansi.Style{}.Bold()
	faint  = ansi.Style{}.Faint()
	wrong  = ansi.Style{}.ForegroundColor(ansi.Red)
)

// view collects lines of at most width columns.
type view struct {
	width int
	lines []string
}

// line adds a line, cut to the width.
func (v *view) line(style ansi.Style, text string) {
	runes := []rune(strings.TrimRight(text, " "))
	if len(runes) > v.width {
		runes = append(runes[:v.width-1], '…')
	}
	v.lines = append(v.lines, style.Styled(string(runes)))
}

// sides adds a line with text at both ends; where there is no room for both, the left one counts.
func (v *view) sides(style ansi.Style, left, right string) {
	if gap := v.width - len([]rune(left)) - len([]rune(right)); gap > 1 {
		left += strings.Repeat(" ", gap) + right
	}
	v.line(style, left)
}

func (v *view) title(s Snapshot) {
	v.sides(strong, fmt.Sprintf("driver %s  CUDA %s  %s", s.Versions.Driver, s.Versions.CUDA, s.Time.Format("15:04:05")), "q quits, space pauses")
}

// gpu adds four lines.
func (v *view) gpu(i int, g GPU) {
	v.sides(strong, fmt.Sprintf("%2d  %s", i, g.Name), fmt.Sprintf("%s  %s MHz", g.Bus, whole(g.Clocks.SM)))
	bar := max(v.width-54, 4)
	v.line(plain, fmt.Sprintf("    busy    %s %4s %%%s", meter(g.Load.GPU, 100, bar), whole(g.Load.GPU), usage(g.Usage)))
	total, _ := g.Memory.Total.Get()
	v.line(plain, fmt.Sprintf("    memory  %s %s / %s GiB", meter(g.Memory.Used, total, bar), gibi(g.Memory.Used), gibi(g.Memory.Total)))
	details := fmt.Sprintf("    %s / %s W  %s °C  PCIe up %s down %s", whole(g.Power), whole(g.PowerLimit), whole(g.Temperature.GPU), rate(g.Traffic.Received), rate(g.Traffic.Sent))
	if held := g.Clocks.Held &^ 1; held != 0 { // an idle GPU holds nothing back
		details += "  held by " + strings.Join(held.Names(), ", ")
	}
	v.line(faint, details)
}

// brief adds one line.
func (v *view) brief(i int, g GPU) {
	total, _ := g.Memory.Total.Get()
	v.line(plain, fmt.Sprintf("%2d %s %3s %%  %s %s GiB  %s W %s °C", i, meter(g.Load.GPU, 100, 10), whole(g.Load.GPU),
		meter(g.Memory.Used, total, 10), gibi(g.Memory.Used), whole(g.Power), whole(g.Temperature.GPU)))
}

func (v *view) processes(s Snapshot) {
	v.line(plain, "")
	v.line(faint, "GPU      PID    memory  busy  program")
	none := true
	for i, g := range s.GPUs {
		for _, p := range g.Processes {
			none = false
			v.line(plain, fmt.Sprintf("%3d %8d %5s GiB %3s %%  %s", i, p.PID, gibi(p.Memory), whole(p.Load), p.Name))
		}
	}
	if none {
		v.line(plain, "no visible processes")
	}
}

// usage returns what is known of the units.
func usage(u nvml.Usage) string {
	text := ""
	for _, part := range []struct {
		name  string
		share nvml.Figure
	}{{"SM", u.SM}, {"tensor", u.Tensor}, {"memory", u.Memory}} {
		if _, ok := part.share.Get(); ok {
			text += fmt.Sprintf("  %s %s", part.name, whole(part.share))
		}
	}
	return text
}

// meter draws a share of most as a bar of n columns.
func meter(f nvml.Figure, most float64, n int) string {
	share, ok := f.Get()
	if !ok || most <= 0 {
		return strings.Repeat("·", n)
	}
	full := min(int(share/most*float64(n)+.5), n)
	return strings.Repeat("█", full) + strings.Repeat("░", n-full)
}

func whole(f nvml.Figure) string { return number(f, 1, "%.0f") }
func gibi(f nvml.Figure) string  { return number(f, 1.0/(1<<30), "%.1f") }

// rate returns bytes a second as "1.2 GB/s".
func rate(f nvml.Figure) string { return number(f, 1e-9, "%.1f GB/s") }

// number returns a scaled figure, or "-" where it is not known.
func number(f nvml.Figure, scale float64, format string) string {
	v, ok := f.Get()
	if !ok {
		return "-"
	}
	return fmt.Sprintf(format, v*scale)
}
