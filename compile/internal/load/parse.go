package load

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// parsed is a file on its way into a program.
type parsed struct {
	name  string
	whole bool // else declarations are enough
	text  []byte
	base  int // of its token.Pos
	file  *ast.File
	err   error
}

// parse parses all files of the packages, several at a time. Each has its own place in the set from the start, so that a
// token.Pos does not depend on the schedule.
func (c *checker) parse(pkgs []*Package) {
	var all []*parsed
	of := map[*Package][]*parsed{}
	for _, p := range pkgs {
		for _, name := range c.names(p) {
			f := &parsed{name: portable(p, name), whole: c.mayHaveBodies(p)}
			of[p], all = append(of[p], f), append(all, f)
		}
	}
	each(len(all), func(i int) { c.read(all[i]) })
	base := c.program.Fset.Base()
	for _, f := range all {
		f.base = base
		base += len(f.text) + 1
	}
	sets := make([]*token.FileSet, len(all))
	each(len(all), func(i int) { sets[i] = all[i].parse() })
	for i, f := range all {
		if f.file != nil {
			c.program.Fset.AddExistingFiles(sets[i].File(token.Pos(f.base)))
		}
	}
	for p, files := range of {
		c.take(p, files)
	}
}

// parse parses one file, at its place in a set of its own.
func (f *parsed) parse() *token.FileSet {
	set := token.NewFileSet()
	if gap := f.base - set.Base(); gap > 0 {
		set.AddFile("", -1, gap-1)
	}
	if f.err == nil {
		mode := parser.SkipObjectResolution
		if bytes.Contains(f.text, []byte("//gpu:unroll")) { // other comments do not count
			mode |= parser.ParseComments
		}
		f.file, f.err = parser.ParseFile(set, f.name, f.text, mode)
	}
	return set
}

// take makes the files those of p.
func (c *checker) take(p *Package, files []*parsed) {
	for _, f := range files {
		if f.err != nil && c.mayHaveBodies(p) {
			p.Unparsed.Add(parseErrors(f.name, f.err)...)
		}
		if f.file == nil {
			continue
		}
		if slices.Contains(p.CgoFiles, f.name) && c.mayHaveBodies(p) {
			withoutC(f.file)
		}
		c.files[p] = append(c.files[p], f.file)
	}
}

// names returns the package's files, sorted, after the overlay.
func (c *checker) names(p *Package) []string {
	names := map[string]bool{}
	for _, file := range p.Files() {
		names[file] = true
	}
	for file, contents := range c.overlay {
		if filepath.Dir(file) == p.Dir {
			names[file] = contents != nil
		}
	}
	maps.DeleteFunc(names, func(_ string, present bool) bool { return !present })
	return slices.Sorted(maps.Keys(names))
}

// read sets the text to parse.
func (c *checker) read(f *parsed) {
	text, ok := c.overlay[f.name]
	if !ok {
		text, f.err = c.graph.Read(f.name)
	}
	if !f.whole {
		text = outline(text)
	}
	f.text = text
}

func parseErrors(file string, err error) diag.List {
	list, ok := errors.AsType[scanner.ErrorList](err)
	if !ok {
		return diag.List{diag.New(token.Position{Filename: file}, diag.GoError, "%v", err)}
	}
	var found diag.List
	for _, e := range list {
		found.Add(diag.New(e.Pos, diag.GoError, "%s", e.Msg))
	}
	return found
}

// each calls f with the numbers below n, several at a time.
func each(n int, f func(i int)) {
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			f(i)
		})
	}
	group.Wait()
}
