package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/mutation"
)

// A tester runs the suite and random kernels with mutations of the compiler.
type tester struct {
	options
	work     string   // a temporary folder
	packages []string // all of the repository, as "./internal/pass"
}

// newTester returns a tester, which must be closed.
func newTester(ctx context.Context, o options) (*tester, error) {
	t := &tester{options: o}
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "./...")
	list.Dir = o.root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", list, err)
	}
	for dir := range strings.Lines(string(out)) {
		name, err := filepath.Rel(o.root, strings.TrimSpace(dir))
		if err != nil {
			return nil, err
		}
		t.packages = append(t.packages, "./"+filepath.ToSlash(name))
	}
	t.work, err = os.MkdirTemp("", "gopherwarp-mutation-")
	return t, err
}

func (t *tester) close() { os.RemoveAll(t.work) }

// commit returns the abbreviated hash of the commit under test, or "" outside of a git repository.
func (t *tester) commit(ctx context.Context) string {
	git := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty")
	git.Dir = t.root
	out, _ := git.Output()
	return strings.TrimSpace(string(out))
}

// order lists the steps of the suite by patterns of packages. The mutated package precedes them, all
// other packages follow, and then randomKernels.
var order = [][]string{
	{"./internal/ir/...", "./internal/analysis", "./internal/frontend", "./internal/pass", "./internal/backend/..."},
	{"./compile/..."},
	{"./internal/verify/conformance/...", "./internal/verify/seeded"},
	{"./cmd/..."},
}

// randomKernels is the last step because it takes longest.
const randomKernels = "./internal/verify/progen/..."

// steps divides all packages into steps, for a mutation of the package own. Their number is always the same.
func (t *tester) steps(own string) (steps [][]string) {
	left := slices.Clone(t.packages)
	take := func(patterns ...string) {
		var step []string
		left = slices.DeleteFunc(left, func(name string) bool {
			matches := slices.ContainsFunc(patterns, func(pattern string) bool { return match(pattern, name) })
			if matches {
				step = append(step, name)
			}
			return matches
		})
		steps = append(steps, step)
	}
	take(own)
	for _, patterns := range order {
		take(patterns...)
	}
	random := slices.DeleteFunc(slices.Clone(left), func(name string) bool { return !match(randomKernels, name) })
	left = slices.DeleteFunc(left, func(name string) bool { return match(randomKernels, name) })
	take("./...")
	return append(steps, random)
}

// match reports whether a pattern of the go command matches a package.
func match(pattern, name string) bool {
	prefix, all := strings.CutSuffix(pattern, "/...")
	return name == prefix || all && strings.HasPrefix(name, prefix+"/")
}

// errControl is the cause if the suite fails without a mutation.
var errControl = errors.New("the compiler without a mutation fails")

// control runs the suite without a mutation.
func (t *tester) control(ctx context.Context) error {
	env, err := t.overlay("control", nil)
	if err != nil {
		return err
	}
	for _, step := range t.steps("./internal/pass") {
		if v := t.suite(ctx, env, step); v.outcome != survived {
			return fmt.Errorf("%w: %s", errControl, v)
		}
	}
	return nil
}

// step runs one step of the suite, or random kernels after the last one, and returns the verdict so far.
func (t *tester) step(ctx context.Context, x *trial, number int) verdict {
	name := fmt.Sprint(x.number)
	env, err := t.overlay(name, x.mutation)
	if err != nil {
		return verdict{failed, err.Error()}
	}
	if steps := t.steps("./" + path.Dir(x.mutation.File)); number < len(steps) {
		return t.suite(ctx, env, steps[number])
	}
	return t.random(ctx, env, filepath.Join(t.work, name))
}

// overlay writes a mutant to a folder of that name, and returns the environment that has go commands use
// it, also those that tests start.
func (t *tester) overlay(name string, m *mutation.Mutation) (env []string, err error) {
	dir := filepath.Join(t.work, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	replace := map[string]string{}
	if m != nil {
		text, err := m.Apply(t.root)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, path.Base(m.File))
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return nil, err
		}
		replace[filepath.Join(t.root, filepath.FromSlash(m.File))] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -overlay=" + file)
	return append(os.Environ(), "GOFLAGS="+flags), os.WriteFile(file, text, 0o666)
}
