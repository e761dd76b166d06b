package corpus

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// A Kernel is a kernel with the function that it calls.
type Kernel struct {
	From   string // the source and the function: "math/bits:Add64 (imported)", "test/fixedbugs/bug027.go:Vector.Insert"
	Number int    // in the order of the sample, from 0; the kernel's name is derived from it
	Kernel progen.Kernel
}

// A Sample is kernels that were drawn from a library.
type Sample struct {
	Kernels    []Kernel
	Candidates int // functions in the library that kernels may be made of
	Rejected   int // drawn functions that no kernel could be made of: they need a declaration that cannot be copied or named
	Duplicates int // drawn functions whose copy equals an earlier one
}

// Sample draws n kernels, or as many as there are. The result depends only on the library, n and the seed, and those for a
// smaller n are the first of those for a larger one.
func (l *Library) Sample(n int, seed uint64) Sample {
	list := l.shuffled(seed)
	s := Sample{Candidates: len(list)}
	seen := map[string]bool{}
	for i, c := range list {
		if len(s.Kernels) == n {
			break
		}
		k, err := l.make(c, i, seed)
		if err != nil {
			s.Rejected++
			continue
		}
		text := strings.ReplaceAll(strings.ReplaceAll(k.Kernel.Source, k.Kernel.Name, ""), identifier(c.source.path), "")
		if seen[text] {
			s.Duplicates++
			continue
		}
		seen[text] = true
		s.Kernels = append(s.Kernels, k)
	}
	return s
}

// make writes the kernel of a candidate: with the methods that are called by name, or, where that does not type-check
// because a type must implement an interface, with all methods.
func (l *Library) make(c candidate, number int, seed uint64) (Kernel, error) {
	k, err := l.write(c, number, seed, false)
	if err != nil && c.copied && !errors.Is(err, errNoCopy) && !errors.Is(err, errExit) && !errors.Is(err, errTooLarge) {
		k, err = l.write(c, number, seed, true)
	}
	return Kernel{From: c.String(), Number: number, Kernel: k}, err
}

func (l *Library) write(c candidate, number int, seed uint64, methods bool) (progen.Kernel, error) {
	r := rand.New(rand.NewPCG(seed, uint64(number)+1))
	own := ""
	if c.copied {
		own = c.source.path
	}
	w := &caller{copier: newCopier(l, fmt.Sprintf("k%d_", number), own), r: r, kinds: map[string]bool{}}
	w.methods = methods
	k := progen.Kernel{Name: w.token, Blocks: [2]int{blocks, 1}, Threads: [2]int{threads, 1}, Alone: true, Lines: true, Values: r.Uint64()}
	text := w.kernel(c)
	copied, err := w.text()
	if err != nil {
		return k, err
	}
	k.Source, k.Args, k.Prints = text+"\n"+copied+"\n", w.args, w.prints
	for _, path := range slices.Sorted(maps.Keys(w.imports)) {
		k.Imports = append(k.Imports, progen.Import{Name: alias(path), Path: path})
	}
	return k, l.check(k)
}

// Imports returns the paths that kernels import, each once.
func Imports(kernels []Kernel) []string {
	paths := map[string]bool{}
	for _, k := range kernels {
		for _, i := range k.Kernel.Imports {
			paths[i.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// Kernel returns the kernel of a sample with the number.
func (l *Library) Kernel(number int, seed uint64) (Kernel, error) {
	list := l.shuffled(seed)
	if number < 0 || number >= len(list) {
		return Kernel{}, fmt.Errorf("corpus: kernel %d of %d", number, len(list))
	}
	return l.make(list[number], number, seed)
}

// shuffled returns all candidates in the order of a sample.
func (l *Library) shuffled(seed uint64) []candidate {
	list := l.candidates()
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
