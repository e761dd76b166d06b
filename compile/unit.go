package compile

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/gopherwarp/gopherwarp/compile/internal/launcher"
	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/device"
)

// compile returns a unit's compiled kernels and files, or nil where nothing is asked for.
func (b *build) compile(u *unit) (*Package, error) {
	if !u.wanted {
		return nil, nil
	}
	p := &Package{Path: u.pkg.ImportPath, Dir: u.pkg.Dir}
	if u.kept != nil {
		p.Files = u.kept
		return p, p.addLeftovers()
	}
	before := len(b.found)
	if len(u.decl.Kernels) > 0 && !u.pkg.IllTyped {
		if err := b.kernels(u, p); err != nil {
			return nil, err
		}
	}
	if len(b.found) > before || len(u.decl.Errors) > 0 || u.pkg.IllTyped {
		return p, nil
	}
	if err := b.files(u, p); err != nil {
		return nil, err
	}
	b.keeper.keep(u, p)
	return p, p.addLeftovers()
}

// kernels compiles the unit's kernels into p.
func (b *build) kernels(u *unit, p *Package) error {
	for _, f := range b.functions(u) {
		err := guard(u.pkg.ImportPath+"."+f.instance.Name, func() error {
			compiled, err := b.lower(u, f)
			if compiled != nil {
				p.Kernels = append(p.Kernels, compiled)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// files sets the files of p.
func (b *build) files(u *unit, p *Package) error {
	kernels := map[string]*device.Kernel{}
	var vectors launcher.Vectors
	twins := launcher.NewTwins(u.decl, b.nameOf(u.pkg))
	for _, k := range p.Kernels {
		kernels[k.stem] = k.Kernel
		k.emitTwin(twins, &vectors, b.options.Twins)
		for _, v := range k.Variants {
			p.Files = append(p.Files, File{
				Name:     filepath.Join(p.Dir, launcher.PTXName(k.stem, v)),
				Contents: []byte(v.PTX),
			})
		}
	}
	if len(kernels) > 0 {
		text, err := launcher.File(u.decl, kernels, twins, b.nameOf(u.pkg))
		if err != nil {
			return err
		}
		p.Files = append(p.Files, File{Name: filepath.Join(p.Dir, load.Generated), Contents: text})
	}
	text, err := twins.File()
	if err != nil {
		return err
	}
	if text != nil {
		p.Files = append(p.Files, File{Name: filepath.Join(p.Dir, load.Twins), Contents: text})
	}
	for name, text := range vectors.Files(load.Vectors, u.decl.Name) {
		p.Files = append(p.Files, File{Name: filepath.Join(p.Dir, load.Vectors, name), Contents: []byte(text)})
	}
	return nil
}

// addLeftovers adds to the files of p those of earlier builds that must go.
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
