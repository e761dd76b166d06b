package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// Comparer has a folder with a module beside the repository, in which it writes kernels.
type Comparer struct {
	dir    string
	broken int        // how many more kernels may fail to compile
	tools  *toolchain // nil until it is wanted
	gpu    *process   // likewise
	Options
}

// Options change what is compared.
type Options struct {
	// Contracted lets products and sums fuse. Go's own compiler does not on amd64, so results are
	// compared with those of the code for all launches, and with those of Go's own compiler only where
	// a kernel computes bounds of its errors.
	Contracted bool
	// GPU, where it is not empty, is the name of a program that runs trials on a GPU: internal/verify/progen/replay.
	GPU string
	// MayRefuse is how many kernels of a list a compiler may refuse: to find them takes long, and where there are
	// many, the cause is none of a single kernel. 0 is an eighth.
	MayRefuse int
	// Imports are the packages that kernels import besides those that all kernels have.
	Imports []string
	// Patience is how long each way to run a kernel on the CPU may take; 0 is any time. A kernel for which native
	// execution takes longer is not compared with anything (trial.Result.Endless).
	Patience time.Duration
}

// New returns a comparer for the repository in root.
func New(root string, o Options) (*Comparer, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gopherwarp-random-")
	if err != nil {
		return nil, err
	}
	c := &Comparer{dir: dir, Options: o}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	_, requirements, _ := strings.Cut(string(mod), "\n")
	return c, errors.Join(
		c.write("go.mod", "module github.com/gopherwarp/gopherwarp/random\n"+requirements+
			"\nrequire github.com/gopherwarp/gopherwarp v0.0.0\n\n"+
			"replace github.com/gopherwarp/gopherwarp => "+filepath.ToSlash(root)+"\n"),
		c.write("go.sum", string(sum)),
		c.write("main.go", mainText))
}

const mainText = `package main

import (
	"fmt"
	"os"

	"github.com/gopherwarp/gopherwarp/random/kernels"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

func main() {
	if err := (trial.Natives{Kernels: kernels.Natives, Twins: kernels.Twins}).Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`

// Dir returns the folder with the module.
func (c *Comparer) Dir() string { return c.dir }

// Close removes the folder.
func (c *Comparer) Close() error {
	if c.gpu != nil {
		c.gpu.Stop()
	}
	return os.RemoveAll(c.dir)
}

// kernels is the folder, and the name, of the package of kernels.
const kernels = "kernels"

func (c *Comparer) write(name, text string) error {
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// place writes the package of kernels.
func (c *Comparer) place(list []progen.Kernel) error {
	if err := os.RemoveAll(filepath.Join(c.dir, kernels)); err != nil {
		return err
	}
	for name, text := range progen.Package(kernels, list) {
		if err := c.write(filepath.Join(kernels, name), text); err != nil {
			return err
		}
	}
	return nil
}

// placeTwins writes the twins that the compiler made, and a table of them.
func (c *Comparer) placeTwins(files []compile.File, list []*trial.Trial) error {
	var table strings.Builder
	fmt.Fprintf(&table, twinsText, kernels)
	for _, f := range files {
		if folder := filepath.Base(filepath.Dir(f.Name)); folder == vectors {
			if err := c.write(filepath.Join(kernels, folder, filepath.Base(f.Name)), string(f.Contents)); err != nil {
				return err
			}
		}
		if filepath.Base(f.Name) != twinsFile {
			continue
		}
		if err := c.write(filepath.Join(kernels, filepath.Base(f.Name)), string(f.Contents)); err != nil {
			return err
		}
		for _, t := range list {
			if name := t.Kernel.Name + "Twin"; bytes.Contains(f.Contents, []byte("\nfunc "+name+"(")) {
				fmt.Fprintf(&table, "\t%q: %s,\n", t.Kernel.Name, name)
			}
		}
	}
	return c.write(filepath.Join(kernels, "twins.go"), table.String()+"}\n")
}

// twinsFile is what the compiler calls the file of the twins, and vectors the package of their vector code.
const (
	twinsFile = "zkernels_cpu.go"
	vectors   = "zvector"
)

const twinsText = `package %s

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/gpu"
)

var Twins = map[string]func(b *gpu.Blocks, args unsafe.Pointer){
`

// native builds the program of the kernels and adds what they left there to the report. An error may be
// the fault of one.
func (c *Comparer) native(ctx context.Context, r *Report) error {
	if err := c.Prepare(ctx); err != nil {
		return err
	}
	name, err := c.tools.program(ctx)
	if err != nil {
		return err
	}
	p := newProcess(name)
	defer p.Stop()
	for i, t := range r.Trials {
		a, err := p.run(ctx, trial.Question{Trial: t.Bare()})
		if err != nil {
			return err
		}
		r.Results[i], r.Wrong[i] = a.Result, a.Wrong
		if a.Twin {
			r.Twins++
		}
	}
	return nil
}

// Prepare compiles what all programs of kernels share.
func (c *Comparer) Prepare(ctx context.Context) (err error) {
	if c.tools == nil {
		c.tools, err = newToolchain(ctx, c.dir, c.Imports)
	}
	return err
}

// onGPU runs the trials that are right so far on the GPU.
func (c *Comparer) onGPU(ctx context.Context, r *Report) error {
	if c.gpu == nil {
		c.gpu = newProcess(c.GPU, "CUDA_CACHE_DISABLE=1")
	}
	for i, t := range r.Trials {
		if r.Wrong[i] != "" {
			continue
		}
		a, err := c.gpu.run(ctx, trial.Question{Trial: *t, Want: &r.Results[i]})
		if err != nil {
			return err
		}
		if r.Device = c.gpu.device; a.Foreign {
			continue
		}
		if a.Wrong != "" {
			r.Wrong[i] = "GPU: " + a.Wrong
		}
		r.OnGPU++
	}
	return nil
}
