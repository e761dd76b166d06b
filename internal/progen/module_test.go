package progen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/progen"
)

// module is a folder with a module of a user's own.
type module struct{ dir string }

func newModule(t testing.TB) module {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	m := module{*dir}
	if m.dir == "" {
		m.dir = t.TempDir()
	}
	mod, sum := read(t, filepath.Join(root, "go.mod")), read(t, filepath.Join(root, "go.sum"))
	_, requirements, _ := strings.Cut(mod, "\n")
	m.write(t, "go.mod", "module example.com/random\n"+requirements+
		"\nrequire github.com/gopherwarp/gopherwarp v0.0.0\n\n"+
		"replace github.com/gopherwarp/gopherwarp => "+filepath.ToSlash(root)+"\n")
	m.write(t, "go.sum", sum)
	return m
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (m module) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// build compiles the kernels, for the GPU by this project's compiler and then all by Go's, and
// returns the program's name.
func (m module) build(t testing.TB, kernels []progen.Kernel) (string, error) {
	t.Helper()
	if err := m.clean(); err != nil {
		return "", err
	}
	for name, text := range progen.Program(kernels) {
		m.write(t, name, text)
	}
	result, err := compile.Build(t.Context(), compile.Options{Dir: m.dir, Contract: compile.ContractOff, Twins: *twins})
	if err != nil {
		return "", err
	}
	if err := result.Diagnostics.Err(); err != nil {
		return "", err
	}
	for _, f := range result.Stale() {
		if err := f.Write(); err != nil {
			return "", err
		}
	}
	name := filepath.Join(m.dir, "program.exe")
	_, err = m.run(t.Context(), "go", "build", "-gcflags="+*gcflags, "-o", name, ".")
	return name, err
}

// clean removes the kernels of an earlier program.
func (m module) clean() error {
	old, err := filepath.Glob(filepath.Join(m.dir, "*.go"))
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// run runs a command in the module and returns what it prints.
func (m module) run(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = m.dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, stderr.String())
	}
	return stdout.String(), err
}

// compare runs the kernels and returns, by name, how they differ.
func (m module) compare(t testing.TB, kernels []progen.Kernel, devices string) (differs map[string]string, summary string, err error) {
	t.Helper()
	name, err := m.build(t, kernels)
	if err != nil {
		return nil, "", err
	}
	out, err := m.run(t.Context(), name, "-devices="+devices)
	if err != nil {
		return nil, "", err
	}
	differs = map[string]string{}
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "DIFFERS "); ok {
			name, how, _ := strings.Cut(strings.TrimSpace(rest), " ")
			differs[name] = how
		} else {
			summary = strings.TrimSpace(line)
		}
	}
	if summary == "" {
		return nil, "", errors.New("the program printed no summary")
	}
	return differs, summary, nil
}
