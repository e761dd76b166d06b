package report

import (
	"fmt"
	"strconv"
	"strings"
)

// programs writes the table of bench/public: the times of our kernel and of the CUDA C++ kernel in
// milliseconds, our speed over that of CUDA C++, the registers of both, and the mean of the ratios.
func (r *Report) programs(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-22s %-13s %5s %8s %8s %6s %9s\n", "program", "suite", "size", "Go ms", "CUDA ms", "ratio", "registers")
	for _, c := range r.Results {
		ours, theirs := c.By(Ours), c.By(Literal)
		if ours == nil {
			continue
		}
		fmt.Fprintf(b, "%-22s %-13s %5s %8s %8s %6s %4s %4s\n", c.Name, c.Group, sizeText(c.Size),
			ours.millis(), theirs.millis(), ratioText(c.LiteralRatio()), ours.registers(), theirs.registers())
		c.errors(b)
	}
	if m := r.summarize(func(c Result) (float64, bool) { return c.LiteralRatio() }); m.Cases > 0 {
		fmt.Fprintf(b, "\ngeometric mean %.3f, worst %.3f (%s), of %d\n", m.Mean, m.Worst, m.WorstCase, m.Cases)
	}
}

// millis returns the time in milliseconds, or "-".
func (m *Measurement) millis() string {
	if m == nil {
		return "-"
	}
	return digits(m.Seconds * 1e3)
}

// registers returns the number of registers, or "-".
func (m *Measurement) registers() string {
	if m == nil || m.Registers == 0 {
		return "-"
	}
	return strconv.Itoa(m.Registers)
}
