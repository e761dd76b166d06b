package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// A report measures a model and writes tables.
type report struct {
	*model
	w       *tabwriter.Writer
	replays int
}

// rate returns bytes per time in TB/s.
func rate(bytes int, t time.Duration) float64 { return float64(bytes) / t.Seconds() / 1e12 }

// micro returns the microseconds of one of n kernels.
func micro(t time.Duration, n int) float64 { return t.Seconds() * 1e6 / float64(n) }

// timed is a form of a product and its time when kernels overlap.
type timed struct {
	matvec.Form
	took time.Duration
}

const finalists = 6

// search measures the products in all forms alone. Then it measures whole steps: with the presets, and, from the best one on, with
// the fastest forms of each product. It returns the best forms found.
func (r *report) search() (best [kinds]matvec.Form, err error) {
	r.header()
	var fastest [kinds][]timed
	for k := range kinds {
		if fastest[k], err = r.rank(k); err != nil {
			return best, err
		}
	}
	fmt.Fprintf(r.w, "\nsteps per second\tforms\toverlapping\tplain\t\n")
	var least time.Duration
	try := func(what string, forms [kinds]matvec.Form, f any) error {
		t, err := r.timeStep(forms)
		if err == nil && (least == 0 || t.overlapping < least) {
			least, best = t.overlapping, forms
		}
		fmt.Fprintf(r.w, "%s\t%v\t%.1f\t%.1f\t\n", what, f, 1/t.overlapping.Seconds(), 1/t.plain.Seconds())
		return err
	}
	for _, forms := range presets(r.stream.Device().Info().Cores) {
		if err := try("preset", forms, forms); err != nil {
			return best, err
		}
	}
	for k := range kinds {
		from := best
		for _, f := range fastest[k][:finalists] {
			from[k] = f.Form
			if err := try(kindNames[k], from, f.Form); err != nil {
				return best, err
			}
		}
	}
	fmt.Fprintf(r.w, "\nthe best forms: %v\n\n", best)
	return best, r.w.Flush()
}

// rank measures all forms of a product and returns them, the fastest first.
func (r *report) rank(k kind) (all []timed, err error) {
	old := r.forms
	defer func() { err = errors.Join(err, r.setForms(old)) }()
	for _, f := range candidates(r.stream.Device().Info().Cores) {
		forms := old
		forms[k] = f
		if err := r.setForms(forms); err != nil {
			return nil, err
		}
		p := r.product(k)
		t, err := r.time(p, max(1, r.replays/20))
		if err != nil {
			return nil, fmt.Errorf("%s, %+v: %w", p.name, f, err)
		}
		all = append(all, timed{f, t.overlapping})
		r.line(p, f, t)
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Compare(a.took, b.took) })
	return all, r.w.Flush()
}

// timeStep measures a step in other forms.
func (r *report) timeStep(forms [kinds]matvec.Form) (times, error) {
	if err := r.setForms(forms); err != nil {
		return times{}, err
	}
	return r.time(part{enqueue: r.step}, max(1, r.replays/10))
}

// header writes the header of the table that line continues.
func (r *report) header() {
	fmt.Fprintf(r.w, "us a kernel\tthreads\tblocks\toverlapping\tTB/s\tplain\tTB/s\t\n")
}

// line writes the times of a part.
func (r *report) line(p part, f matvec.Form, t times) {
	fmt.Fprintf(r.w, "%s\t%d\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t\n", p.name, f.Threads, f.Blocks,
		micro(t.overlapping, p.kernels), rate(p.bytes, t.overlapping), micro(t.plain, p.kernels), rate(p.bytes, t.plain))
}

// parts measures the kinds of kernels.
func (r *report) parts() error {
	r.header()
	all := r.rest()
	for k := range kinds {
		all = append(all, r.product(k))
	}
	for i, p := range all {
		t, err := r.time(p, max(1, r.replays/4))
		if err != nil {
			return err
		}
		var form matvec.Form
		if k := i - len(r.rest()); k >= 0 {
			form = r.forms[k]
		}
		r.line(p, form, t)
	}
	fmt.Fprintln(r.w)
	return r.w.Flush()
}

// steps measures whole steps, with attention as two kernels and as one.
func (r *report) steps(name string) error {
	defer func() { r.oneKernel = false }()
	fmt.Fprintf(r.w, "%s\tper second\tus\tTB/s\tplain: per second\tus\tTB/s\t\n", name)
	for _, r.oneKernel = range []bool{false, true} {
		t, err := r.time(part{enqueue: r.step}, r.replays)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.w, "%s\t", map[bool]string{false: "attend, join", true: "attention in one kernel"}[r.oneKernel])
		for _, took := range []time.Duration{t.overlapping, t.plain} {
			fmt.Fprintf(r.w, "%.1f\t%.1f\t%.2f\t", 1/took.Seconds(), micro(took, 1), rate(r.bytes(), took))
		}
		fmt.Fprintln(r.w)
	}
	fmt.Fprintln(r.w)
	return r.w.Flush()
}

// farthest is the largest distance of a step's results from the reference, relative to their length. It is that of about two
// roundings to bfloat16: after 32 layers, all numbers differ.
const farthest = 0.02

// check compares the results of all graphs of a step with the reference, whose products come from the simplest kernel.
func (r *report) check() error {
	want, err := r.expect(false)
	if err != nil {
		return err
	}
	defer func() { r.oneKernel = false }()
	for _, r.oneKernel = range []bool{false, true} {
		both, err := r.record(r.step)
		if err != nil {
			return err
		}
		for _, g := range []*device.Graph{both.overlapping, both.plain} {
			d, wrong := r.model.check(func() error { return g.Launch(r.stream) }, want)
			if wrong == nil && !(d.residual <= farthest && d.logits <= farthest) {
				wrong = fmt.Errorf("the results are far from the reference: %+v", d)
			}
			fmt.Fprintf(r.w, "distance from the reference\t%.5f\tlogits\t%.5f\t\n", d.residual, d.logits)
			err = errors.Join(err, wrong)
		}
		if err := errors.Join(err, both.Close()); err != nil {
			return errors.Join(err, r.w.Flush())
		}
	}
	fmt.Fprintln(r.w)
	return r.w.Flush()
}
