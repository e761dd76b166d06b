package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/verify/mutation"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// environment is the variable with the number of the oracle's mutation; environmentReached is the one with the file to
// which it adds, for each kernel, the mutations that its compilation reaches.
const (
	environment        = "GOPHERWARP_MUTATION"
	environmentReached = "GOPHERWARP_REACHED"
)

// prepare makes all that the folder has to have. It returns what is wrong with mutations that cannot be
// made, by number.
func (r *runner) prepare(ctx context.Context, list []mutation.Mutation) (stale map[int]error, err error) {
	if err := r.programs(ctx); err != nil {
		return nil, err
	}
	if stale, err = r.build(ctx, list); err != nil {
		return nil, err
	}
	return stale, r.learn(ctx)
}

// learn runs the oracle without a mutation on everything, unless the same one has done so last.
func (r *runner) learn(ctx context.Context) error {
	sum256 := sha256.New()
	for _, name := range []string{r.oracleFile(), filepath.Join(r.work, "known")} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sum256.Write(text)
	}
	sum := fmt.Sprintf("%x", sum256.Sum(nil))
	if have, err := os.ReadFile(filepath.Join(r.work, "learned")); err == nil && string(have) == sum {
		return nil
	}
	reached := filepath.Join(r.work, "reached")
	if err := r.write("reached", nil); err != nil {
		return err
	}
	r.reached = reached
	out, err := r.runOracle(ctx, 0, "-learn")
	r.reached = ""
	if err != nil {
		return fmt.Errorf("runner: the compiler itself is wrong: %w\n%s", err, out)
	}
	fmt.Print(out)
	return r.write("learned", []byte(sum))
}

// batch is how many random kernels Go's own compiler gets at once.
const batch = 250

// programs writes down random kernels, with what Go's own compiler makes of them, and the module in which
// the oracle puts packages of them.
func (r *runner) programs(ctx context.Context) error {
	comparer, err := compare.New(r.root, compare.Options{})
	if err != nil {
		return err
	}
	defer comparer.Close()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(comparer.Dir(), name))
		if err != nil {
			return err
		}
		if err := r.write(name, text); err != nil {
			return err
		}
	}
	var known struct { // as in command oracle
		Kernels []progen.Kernel
		Trials  []*trial.Trial
		Results []trial.Result
	}
	sum256 := sha256.New()
	for i := range r.random {
		known.Kernels = append(known.Kernels, progen.New(r.seed, i))
		fmt.Fprintln(sum256, known.Kernels[i])
	}
	fmt.Fprintln(sum256, progen.Package("all", known.Kernels[:min(1, r.random)]))
	sum := fmt.Sprintf("%x", sum256.Sum(nil))
	if have, err := os.ReadFile(filepath.Join(r.work, "sum")); err == nil && string(have) == sum {
		return nil
	}
	for some := range slices.Chunk(known.Kernels, batch) {
		trials, results, err := comparer.Native(ctx, some)
		if err != nil {
			return err
		}
		known.Trials, known.Results = append(known.Trials, trials...), append(known.Results, results...)
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(known); err != nil {
		return err
	}
	return cmp.Or(r.write("known", text.Bytes()), r.write("sum", []byte(sum)))
}

// build builds the oracle with all mutations.
func (r *runner) build(ctx context.Context, list []mutation.Mutation) (stale map[int]error, err error) {
	stale = map[int]error{}
	byFile := map[string][]mutation.Mutation{}
	for _, m := range list {
		source, err := os.ReadFile(filepath.Join(r.root, m.File))
		if err == nil {
			_, err = mutation.Switched(m.File, source, []mutation.Mutation{m})
		}
		if err != nil {
			stale[m.Number] = err
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		byFile[m.File] = append(byFile[m.File], m)
	}
	replace := map[string]string{}
	for file, list := range byFile {
		source, err := os.ReadFile(filepath.Join(r.root, file))
		if err != nil {
			return nil, err
		}
		text, err := mutation.Switched(file, source, list)
		if err != nil {
			return nil, err
		}
		if err := r.overlay(replace, file, text); err != nil {
			return nil, err
		}
		dir := filepath.Dir(file)
		choice := fmt.Sprintf(choiceText, filepath.Base(dir), mutation.Variable, mutation.Reached)
		if err := r.overlay(replace, filepath.Join(dir, "zmutation.go"), []byte(choice)); err != nil {
			return nil, err
		}
	}
	if err := r.recordReached(replace, list); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	if err := r.write("overlay.json", text); err != nil {
		return nil, err
	}
	out, err := r.command(ctx, nil, "go", "build", "-overlay="+filepath.Join(r.work, "overlay.json"), "-ldflags=-s -w", "-o", r.oracleFile(), "./internal/verify/mutation/oracle")
	if err != nil {
		return nil, fmt.Errorf("runner: %w\n%s", err, out)
	}
	return stale, nil
}

// choiceText is added to a package with mutations.
const choiceText = `package %s

import "github.com/gopherwarp/gopherwarp/internal/ir"

var %s = ir.ZMutation

func %s(number int) { ir.ZReached[number] = true }
`

// recordText is added to package ir, which all packages with mutations import.
const recordText = `package ir

import (
	"fmt"
	"os"
	"strconv"
)

var ZMutation, _ = strconv.Atoi(os.Getenv(%q))

var ZReached [%d]bool

func ZCompiled(kernel string) {
	if name := os.Getenv(%q); name != "" {
		for number, reached := range ZReached {
			if reached {
				kernel += fmt.Sprint("\t", number)
			}
		}
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, kernel)
		f.Close()
	}
	ZReached = [%[2]d]bool{}
}
`

// compiledText is added to package compile. Kernels are compiled one after another, so that what is reached belongs to one.
const compiledText = `package compile

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func zcompiled(name string, f func()) {
	f()
	if i := strings.Index(name, "/kernels."); i >= 0 && strings.Contains(name, "/random/") {
		name = "random." + name[i+len("/kernels."):]
	}
	ir.ZCompiled(name)
}
`

// recordReached has the compiler say, for each kernel, which mutations it came to.
func (r *runner) recordReached(replace map[string]string, list []mutation.Mutation) error {
	text := fmt.Sprintf(recordText, environment, len(list)+1, environmentReached)
	if err := r.overlay(replace, "internal/ir/zmutation.go", []byte(text)); err != nil {
		return err
	}
	if err := r.overlay(replace, "compile/zmutation.go", []byte(compiledText)); err != nil {
		return err
	}
	const file = "compile/unit.go"
	work := regexp.MustCompile(`b\.workers\.Go\((func\(\) \{\s*err := guard\(name,)`)
	source, err := os.ReadFile(filepath.Join(r.root, file))
	if err != nil {
		return err
	}
	heard := work.ReplaceAll(source, []byte("zcompiled(name, $1"))
	if len(work.FindAllIndex(source, -1)) != 1 {
		return fmt.Errorf("runner: %s does not have %v once", file, work)
	}
	return r.overlay(replace, file, heard)
}

// overlay writes what the go command shall read in place of a file of the repository.
func (r *runner) overlay(replace map[string]string, file string, text []byte) error {
	name := filepath.Join("overlay", file)
	replace[filepath.Join(r.root, file)] = filepath.Join(r.work, name)
	return r.write(name, text)
}

func (r *runner) oracleFile() string { return filepath.Join(r.work, "oracle.exe") }

func (r *runner) write(name string, text []byte) error {
	path := filepath.Join(r.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}

// command runs one that may hang, or want all memory, in the repository.
func (r *runner) command(ctx context.Context, env []string, name string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.root, env, &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return out.String(), err
}
