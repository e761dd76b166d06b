// Command long compares large numbers of random kernels: their results with the Go compiler, on the interpreter, and
// on a GPU.
//
//	go run ./internal/verify/progen/long -n 200000 -seed 7 -report report.txt
//	go run ./internal/verify/progen/long -n 20000 -seed 7 -gpu -contract -report gpu.txt
//
// The work is done by as many processes as there are processors. A line of the report is a batch of kernels; one that
// differs gets a line with the command that brings it back, and the run goes on. The same command goes on where
// an interrupted run, or one that came to its -limit, ended. Parts of a run may be done elsewhere:
//
//	long -n 200000 -seed 7 -part 2/3 -limit 8m -report 2.txt
//	long -sum 1.txt 2.txt 3.txt                   # what all of them say
//
// The exit code is 1 if a kernel differs, and 2 if the run failed.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

func main() {
	var r run
	var part string
	flag.Uint64Var(&r.Seed, "seed", 1, "of the kernels")
	flag.IntVar(&r.first, "first", 0, "number of the first kernel")
	flag.IntVar(&r.n, "n", 200000, "how many kernels")
	flag.StringVar(&part, "part", "1/1", "which part of them to run, of how many")
	flag.IntVar(&r.batch, "batch", 250, "kernels in one package")
	flag.IntVar(&r.jobs, "j", runtime.NumCPU(), "how many processes work at once")
	flag.DurationVar(&r.limit, "limit", 0, "start no batch after this time; 0 for none")
	flag.StringVar(&r.report, "report", "random.txt", "the report, which an interrupted run goes on with")
	flag.StringVar(&r.Root, "root", ".", "of the repository")
	flag.BoolVar(&r.Contracted, "contract", false, "let products and sums fuse; Go's own compiler does not, and its results count only where kernels compute bounds")
	flag.StringVar(&r.Shape, "shape", "", "run kernels of a shape: \"lanes\" of control flow, for vector code, \"mixed\", \"blocks\" of clusters, bulk copies and tensor cores, or \"fused\" of floats with bounds, for -contract")
	flag.BoolVar(&r.stop, "stop", false, "start no batch after the first kernel that differs")
	gpu := flag.Bool("gpu", false, "run the kernels on the first GPU, or on the device that GOPHERWARP_DEVICE selects, too")
	sum := flag.Bool("sum", false, "print what the reports say that are the arguments")
	worker := flag.Bool("worker", false, "work for another process of this program")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *worker:
		err = work(ctx, bufio.NewReader(os.Stdin), os.Stdout)
	case *sum:
		err = summary(os.Stdout, flag.Args())
	case progen.Shape(r.Shape) == nil:
		err = fmt.Errorf("no kernels have the shape %q", r.Shape)
	default:
		if err = r.part(part); err == nil {
			err = r.all(ctx, *gpu)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "long:", err)
		if errors.Is(err, errDiffer) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// run is what the flags ask for.
type run struct {
	task
	first, n, batch, jobs int
	limit                 time.Duration
	stop                  bool // at the first difference
	report                string
}

// part leaves of the run what a text such as "2/3" names.
func (r *run) part(text string) error {
	var i, of int
	if n, err := fmt.Sscanf(text, "%d/%d", &i, &of); n != 2 || err != nil || i < 1 || i > of {
		return fmt.Errorf("part %q is not one such as 2/3", text)
	}
	from, to := r.n*(i-1)/of, r.n*i/of
	r.first, r.n = r.first+from, to-from
	return nil
}
