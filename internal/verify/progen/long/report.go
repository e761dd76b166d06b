package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// errDiffer is what a run ends with that found something.
var errDiffer = errors.New("kernels differ")

// batch is a line of the report.
type batch struct {
	mode string
	seed uint64
	span
	faulted, twins, onGPU, differ int
	seconds                       float64
}

const line = "%s seed %d kernels %d to %d: %d faulted, %d twins, %d on a GPU, %d differ, %f s\n"

func (b batch) String() string {
	text := strings.Replace(line, "%f", "%.1f", 1)
	return fmt.Sprintf(text, b.mode, b.seed, b.From, b.To, b.faulted, b.twins, b.onGPU, b.differ, b.seconds)
}

// parse reads a line of a report, and reports whether it is of a batch.
func parse(text string) (b batch, ok bool) {
	n, _ := fmt.Sscanf(text, line, &b.mode, &b.seed, &b.From, &b.To, &b.faulted, &b.twins, &b.onGPU, &b.differ, &b.seconds)
	return b, n == 9
}

// difference is the line of a kernel that differs: how, and what brings it back.
func (t task) difference(number int, how string) string {
	more := ""
	if t.Contracted {
		more += " -contract"
	}
	if t.Shape != "" {
		more += " -shape=" + t.Shape
	}
	if t.GPU != "" {
		more += " -gpu"
	}
	first, _, _ := strings.Cut(how, "\n")
	return fmt.Sprintf("DIFFERS %s seed %d kernel %d: %.300s: go test ./internal/verify/progen -run=TestRandomKernels -seed=%d -first=%d -kernels=1%s -shrink\n",
		t.mode(), t.Seed, number, first, t.Seed, number, more)
}

// read returns the batches of a report, and its lines of differences. A report that is not there is empty.
func read(name string) (list []batch, differences []string, err error) {
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil, nil
	}
	for l := range strings.Lines(string(text)) {
		if b, ok := parse(l); ok {
			list = append(list, b)
		} else if strings.HasPrefix(l, "DIFFERS ") {
			differences = append(differences, l)
		}
	}
	return list, differences, err
}

// missing returns the parts of all that are in no batch.
func missing(all span, list []batch) []span {
	list = slices.SortedFunc(slices.Values(list), func(a, b batch) int { return cmp.Compare(a.From, b.From) })
	var gaps []span
	for _, b := range list {
		if all.From < b.From {
			gaps = append(gaps, span{all.From, min(b.From, all.To)})
		}
		all.From = min(max(all.From, b.To), all.To)
	}
	if all.len() > 0 {
		gaps = append(gaps, all)
	}
	return slices.DeleteFunc(gaps, func(s span) bool { return s.len() <= 0 })
}

// total is what batches of one mode and seed come to.
type total struct {
	batch
	list []batch
}

// summary writes what reports say together.
func summary(w io.Writer, names []string) error {
	totals := map[string]*total{}
	var all []string
	for _, name := range names {
		list, differences, err := read(name)
		if err != nil {
			return err
		}
		all = append(all, differences...)
		for _, b := range list {
			key := fmt.Sprint(b.mode, b.seed)
			if totals[key] == nil {
				totals[key] = &total{batch: batch{mode: b.mode, seed: b.seed, span: b.span}}
			}
			totals[key].add(b)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(totals)) {
		fmt.Fprintln(w, totals[key].String())
	}
	slices.Sort(all)
	for _, l := range slices.Compact(all) {
		fmt.Fprint(w, l)
	}
	if len(all) > 0 {
		return errDiffer
	}
	return nil
}

func (t *total) add(b batch) {
	t.list = append(t.list, b)
	t.From, t.To = min(t.From, b.From), max(t.To, b.To)
	t.faulted, t.twins, t.onGPU, t.differ = t.faulted+b.faulted, t.twins+b.twins, t.onGPU+b.onGPU, t.differ+b.differ
	t.seconds += b.seconds
}

// String describes how many kernels there were, each once, and which between them are missing.
func (t *total) String() string {
	n, gaps := t.len(), missing(t.span, t.list)
	for _, g := range gaps {
		n -= g.len()
	}
	text := fmt.Sprintf("%s seed %d: %d kernels (%d to %d): %d faulted as they should, %d ran as twins, %d on a GPU, %d differ; %v of workers, %.3f s a kernel",
		t.mode, t.seed, n, t.From, t.To, t.faulted, t.twins, t.onGPU, t.differ, time.Duration(t.seconds*float64(time.Second)).Round(time.Second), t.seconds/float64(max(n, 1)))
	if len(gaps) > 0 {
		text += fmt.Sprintf("; missing: %d", gaps)
	}
	return text
}
