package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Change has the times of our faster kernel for a case in an earlier report and in the present one.
type Change struct {
	Name      string
	Then, Now float64 // seconds of our kernel
}

// Speed returns the present speed relative to the earlier one.
func (c Change) Speed() float64 { return c.Then / c.Now }

// Changes returns the changes since an earlier report, of the cases that both reports have in the
// same size.
func (r *Report) Changes(earlier *Report) []Change {
	var changes []Change
	for _, c := range r.Results {
		i := slices.IndexFunc(earlier.Results, func(e Result) bool { return e.Name == c.Name && e.Size == c.Size })
		if i < 0 {
			continue
		}
		if then, now := earlier.Results[i].Fastest(Ours, Tuned), c.Fastest(Ours, Tuned); then != nil && now != nil {
			changes = append(changes, Change{c.Name, then.Seconds, now.Seconds})
		}
	}
	return changes
}

// WriteChanges writes a table of the changes since an earlier report.
func (r *Report) WriteChanges(w io.Writer, earlier *Report) error {
	var b strings.Builder
	b.WriteString("\n")
	wrap(&b, "", fmt.Sprintf("since %s, %s:", earlier.Date.Format("2006-01-02 15:04"), earlier.Device))
	if r.Device != earlier.Device {
		wrap(&b, "", "the devices differ: not all changes are due to the program")
	}
	changes := r.Changes(earlier)
	if len(changes) == 0 {
		b.WriteString("no case in common\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	var logs float64
	fmt.Fprintf(&b, "%-16s %12s %12s %9s\n", "case", "then ms", "now ms", "speed")
	for _, c := range changes {
		fmt.Fprintf(&b, "%-16s %12s %12s %9.3f\n", c.Name, digits(c.Then*1e3), digits(c.Now*1e3), c.Speed())
		logs += math.Log(c.Speed())
	}
	fmt.Fprintf(&b, "geometric mean of the speed: %.3f\n", math.Exp(logs/float64(len(changes))))
	_, err := io.WriteString(w, b.String())
	return err
}
