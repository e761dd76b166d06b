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

	"github.com/gopherwarp/gopherwarp/internal/mutation"
	"github.com/gopherwarp/gopherwarp/internal/progen"
	"github.com/gopherwarp/gopherwarp/internal/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
)

// environment names the mutation that a judge makes, by its number; environmentReached is the file to which it adds, for
// each kernel, the mutations that its compilation comes to.
const (
	environment        = "GOPHERWARP_MUTATION"
	environmentReached = "GOPHERWARP_REACHED"
)

// prepare makes all that the folder has to have. It returns what is wrong with mutations that cannot be
// made, by number.
func (h *hunt) prepare(ctx context.Context, list []mutation.Mutation) (stale map[int]error, err error) {
	if err := h.programs(ctx); err != nil {
		return nil, err
	}
	if stale, err = h.build(ctx, list); err != nil {
		return nil, err
	}
	return stale, h.learn(ctx)
}

// learn has the judge without a mutation look at all, unless it is the one that did so last.
func (h *hunt) learn(ctx context.Context) error {
	sum256 := sha256.New()
	for _, name := range []string{h.judgeFile(), filepath.Join(h.work, "known")} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sum256.Write(text)
	}
	sum := fmt.Sprintf("%x", sum256.Sum(nil))
	if have, err := os.ReadFile(filepath.Join(h.work, "learned")); err == nil && string(have) == sum {
		return nil
	}
	reached := filepath.Join(h.work, "reached")
	if err := h.write("reached", nil); err != nil {
		return err
	}
	h.reached = reached
	out, err := h.judge(ctx, 0, "-learn")
	h.reached = ""
	if err != nil {
		return fmt.Errorf("hunt: the compiler itself is wrong: %w\n%s", err, out)
	}
	fmt.Print(out)
	return h.write("learned", []byte(sum))
}

// batch is how many random kernels Go's own compiler gets at once.
const batch = 250

// programs writes down random kernels, with what Go's own compiler makes of them, and the module that judges put
// packages of them in.
func (h *hunt) programs(ctx context.Context) error {
	comparer, err := compare.New(h.root, compare.Options{})
	if err != nil {
		return err
	}
	defer comparer.Close()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(comparer.Dir(), name))
		if err != nil {
			return err
		}
		if err := h.write(name, text); err != nil {
			return err
		}
	}
	var known struct { // as the judge has it
		Kernels []progen.Kernel
		Trials  []*trial.Trial
		Results []trial.Result
	}
	sum256 := sha256.New()
	for i := range h.random {
		known.Kernels = append(known.Kernels, progen.New(h.seed, i))
		fmt.Fprintln(sum256, known.Kernels[i])
	}
	fmt.Fprintln(sum256, progen.Package("all", known.Kernels[:min(1, h.random)]))
	sum := fmt.Sprintf("%x", sum256.Sum(nil))
	if have, err := os.ReadFile(filepath.Join(h.work, "sum")); err == nil && string(have) == sum {
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
	return cmp.Or(h.write("known", text.Bytes()), h.write("sum", []byte(sum)))
}

// build builds the judge with all mutations.
func (h *hunt) build(ctx context.Context, list []mutation.Mutation) (stale map[int]error, err error) {
	stale = map[int]error{}
	byFile := map[string][]mutation.Mutation{}
	for _, m := range list {
		source, err := os.ReadFile(filepath.Join(h.root, m.File))
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
		source, err := os.ReadFile(filepath.Join(h.root, file))
		if err != nil {
			return nil, err
		}
		text, err := mutation.Switched(file, source, list)
		if err != nil {
			return nil, err
		}
		if err := h.overlay(replace, file, text); err != nil {
			return nil, err
		}
		dir := filepath.Dir(file)
		choice := fmt.Sprintf(choiceText, filepath.Base(dir), mutation.Variable, mutation.Reached)
		if err := h.overlay(replace, filepath.Join(dir, "zmutation.go"), []byte(choice)); err != nil {
			return nil, err
		}
	}
	if err := h.listen(replace, list); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	if err := h.write("overlay.json", text); err != nil {
		return nil, err
	}
	out, err := h.command(ctx, nil, "go", "build", "-overlay="+filepath.Join(h.work, "overlay.json"), "-ldflags=-s -w", "-o", h.judgeFile(), "./internal/mutation/judge")
	if err != nil {
		return nil, fmt.Errorf("hunt: %w\n%s", err, out)
	}
	return stale, nil
}

// choiceText is added to a package with mutations.
const choiceText = `package %s

import "github.com/gopherwarp/gopherwarp/internal/ir"

var %s = ir.ZMutation

func %s(number int) { ir.ZReached[number] = true }
`

// listenText is added to package ir, which all packages with mutations import.
const listenText = `package ir

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

// listen has the compiler say, for each kernel, which mutations it came to.
func (h *hunt) listen(replace map[string]string, list []mutation.Mutation) error {
	text := fmt.Sprintf(listenText, environment, len(list)+1, environmentReached)
	if err := h.overlay(replace, "internal/ir/zmutation.go", []byte(text)); err != nil {
		return err
	}
	if err := h.overlay(replace, "compile/zmutation.go", []byte(compiledText)); err != nil {
		return err
	}
	const file = "compile/unit.go"
	work := regexp.MustCompile(`b\.workers\.Go\((func\(\) \{\s*err := guard\(name,)`)
	source, err := os.ReadFile(filepath.Join(h.root, file))
	if err != nil {
		return err
	}
	heard := work.ReplaceAll(source, []byte("zcompiled(name, $1"))
	if len(work.FindAllIndex(source, -1)) != 1 {
		return fmt.Errorf("hunt: %s does not have %v once", file, work)
	}
	return h.overlay(replace, file, heard)
}

// overlay writes what the go command shall read in place of a file of the repository.
func (h *hunt) overlay(replace map[string]string, file string, text []byte) error {
	name := filepath.Join("overlay", file)
	replace[filepath.Join(h.root, file)] = filepath.Join(h.work, name)
	return h.write(name, text)
}

func (h *hunt) judgeFile() string { return filepath.Join(h.work, "judge.exe") }

func (h *hunt) write(name string, text []byte) error {
	path := filepath.Join(h.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}

// command runs one that may hang, or want all memory, in the repository.
func (h *hunt) command(ctx context.Context, env []string, name string, args ...string) (string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.root, env, &out, &out
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return out.String(), err
}
