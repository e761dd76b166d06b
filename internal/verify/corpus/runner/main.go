// Command runner compiles and runs kernels of package corpus, and reports which are right, refused, or wrong.
//
//	go run ./internal/verify/corpus/runner -n 3000 -seed 1 -report report.md
//	go run ./internal/verify/corpus/runner -seed 1 -only 123 // one kernel of that sample, with its source
//
// A kernel is right if native execution by Go's own compiler, the twin with and without vector code, coroutines,
// goroutines and the interpreter leave the same bits, or fault in the same threads at the same lines. It is refused if
// the compiler reports a position, a sentence, and a code of the catalogue that is about kernel code. It is endless if native
// execution exceeds its time limit, and invalid if Go's own compiler or linker refuses it; neither says anything about this
// compiler. Everything else is wrong: a different result, an
// internal error, an error of the Go compiler in a twin, a kernel that takes longer than the limit elsewhere.
//
// The work is done by processes of this program, in batches. If one ends or exceeds its limit, the halves of its batch are
// tried. Results are also written to the file -log, and a run with the same log, commit and seed goes on where the last one
// ended. The exit code is 1 if a kernel is wrong, and 2 if the run failed.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/corpus"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
)

// options are what the flags set.
type options struct {
	root, report, log string
	n, batch, jobs    int
	seed              uint64
	only              int
}

// errWrong is the error of a run that found something.
var errWrong = errors.New("kernels are wrong")

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "folder of the repository")
	flag.StringVar(&o.report, "report", "", "file for the report; default standard output")
	flag.StringVar(&o.log, "log", "", "file with the results so far, with which an interrupted run goes on")
	flag.IntVar(&o.n, "n", 3000, "kernels in the sample")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the sample and of the arguments")
	flag.IntVar(&o.batch, "batch", 40, "kernels in one package")
	flag.IntVar(&o.jobs, "j", runtime.NumCPU(), "batches at a time")
	flag.IntVar(&o.only, "only", -1, "run and print the kernel with this number")
	worker := flag.Bool("worker", false, "work for another process of this program")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *worker {
		err = work(ctx, bufio.NewReader(os.Stdin), os.Stdout)
	} else {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "runner:", err)
		if errors.Is(err, errWrong) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// run draws the sample, tries its kernels, and writes the report.
func run(ctx context.Context, o options) (err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	if !corpus.HasTests(ctx) {
		fmt.Fprintln(os.Stderr, "runner: this installation of Go has no GOROOT/test; the sample is drawn from packages only")
	}
	library, err := corpus.Load(ctx, o.root, corpus.All(ctx))
	if err != nil {
		return err
	}
	if o.only >= 0 {
		return one(ctx, o, library)
	}
	r := &report{options: o, commit: commit(ctx, o.root), sample: library.Sample(o.n, o.seed)}
	fmt.Fprintf(os.Stderr, "%d kernels of %d candidates\n", len(r.sample.Kernels), r.sample.Candidates)
	if err := r.try(ctx); err != nil {
		return err
	}
	text := r.String()
	if o.report == "" {
		fmt.Print(text)
	} else if err := os.WriteFile(o.report, []byte(text), 0o666); err != nil {
		return err
	}
	if n := r.count(wrong); n > 0 {
		return fmt.Errorf("%d %w", n, errWrong)
	}
	return ctx.Err()
}

// one runs a single kernel in this process and prints it.
func one(ctx context.Context, o options, library *corpus.Library) error {
	k, err := library.Kernel(o.only, o.seed)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s\n", k.From, compare.Format(k.Kernel))
	list := []corpus.Kernel{k}
	outcomes, err := kernels(ctx, order{Root: o.root, Imports: corpus.Imports(list), Kernels: list})
	if err != nil {
		return err
	}
	fmt.Println(outcomes[0])
	if outcomes[0].Kind == wrong {
		return errWrong
	}
	return nil
}

// commit returns the abbreviated hash of the commit under test, or "" outside of a git repository.
func commit(ctx context.Context, root string) string {
	git := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty")
	git.Dir = root
	out, _ := git.Output()
	return strings.TrimSpace(string(out))
}
