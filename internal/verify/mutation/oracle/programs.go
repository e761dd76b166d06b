package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

const (
	randomModule = "github.com/gopherwarp/gopherwarp/random/"
	randomPath   = "random." // stands for the packages that random kernels are in for a while
)

// programs is the part that compares some random kernels.
func (o *oracle) programs(numbers []int) part {
	p := part{name: "random"}
	if len(numbers) == 1 {
		p.name = "random/" + o.known.Kernels[numbers[0]].Name
	}
	p.check = func() (string, error) {
		if len(numbers) == 0 {
			return "", nil
		}
		kernels, changed, err := o.compiled(numbers)
		if err != nil || !changed {
			return "", err
		}
		return o.compare(numbers, kernels)
	}
	return p
}

// compiled writes a package of random kernels and compiles it.
func (o *oracle) compiled(numbers []int) (kernels map[string]*driver.Kernel, changed bool, err error) {
	var list []progen.Kernel
	for _, n := range numbers {
		list = append(list, o.known.Kernels[n])
	}
	const name = "kernels" // which code contains
	dir := filepath.Join(o.work, fmt.Sprint("mutation", o.number), name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, false, err
	}
	defer os.RemoveAll(filepath.Dir(dir))
	for file, text := range progen.Package(name, list) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			return nil, false, err
		}
	}
	return o.build(compile.Options{Dir: o.work, Patterns: []string{fmt.Sprintf("./mutation%d/%s", o.number, name)}, Contract: compile.ContractOff})
}

// compare runs random kernels.
func (o *oracle) compare(numbers []int, kernels map[string]*driver.Kernel) (string, error) {
	var wrong atomic.Value
	err := trial.Each(len(numbers), func() (func(int), error) {
		interpreters, err := compare.NewInterpreters(budget)
		return func(i int) {
			t, name := o.known.Trials[numbers[i]], o.known.Kernels[numbers[i]].Name
			k := kernels[randomPath+name]
			switch {
			case wrong.Load() != nil || !o.changed(randomPath+name):
				return
			case k == nil:
				wrong.Store("random/" + name + ": there is none")
				return
			}
			t.Compiled(k)
			if d, _ := interpreters.Run(t, o.known.Results[numbers[i]]); d != "" {
				wrong.Store("random/" + name + ": " + d)
			}
		}, err
	})
	how, _ := wrong.Load().(string)
	return how, err
}
