// Command long compares very many random kernels with what Go's own compiler makes of them.
//
//	go run ./internal/progen/long -n 200000 -seed 7 -report report.txt
//
// A line of the report is a batch of kernels. A run that was interrupted goes on where its report
// ends. Kernels that differ are written below the line of their batch; one of them is
// brought back by go test ./internal/progen -seed=7 -first=NUMBER -kernels=1 -shrink.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
)

// run is what the flags ask for.
type run struct {
	seed       uint64
	n, batch   int
	report     string
	pack       string
	contracted bool
}

func main() {
	var r run
	flag.Uint64Var(&r.seed, "seed", 1, "of the kernels")
	flag.IntVar(&r.n, "n", 200000, "how many kernels")
	flag.IntVar(&r.batch, "batch", 250, "kernels in one package")
	flag.StringVar(&r.report, "report", "random.txt", "the report, which an interrupted run goes on with")
	flag.StringVar(&r.pack, "pack", "", "a file that trials for a machine without a compiler are added to (see internal/progen/replay)")
	flag.BoolVar(&r.contracted, "contract", false, "let products and sums fuse, and compare the code for all launches with that for small ones")
	flag.Parse()
	debug.SetGCPercent(400)
	if err := r.all(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// all runs the batches that the report does not have.
func (r run) all(ctx context.Context) error {
	c, err := compare.New(".", compare.Options{Contracted: r.contracted})
	if err != nil {
		return err
	}
	defer c.Close()
	from, err := r.done()
	if err != nil {
		return err
	}
	for ; from < r.n; from += r.batch {
		if err := r.kernels(ctx, c, from, min(from+r.batch, r.n)); err != nil {
			return err
		}
	}
	return nil
}

// line is a batch in the report.
const line = "seed %d kernels %d to %d: %d faulted, %d differ, %.1f s\n"

// done returns where the report ends.
func (r run) done() (next int, err error) {
	text, err := os.ReadFile(r.report)
	if os.IsNotExist(err) {
		return 0, nil
	}
	for l := range strings.Lines(string(text)) {
		var seed uint64
		var from, to int
		if n, _ := fmt.Sscanf(l, "seed %d kernels %d to %d:", &seed, &from, &to); n == 3 && seed == r.seed {
			next = max(next, to)
		}
	}
	return next, err
}

// kernels runs a batch.
func (r run) kernels(ctx context.Context, c *compare.Comparer, from, to int) error {
	start := time.Now()
	var list []progen.Kernel
	for i := from; i < to; i++ {
		list = append(list, progen.New(r.seed, i))
	}
	report, err := c.Kernels(ctx, list)
	if err != nil {
		return fmt.Errorf("kernels %d to %d: %w", from, to, err)
	}
	var wrong strings.Builder
	differ := 0
	var packed []trial.Packed
	for i, how := range report.Wrong {
		if how != "" {
			differ++
			fmt.Fprintf(&wrong, "%s: %s\n", list[i].Name, how)
		} else {
			packed = append(packed, report.Trials[i].Pack(device.Capability{Major: 9}, report.Results[i]))
		}
	}
	if r.pack != "" {
		if err := add(r.pack, func(b *bytes.Buffer) error { return trial.WritePack(b, packed) }); err != nil {
			return err
		}
	}
	return add(r.report, func(b *bytes.Buffer) error {
		_, err := fmt.Fprintf(b, line+"%s", r.seed, from, to, report.Faulted, differ, time.Since(start).Seconds(), wrong.String())
		return err
	})
}

// add writes to the end of a file.
func add(name string, write func(b *bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Clean(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(b.Bytes())
	return err
}
