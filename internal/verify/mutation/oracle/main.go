package main

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// An oracle is one run over the parts.
type oracle struct {
	root, work  string
	number      int // of the mutation
	maxKernels  int // random kernels
	known       Known
	reached     map[string]bool   // kernels whose compilation comes to the mutation, by package and name
	reference   map[string]uint64 // hashes of the unchanged compiler's code
	code        map[string]uint64 // those of this one
	miscompiled []string          // random kernels that the unchanged compiler is wrong about
}

// Known is what command runner stores about the random kernels: the results of Go's own compiler.
type Known struct {
	Kernels []progen.Kernel
	Trials  []*trial.Trial
	Results []trial.Result
}

func main() {
	o := oracle{code: map[string]uint64{}}
	var first string
	var learn bool
	flag.StringVar(&o.root, "root", ".", "of the repository")
	flag.StringVar(&o.work, "work", "", "folder with what is known, and for packages of random kernels")
	flag.IntVar(&o.number, "mutation", 0, "the number of the mutation that the environment names")
	flag.IntVar(&o.maxKernels, "most", 1000, "how many random kernels to try")
	flag.StringVar(&first, "first", "", "the part to begin with")
	flag.BoolVar(&learn, "learn", false, "write down the code as that of the right compiler")
	flag.Parse()
	debug.SetGCPercent(300)
	err := load(filepath.Join(o.work, "known"), &o.known)
	if err == nil && learn {
		err = o.learn()
	} else if err == nil {
		err = o.all(first)
	}
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// groups returns the names of the suite's groups, that with most to compile last.
func groups() (names []string) {
	for _, g := range conformance.Groups() {
		names = append(names, g.Name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(weight(a), weight(b)) })
	return names
}

func weight(group string) int {
	switch group {
	case "panels":
		return 1
	case "numbers":
		return 2
	}
	return 0
}

// part is something that can be compiled and run.
type part struct {
	name  string
	check func() (string, error)
}

// parts returns all that reaches the mutation, what was asked for first.
func (o *oracle) parts(first string) (list []part) {
	add := func(p part) {
		if p.name == first {
			list = slices.Insert(list, 0, p)
		} else {
			list = append(list, p)
		}
	}
	var programs []int
	for i, k := range o.known.Kernels {
		if "random/"+k.Name == first {
			add(o.programs([]int{i}))
		}
		if _, right := o.reference[randomPath+k.Name]; right && o.reached[randomPath+k.Name] {
			programs = append(programs, i)
		}
	}
	programs = programs[:min(len(programs), o.maxKernels)]
	for _, n := range []int{25, 100} { // a few between the groups
		list = append(list, o.programs(programs[:min(n, len(programs))]))
		programs = programs[min(n, len(programs)):]
		if n > 25 {
			break
		}
		for _, name := range groups() {
			if o.reachedBy(name) {
				add(part{"suite/" + name, func() (string, error) { return o.suite(name) }})
			}
		}
	}
	for some := range slices.Chunk(programs, 250) {
		list = append(list, o.programs(some))
	}
	return list
}

// all prints the verdict. An error is one of the surroundings.
func (o *oracle) all(first string) error {
	if err := o.readReached(); err != nil {
		return err
	}
	if err := load(filepath.Join(o.work, "code"), &o.reference); err != nil {
		return err
	}
	for _, p := range o.parts(first) {
		how, err := p.check()
		if err != nil {
			how = p.name + ": building: " + err.Error()
		}
		if how != "" {
			how, _, _ = strings.Cut(how, "\n")
			fmt.Printf("killed by %.160s\n", how)
			return nil
		}
	}
	changed := 0
	for name := range o.code {
		if o.changed(name) {
			changed++
		}
	}
	fmt.Printf("survived: of %d kernels that come to it %d have other code\n", len(o.reached), changed)
	return nil
}

// learn takes what the compiler makes for right.
func (o *oracle) learn() error {
	for _, name := range groups() {
		if how, err := o.suite(name); how != "" || err != nil {
			return fmt.Errorf("%s: %s %w", name, how, err)
		}
	}
	for some := range slices.Chunk(o.numbers(), 250) {
		if err := o.learnPrograms(some); err != nil {
			return err
		}
	}
	for _, name := range o.miscompiled {
		delete(o.code, name)
	}
	f, err := os.Create(filepath.Join(o.work, "code"))
	if err != nil {
		return err
	}
	return errors.Join(gob.NewEncoder(f).Encode(o.code), f.Close())
}

// learnPrograms is learn for random kernels. It prints which ones the compiler itself is wrong about, and forgets them.
func (o *oracle) learnPrograms(numbers []int) error {
	for {
		how, err := o.programs(numbers).check()
		if how == "" || err != nil {
			return err
		}
		fmt.Println("wrong without a mutation:", how)
		name, _, _ := strings.Cut(strings.TrimPrefix(how, "random/"), ":")
		numbers = slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return o.known.Kernels[n].Name == name })
		o.miscompiled = append(o.miscompiled, randomPath+name)
	}
}

// numbers returns those of all random kernels.
func (o *oracle) numbers() (list []int) {
	for i := range o.known.Kernels {
		list = append(list, i)
	}
	return list
}

func load(name string, into any) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return gob.NewDecoder(f).Decode(into)
}

// readReached reads which kernels come to the mutation: all to none. The compiler with all mutations has written it.
func (o *oracle) readReached() error {
	text, err := os.ReadFile(filepath.Join(o.work, "reached"))
	o.reached = map[string]bool{}
	number := fmt.Sprint(o.number)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); o.number == 0 || slices.Contains(fields[1:], number) {
			o.reached[fields[0]] = true
		}
	}
	return err
}

// reachedBy reports whether a kernel of a group comes to the mutation.
func (o *oracle) reachedBy(group string) bool {
	for name := range o.reached {
		if strings.Contains(name, "/conformance/"+group+".") || strings.Contains(name, "/conformance/"+group+"/") {
			return true
		}
	}
	return false
}

// changed reports whether a kernel's code is other than the right compiler's, or not known.
func (o *oracle) changed(name string) bool {
	code, ok := o.reference[name]
	return !ok || code != o.code[name]
}

// build compiles a package, with those below it, and returns the kernels by the name of package and kernel. It
// reports whether some have other code than they should.
func (o *oracle) build(options compile.Options) (kernels map[string]*driver.Kernel, changed bool, err error) {
	options.Twins, options.Verify = compile.TwinsNone, true
	result, err := compile.Build(context.Background(), options)
	if err != nil {
		return nil, false, err
	}
	if err := result.Diagnostics.Err(); err != nil {
		return nil, false, err
	}
	kernels = map[string]*driver.Kernel{}
	for _, p := range result.Packages {
		for _, k := range p.Kernels {
			h := fnv.New64()
			fmt.Fprintln(h, k.Shared, k.Dynamic, k.Barriers, k.Cooperative, k.Spins, k.Sites, k.Params, k.Integers)
			for _, v := range k.Variants {
				fmt.Fprintln(h, v)
			}
			name := k.Package + "." + k.Name
			if strings.HasPrefix(name, randomModule) {
				name = randomPath + k.Name
			}
			kernels[name], o.code[name] = k.Kernel, h.Sum64()
			changed = changed || o.changed(name)
		}
	}
	return kernels, changed, nil
}

// budget is the instructions that a launch may execute: a mutant may loop for ever.
const budget = 20_000_000

// group returns the cases of a name.
func group(name string) conformance.Group {
	for _, g := range conformance.Groups() {
		if g.Name == name {
			return g
		}
	}
	panic("BUG: oracle: there is no group " + name)
}
