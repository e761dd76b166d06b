package compile

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// compile returns the wanted units' compiled kernels and files.
func (b *build) compile() ([]*Package, error) {
	var all []*Package
	for _, u := range b.units {
		if !u.wanted {
			continue
		}
		u.made = &Package{Path: u.pkg.ImportPath, Dir: u.pkg.Dir}
		all = append(all, u.made)
		if err := b.start(u); err != nil {
			return nil, err
		}
	}
	b.program, b.ssa, b.frontend, b.origins = nil, nil, nil, nil // they are large
	b.workers.Wait()
	for _, u := range b.units {
		b.found.Add(u.found...)
		if u.err != nil {
			return nil, u.err
		}
	}
	return all, b.addLeftovers()
}

// start has the frontend lower a unit's kernels, and others do the rest meanwhile: the last of them the unit's files.
func (b *build) start(u *unit) error {
	done := func() {
		if u.left.Add(-1) == 0 {
			b.finish(u)
		}
	}
	u.left.Add(1)
	if u.kept == nil && len(u.decl.Kernels) > 0 && !u.pkg.IllTyped {
		for _, f := range b.functions(u) {
			name := u.pkg.ImportPath + "." + f.instance.Name
			var j *job
			err := guard(name, func() error { j = b.lower(u, f); return nil })
			if err != nil {
				return err
			}
			u.jobs = append(u.jobs, j)
			u.left.Add(1)
			b.workers.Go(func() {
				err := guard(name, func() error { j.compile(); return nil })
				j.err = cmp.Or(j.err, err)
				b.progress.kernel()
				done()
			})
		}
	}
	b.workers.Go(done)
	return nil
}

// finish takes what became of a unit's kernels, and makes its files of them.
func (b *build) finish(u *unit) {
	u.whole = len(u.decl.Errors) == 0 && len(u.found) == 0 && !u.pkg.IllTyped
	for _, j := range u.jobs {
		if j.err != nil {
			u.err = j.err
			return
		}
		u.found.Add(j.found...)
		if len(j.found) == 0 {
			u.made.Kernels = append(u.made.Kernels, j.compiled)
		}
	}
	u.jobs = nil
	switch u.whole = u.whole && len(u.found) == 0; {
	case u.kept != nil:
		u.made.Files = u.kept
	case u.whole:
		if u.err = guard(u.pkg.ImportPath, func() error { return b.files(u) }); u.err == nil {
			b.cache.keep(u)
		}
	}
	for _, k := range u.made.Kernels {
		k.twin = nil
	}
}

// files sets the files that are made of the unit's kernels.
func (b *build) files(u *unit) error {
	p := u.made
	kernels := map[string]*driver.Kernel{}
	var vectors launcher.Vectors
	twins := launcher.NewTwins(u.decl, b.nameOf(u.pkg))
	whole := twinner{twins: twins, vectors: &vectors, which: b.options.Twins, instances: instances(p.Kernels), lines: map[declPosition]int{}}
	listOrigins(p.Kernels)
	for _, k := range p.Kernels {
		kernels[k.stem] = k.Kernel
		whole.emit(k)
	}
	code, place := Everywhere, Everywhere
	if u.decl.OnDemand {
		code, place = BuiltOnly, SourceTree
	}
	if len(kernels) > 0 {
		made, err := launcher.File(u.decl, kernels, twins, b.nameOf(u.pkg))
		if err != nil {
			return err
		}
		p.add(load.Generated, made.Launchers, code)
		p.add(load.PTX, made.PTX, code)
	}
	if len(kernels) > 0 && u.decl.OnDemand {
		text, err := launcher.OnDemand(u.decl, kernels, b.nameOf(u.pkg))
		if err != nil {
			return err
		}
		p.add(load.Generated, text, place)
	}
	text, err := twins.File()
	if err != nil {
		return err
	}
	p.add(load.Twins, text, code)
	for _, f := range vectors.Files(load.Vectors, u.decl.Name) {
		where := code
		if f.Doc {
			where = Everywhere // an overlay needs the folder, where the go command runs its assembler
		}
		p.add(filepath.Join(load.Vectors, f.Name), []byte(f.Text), where)
	}
	return nil
}

// add adds a file by its name in the package's folder, if it has contents.
func (p *Package) add(name string, contents []byte, place Place) {
	if contents != nil {
		p.Files = append(p.Files, File{Name: filepath.Join(p.Dir, name), Contents: contents, Place: place})
	}
}

// addLeftovers adds to the files of whole units those of earlier builds that must go.
func (b *build) addLeftovers() error {
	for _, u := range b.units {
		if !u.whole {
			continue
		}
		if err := u.made.addLeftovers(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Package) addLeftovers() error {
	for _, dir := range [...]string{p.Dir, filepath.Join(p.Dir, load.Vectors)} {
		old, err := leftovers(dir, p.Files)
		if err != nil {
			return err
		}
		p.Files = append(p.Files, old...)
	}
	slices.SortFunc(p.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}
