package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// toolchain is Go's own compiler and linker. They are called without the go command, which would look at
// everything that a program is made of again, keep all that it makes, and compile with the assembly
// that package math has on some machines: its results differ from those of the Go functions.
type toolchain struct {
	dir   string // where it works, a module
	tools string
	flags []string // of the compiler
	// where describes where compiled packages lie, and renamed which ones another stands for, as the tools read it.
	where, renamed string
}

// program is the path of the package of kernels, and that of package math as kernels have it.
const (
	kernelsPath = "github.com/gopherwarp/gopherwarp/random/" + kernels
	mathPath    = "github.com/gopherwarp/gopherwarp/random/math"
)

// imported are packages that a program of kernels is made of, but for what they import in turn.
var imported = [...]string{
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial", "github.com/gopherwarp/gopherwarp/gpu", "github.com/gopherwarp/gopherwarp/dtype",
	"github.com/gopherwarp/gopherwarp/gpu/collective",
	"github.com/gopherwarp/gopherwarp/math32",
	"cmp", "iter", "math", "math/bits", "slices", "sort", "sync/atomic", "unicode/utf8",
}

// newToolchain compiles what all programs of kernels in the module share, and what more they import.
func newToolchain(ctx context.Context, dir string, imports []string) (*toolchain, error) {
	t := &toolchain{dir: dir}
	text, err := t.run(ctx, nil, "go", "env", "GOTOOLDIR")
	if err != nil {
		return nil, err
	}
	t.tools = strings.TrimSpace(string(text))
	// Without optimisation the compiler is quicker, and as right. It fuses no products and sums.
	t.flags = []string{"-N", "-l", "-d=fmahash=n", "-dwarf=false", "-c=1", "-pack"}
	args := []string{"list", "-export", "-deps", "-f", `{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}`}
	if text, err = t.run(ctx, nil, "go", slices.Concat(args, imported[:], imports)...); err != nil {
		return nil, err
	}
	t.where = string(text)
	return t, t.mathematics(ctx)
}

// mathematics compiles package math with all functions in Go.
func (t *toolchain) mathematics(ctx context.Context) error {
	text, err := t.run(ctx, nil, "go", "list", "-f", `{{.Dir}}{{range .GoFiles}} {{.}}{{end}}`, "math")
	if err != nil {
		return err
	}
	names := strings.Fields(string(text))
	var files []string
	for _, name := range names[1:] {
		files = append(files, portable(filepath.Join(names[0], name)))
	}
	if err := t.compile(ctx, mathPath, files); err != nil {
		return err
	}
	t.renamed = "importmap math=" + mathPath + "\n"
	return nil
}

// portable returns the file of package math with the functions in Go that the named one declares in assembly, or
// the file itself.
func portable(file string) string {
	if stem, ok := strings.CutSuffix(file, "_asm.go"); ok {
		for _, suffix := range [...]string{"_noasm.go", "_stub.go"} {
			if _, err := os.Stat(stem + suffix); err == nil {
				return stem + suffix
			}
		}
	}
	return file
}

// compile compiles the package with a path from files, and makes it known to those that import it.
func (t *toolchain) compile(ctx context.Context, path string, files []string) error {
	archive := filepath.Join(t.dir, filepath.Base(path)+".a")
	config, err := t.config(t.where + t.renamed)
	if err != nil {
		return err
	}
	args := append([]string{"-o", archive, "-p", path, "-importcfg", config}, t.flags...)
	if _, err := t.run(ctx, nil, filepath.Join(t.tools, "compile"), append(args, files...)...); err != nil {
		return err
	}
	if entry := "packagefile " + path + "=" + archive + "\n"; !strings.Contains(t.where, entry) {
		t.where += entry
	}
	return nil
}

// vectors compiles the twins' vector code, if there is any.
func (t *toolchain) vectors(ctx context.Context) error {
	folder, path := filepath.Join(t.dir, kernels, vectors), kernelsPath+"/"+vectors
	stem, table, object := filepath.Join(folder, vectors), filepath.Join(t.dir, "symabis"), filepath.Join(t.dir, vectors+".o")
	switch _, err := os.Stat(folder); {
	case err != nil:
		return nil
	case runtime.GOARCH != "amd64":
		return t.compile(ctx, path, []string{stem + "_other.go"})
	}
	assemble := func(args ...string) error {
		_, err := t.run(ctx, nil, filepath.Join(t.tools, "asm"), append(args, "-p", path, stem+"_amd64.s")...)
		return err
	}
	if err := assemble("-gensymabis", "-o", table); err != nil {
		return err
	}
	if err := t.compile(ctx, path, []string{"-symabis", table, stem + "_amd64.go"}); err != nil {
		return err
	}
	if err := assemble("-o", object); err != nil {
		return err
	}
	return archive(filepath.Join(t.dir, vectors+".a"), object)
}

// archive adds an object file to an archive, as the pack tool does, which no longer comes with Go's releases.
func archive(name, object string) error {
	text, err := os.ReadFile(object)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	const header = "%-16.16s%-12d%-6d%-6d%-8o%-10d`\n" // name, time, owner, group, mode, size
	if _, err := fmt.Fprintf(f, header, filepath.Base(object), 0, 0, 0, 0o644, len(text)); err != nil {
		return err
	}
	if len(text)%2 != 0 {
		text = append(text, 0)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// config writes down where packages lie.
func (t *toolchain) config(text string) (name string, err error) {
	name = filepath.Join(t.dir, "importcfg")
	return name, os.WriteFile(name, []byte(text), 0o666)
}

// program compiles and links the program of the package of kernels, and returns its name.
func (t *toolchain) program(ctx context.Context) (name string, err error) {
	files, err := filepath.Glob(filepath.Join(t.dir, kernels, "*.go"))
	if err != nil {
		return "", err
	}
	if err := t.vectors(ctx); err != nil {
		return "", err
	}
	if err := t.compile(ctx, kernelsPath, files); err != nil {
		return "", err
	}
	if err := t.compile(ctx, "main", []string{filepath.Join(t.dir, "main.go")}); err != nil {
		return "", err
	}
	config, err := t.config(t.where) // the linker knows no other names
	if err != nil {
		return "", err
	}
	name = filepath.Join(t.dir, "program.exe")
	_, err = t.run(ctx, nil, filepath.Join(t.tools, "link"), "-s", "-w", "-o", name, "-importcfg", config, filepath.Join(t.dir, "main.a"))
	return name, err
}

// run runs a command in the module and returns what it prints.
func (t *toolchain) run(ctx context.Context, in []byte, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.dir
	cmd.Env = append(cmd.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0", "GOAMD64=v1",
		"GOGC=off", "GOMEMLIMIT=600MiB") // a fifth of the compiler's time is its collector's, as it usually is
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("compare: %s: %w\n%.4000s%.4000s", filepath.Base(name), err, stderr.String(), stdout.String())
	}
	return stdout.Bytes(), nil
}
