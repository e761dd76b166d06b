// Compile measures the compiler. It compiles all kernels of a module, first without a cache, and
// then with a cache that has the results. It also compiles single kernels from IR to PTX, like a
// program that generates kernels at run time.
//
//	go run ./bench/compile                # of this repository, from its root
//	go run ./bench/compile -runs 1 ./...
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/pass"
)

func main() {
	runs := flag.Int("runs", 3, "number of runs of each measurement; the median counts")
	asJSON := flag.String("json", os.DevNull, "also write the results to this `file`, for gopherwarp bench -add")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	r := &report.Report{}
	err := run(context.Background(), os.Stdout, r, options{*runs, patterns})
	if err == nil {
		err = write(*asJSON, r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

type options struct {
	runs     int
	patterns []string
}

func write(name string, r *report.Report) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(r.WriteJSON(f), f.Close())
}

// note adds one of our times to the report.
func note(r *report.Report, name string, took time.Duration) {
	r.Results = append(r.Results, report.Result{
		Name: name, Group: "compile",
		Measurements: []report.Measurement{{By: report.Ours, Seconds: took.Seconds()}},
	})
}

func run(ctx context.Context, w io.Writer, r *report.Report, of options) error {
	runs, patterns := of.runs, of.patterns
	debug.SetGCPercent(300) // as in the command
	debug.SetMemoryLimit(3 << 29)
	dir, err := os.MkdirTemp("", "bench-compile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(w, "%d processors, %s\n", runtime.GOMAXPROCS(0), runtime.Version())
	o := compile.Options{Patterns: patterns, Cache: dir, Rebuild: true}
	kernels := 0
	cold, err := median(runs, func() error {
		r, err := build(ctx, o)
		for _, p := range r.Packages {
			kernels += len(p.Kernels)
		}
		return err
	})
	if err != nil {
		return err
	}
	note(r, report.CompileCold, cold)
	fmt.Fprintf(w, "%d kernels, nothing kept:      %8.2f s\n", kernels/runs, cold.Seconds())
	o.Rebuild = false
	warm, err := median(runs, func() error {
		r, err := build(ctx, o)
		r.Stale()
		return err
	})
	if err != nil {
		return err
	}
	note(r, report.CompileUnchanged, warm)
	fmt.Fprintf(w, "nothing changed:              %8.2f s\n", warm.Seconds())
	return single(ctx, w, r, of)
}

// build compiles, and returns an error for diagnostics too.
func build(ctx context.Context, o compile.Options) (*compile.Result, error) {
	r, err := compile.Build(ctx, o)
	if err != nil {
		return &compile.Result{}, err
	}
	return r, r.Diagnostics.Err()
}

// single measures each kernel alone, from the frontend's IR to PTX.
func single(ctx context.Context, w io.Writer, r *report.Report, of options) error {
	var kernels []*ir.Func
	_, err := build(ctx, compile.Options{Patterns: of.patterns, Twins: compile.TwinsNone, Trace: func(pass string, f *ir.Func) {
		if pass == "" {
			kernels = append(kernels, f.Clone())
		}
	}})
	if err != nil {
		return err
	}
	if len(kernels) == 0 {
		return errors.New("there are no kernels")
	}
	type timed struct {
		name string
		took time.Duration
	}
	var all []timed
	for _, k := range kernels {
		took, err := median(of.runs, func() error { return emit(k) })
		if err != nil {
			return err
		}
		all = append(all, timed{k.Name, took})
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Compare(a.took, b.took) })
	ms := func(t timed) float64 { return t.took.Seconds() * 1e3 }
	within := 0
	for _, t := range all {
		if t.took <= 5*time.Millisecond {
			within++
		}
	}
	note(r, report.CompileKernel, all[len(all)/2].took)
	mid, most, last := all[len(all)/2], all[len(all)*95/100], all[len(all)-1]
	fmt.Fprintf(w, "one kernel from IR to PTX:    %8.2f ms in the median, %d of %d in 5 ms, %.1f ms for 95 of 100, %.1f ms for %s\n",
		ms(mid), within, len(all), ms(most), ms(last), last.name)
	return nil
}

// emit compiles a kernel for launches that meet all assumptions of variants.
func emit(k *ir.Func) error {
	f, err := pass.Compile(k, pass.Options{Contract: true, Wide: true, Narrow: true, Coarse: true, Aligned: true, Compact: true})
	if err != nil {
		return err
	}
	_, err = ptx.Emit(f, ptx.Options{})
	return err
}

// median returns the median time of f.
func median(runs int, f func() error) (time.Duration, error) {
	var all []time.Duration
	for range runs {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
