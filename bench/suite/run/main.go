// Command run measures the kernels of bench/suite, or with -public those of bench/public, on the machine's best
// device. Users start it as gopherwarp bench, which generates the code of its kernels first:
//
//	gopherwarp bench -only 'stream|sum' -peers torch,triton -json new.json -compare old.json
//	gopherwarp bench -public
//
// The results of each case are compared with plain Go. The kernels then alternate with the same kernels in CUDA C++, if nvcc is installed,
// and with functions of PyTorch, Triton, CuPy, Numba, CUB and cuBLAS that do the same work, if these are installed. The exit code is 1 if a
// case failed, and 2 if the command line is wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs the command and returns its exit code.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	o, err := parse(args)
	if err != nil {
		fmt.Fprintf(progress, "bench: %v\n", err)
		return 2
	}
	if err := o.run(ctx, out, progress); err != nil {
		fmt.Fprintln(progress, err)
		return 1
	}
	return 0
}

// parse reads the command line, whose flags gopherwarp help bench explains.
func parse(args []string) (*options, error) {
	o := &options{peers: []string{all}}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.JSON, "json", "", "")
	f.StringVar(&o.HTML, "html", "", "")
	f.StringVar(&o.from, "from", "", "")
	f.StringVar(&o.Compare, "compare", "", "")
	f.Func("add", "", func(s string) error { o.Add = append(o.Add, s); return nil })
	f.Func("peers", "", func(s string) error { o.peers = strings.Split(s, ","); return nil })
	f.StringVar(&o.unchecked, "unchecked", "", "")
	f.StringVar(&o.only, "only", "", "")
	f.StringVar(&o.commit, "commit", "", "")
	f.BoolVar(&o.quick, "quick", false, "")
	f.BoolVar(&o.public, "public", false, "")
	err := f.Parse(args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, err
}
