package compare

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
)

// Comparer has a folder with a module beside the repository, in which it writes kernels.
type Comparer struct {
	dir    string
	broken int        // kernels that did not compile
	tools  *toolchain // nil until it is wanted
	Options
}

// Options change what is compared.
type Options struct {
	// Contracted lets products and sums fuse. Go's own compiler does not on amd64, so results are
	// compared with those of the code for all launches.
	Contracted bool
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
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
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

// Native runs kernels as Go's own compiler compiles them.
func (c *Comparer) Native(ctx context.Context, list []progen.Kernel) (trials []*trial.Trial, results []trial.Result, err error) {
	if err := c.place(list); err != nil {
		return nil, nil, err
	}
	for _, k := range list {
		trials = append(trials, trial.Of(k))
	}
	if err := c.placeTwins(nil, trials); err != nil {
		return nil, nil, err
	}
	natives, err := c.native(ctx, trials)
	for _, n := range natives {
		results = append(results, n.Result)
	}
	return trials, results, err
}

// Close removes the folder.
func (c *Comparer) Close() error { return os.RemoveAll(c.dir) }

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

// twinsFile is what the compiler calls the file of the twins.
const twinsFile = "zkernels_cpu.go"

const twinsText = `package %s

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/gpu"
)

var Twins = map[string]func(b *gpu.Blocks, args unsafe.Pointer){
`

// native builds the program of the kernels and returns what they left.
func (c *Comparer) native(ctx context.Context, trials []*trial.Trial) ([]trial.Native, error) {
	if c.tools == nil {
		tools, err := newToolchain(ctx, c.dir)
		if err != nil {
			return nil, err
		}
		c.tools = tools
	}
	name, err := c.tools.program(ctx)
	if err != nil {
		return nil, err
	}
	var in bytes.Buffer
	if err := trial.WriteBare(&in, trials); err != nil {
		return nil, err
	}
	out, err := c.tools.run(ctx, in.Bytes(), name)
	if err != nil {
		return nil, err
	}
	var results []trial.Native
	return results, gob.NewDecoder(bytes.NewReader(out)).Decode(&results)
}
