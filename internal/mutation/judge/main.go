package main

import (
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/conformance"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// Known is what the unchanged compiler and Go's own have to say about the kernels.
type Known struct {
	Trials  []*trial.Trial
	Results []trial.Result
	Code    map[string]uint64 // hashes of the PTX, by the name of the kernel
}

// judge is a run.
type judge struct {
	root, random string
	learn        bool
	known        Known
	code         map[string]uint64
}

func main() {
	var j judge
	flag.StringVar(&j.root, "root", ".", "of the repository")
	flag.StringVar(&j.random, "random", "", "folder with a module of random kernels, and the file known")
	flag.BoolVar(&j.learn, "learn", false, "write down the code as that of the right compiler")
	flag.Parse()
	debug.SetGCPercent(300)
	if err := j.all(); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// all prints the verdict. An error is one of the surroundings.
func (j *judge) all() error {
	j.code = map[string]uint64{}
	f, err := os.Open(filepath.Join(j.random, "known"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(&j.known); err != nil {
		return err
	}
	for _, part := range []struct {
		name  string
		judge func() (string, error)
	}{{"the suite", j.suite}, {"random programs", j.programs}} {
		how, err := part.judge()
		if err != nil {
			how = "building: " + err.Error()
		}
		if how != "" {
			how, _, _ = strings.Cut(how, "\n")
			fmt.Printf("caught by %s: %.160s\n", part.name, how)
			return nil
		}
	}
	if j.learn {
		return j.write()
	}
	fmt.Printf("lives: %d kernels of %d have other code\n", j.changed(), len(j.known.Code))
	return nil
}

// write adds the code to what is known.
func (j *judge) write() error {
	j.known.Code = j.code
	f, err := os.Create(filepath.Join(j.random, "known"))
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(f).Encode(j.known), f.Close())
}

func (j *judge) changed() (n int) {
	for name, code := range j.code {
		if j.known.Code[name] != code {
			n++
		}
	}
	return n
}

// build compiles packages, by the name of package and kernel.
func (j *judge) build(o compile.Options) (map[string]*device.Kernel, error) {
	o.Twins, o.Verify = compile.TwinsNone, true
	result, err := compile.Build(context.Background(), o)
	if err != nil {
		return nil, err
	}
	if err := result.Diagnostics.Err(); err != nil {
		return nil, err
	}
	kernels := map[string]*device.Kernel{}
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			h := fnv.New64()
			for _, v := range k.Variants {
				fmt.Fprintln(h, v.Target, v.Narrow, v.PTX)
			}
			kernels[k.Package+"."+k.Name] = k.Kernel
			j.code[k.Package+"."+k.Name] = h.Sum64()
		}
	}
	return kernels, nil
}

// suite runs the conformance suite with new code.
func (j *judge) suite() (string, error) {
	kernels, err := j.build(compile.Options{Dir: j.root, Patterns: []string{"./internal/conformance/..."}})
	if err != nil {
		return "", err
	}
	for _, o := range []ptxinterp.Options{ptxinterp.Checked(), {Wide: true, Seed: 99, Checks: ptxinterp.Checked().Checks}} {
		o.Budget = budget
		dev, err := ptxinterp.OpenWith(o)
		if err != nil {
			return "", err
		}
		wrapped := device.New(&replacing{Backend: dev.Backend(), kernels: kernels})
		if how := cases(wrapped); how != "" {
			return how, nil
		}
	}
	return "", nil
}

// budget is the instructions that a launch may execute: a mutant may loop for ever.
const budget = 20_000_000

func cases(dev *device.Device) string {
	for _, g := range conformance.Groups() {
		for _, c := range g.Cases {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			for behaviour, err := range c.On(ctx, dev) {
				cancel()
				return fmt.Sprintf("%s/%s: %v", g.Name, behaviour, err)
			}
			cancel()
		}
	}
	return ""
}

// programs compares random kernels.
func (j *judge) programs() (string, error) {
	kernels, err := j.build(compile.Options{Dir: j.random, Patterns: []string{"./kernels"}, Contract: compile.ContractOff})
	if err != nil {
		return "", err
	}
	var mu sync.Mutex
	wrong := ""
	err = trial.Each(len(j.known.Trials), func() (func(int), error) {
		var devices []*trial.Runner
		for _, o := range []ptxinterp.Options{
			{Budget: budget, Checks: ptxinterp.Checked().Checks},
			{Budget: budget, Wide: true, Seed: 99, Capability: device.Capability{Major: 7}, Checks: ptxinterp.Checked().Checks},
		} {
			dev, err := ptxinterp.OpenWith(o)
			if err != nil {
				return nil, err
			}
			dev.CoarsenAlways(true) // the kernels are small
			devices = append(devices, trial.NewRunner(dev))
		}
		return func(i int) {
			mu.Lock()
			done := wrong != ""
			mu.Unlock()
			if done {
				return
			}
			if d := j.program(i, kernels, devices); d != "" {
				mu.Lock()
				wrong = d
				mu.Unlock()
			}
		}, nil
	})
	return wrong, err
}

// program compares a random kernel.
func (j *judge) program(i int, kernels map[string]*device.Kernel, devices []*trial.Runner) string {
	t := j.known.Trials[i]
	k := kernels["github.com/gopherwarp/gopherwarp/random/kernels."+t.Kernel.Name]
	if k == nil {
		return "no kernel " + t.Kernel.Name
	}
	t.Compiled(k)
	for _, dev := range devices {
		if _, ok := k.Variant(dev.Device().Info().Capability, device.Fit{}); !ok {
			continue
		}
		if d := t.Differs(j.known.Results[i], dev.Run(t)); d != "" {
			return t.Kernel.Name + ": " + d
		}
		if less := t.Lesser(); less != nil {
			if d := t.Differs(j.known.Results[i], dev.Run(less)); d != "" {
				return t.Kernel.Name + ": " + d
			}
		}
	}
	return ""
}
