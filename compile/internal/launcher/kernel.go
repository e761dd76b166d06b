package launcher

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// kernel writes the variable of an instance, its driver.Kernel, and declares its PTX in code.
func (w *writer) kernel(k decl.Kernel, n decl.Instance, c *driver.Kernel) {
	var ptx []string
	for _, v := range c.Variants {
		ptx = append(ptx, decl.Fresh(n.Stem+ptxSuffix(v), w.names))
		w.ptxText(ptx[len(ptx)-1], v.PTX.String())
	}
	pkg := w.imports.driver()
	w.printf("var %s = &%s.Kernel{\n", w.vars[n.Stem], pkg)
	w.printf("Name: %q,\nPackage: %q,\nFile: %q,\nLine: %d,\n", c.Name, c.Package, filepath.Base(k.Pos.Filename), k.Pos.Line)
	w.params(c.Params)
	w.printf("ParamBytes: %d,\n", c.ParamBytes)
	if c.Block != (driver.Dim{}) {
		w.printf("Block: %s.Dim{X: %d, Y: %d, Z: %d},\n", pkg, c.Block.X, c.Block.Y, c.Block.Z)
	}
	if c.Cluster != (driver.Dim{}) {
		w.printf("Cluster: %s.Dim{X: %d, Y: %d, Z: %d},\n", pkg, c.Cluster.X, c.Cluster.Y, c.Cluster.Z)
	}
	if c.Shared > 0 {
		w.printf("Shared: %d,\n", c.Shared)
	}
	if c.Dynamic > 0 {
		w.printf("Dynamic: %d,\n", c.Dynamic)
	}
	if c.Cooperative {
		w.printf("Cooperative: true,\n")
	}
	if c.Barriers {
		w.printf("Barriers: true,\n")
	}
	if c.Spins {
		w.printf("Spins: true,\n")
	}
	w.assumes(c.Assumes)
	w.sites(c.Sites)
	if len(c.Integers) > 0 {
		w.printf("Integers: %#v,\n", c.Integers)
	}
	if c.OnDemand {
		w.printf("OnDemand: true,\n")
	}
	w.variants(c.Variants, ptx)
	w.native(k, n, c.Params)
	if twin := w.twins[n.Stem]; twin != "" {
		w.printf("Twin: %s,\n", twin)
	}
	if len(c.Uses) > 0 {
		w.printf("Sources: %s,\nUses: []uint16{%s},\n", w.sources, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Uses), " ", ", "), "[]"))
	}
	w.printf("}\n\n")
	for i := range k.Bodies { // which Go code calls nowhere: linters ask why they are there
		w.printf("var _ = %s\n\n", w.function(k, n, i+1))
	}
}

// ptxText declares a variable with the PTX of a variant.
func (w *writer) ptxText(name, plain string) {
	code, base := w.packed.Add(plain)
	fmt.Fprintf(&w.code, "\nvar %s = %s.Text{", name, w.imports.driver())
	if base >= 0 {
		fmt.Fprintf(&w.code, "Base: &%s, ", w.ptx[base])
	}
	fmt.Fprintf(&w.code, "Code: `%s`}\n", code)
	w.ptx = append(w.ptx, name)
}

// textImport returns the import declaration of the file with PTX, if it has any.
func (w *writer) textImport() string {
	if w.ptx == nil {
		return ""
	}
	only := imports{names: w.imports.names, used: map[string]bool{module + "device/driver": true}}
	return "\n" + only.block()
}

// Sources is the name, or the prefix of the name, of the constant that lists the declarations that the kernels of a
// package depend on.
const Sources = "kernelSources"

// sourceList declares what the kernels are made of: all of them have the same list.
func (w *writer) sourceList(kernels map[string]*driver.Kernel) {
	w.sources = decl.Fresh(Sources, w.names)
	for _, k := range kernels {
		if k.Sources != "" {
			fmt.Fprintf(&w.code, "\n// %s lists the declarations that the kernels are made of, with their hashes.\nconst %s = `%s`\n", w.sources, w.sources, k.Sources)
			return
		}
	}
}

// ptxSuffix returns what is added to a kernel's name for the variable with a variant's PTX.
func ptxSuffix(v driver.Variant) string {
	suffix := strings.ToUpper(strings.ReplaceAll(target(v), "_", ""))
	if v.Narrow {
		suffix += "Narrow"
	}
	if v.Coarse > 0 {
		suffix += "Coarse"
	}
	if v.Aligned {
		suffix += "Aligned"
	}
	return suffix
}

func (w *writer) assumes(f driver.Fit) {
	var fields []string
	if f.Narrow {
		fields = append(fields, "Narrow: true")
	}
	if f.Aligned {
		fields = append(fields, "Aligned: true")
	}
	if fields != nil {
		w.printf("Assumes: %s.Fit{%s},\n", w.imports.driver(), strings.Join(fields, ", "))
	}
}

func (w *writer) params(params []driver.Param) {
	if len(params) == 0 {
		return
	}
	w.printf("Params: []%s.Param{\n", w.imports.driver())
	for _, p := range params {
		w.printf("{Name: %q, Offset: %d, Size: %d", p.Name, p.Offset, p.Size)
		if p.Elem > 0 {
			w.printf(", Elem: %d", p.Elem)
		}
		if p.Tensor {
			w.printf(", Tensor: true")
		}
		w.printf("},\n")
	}
	w.printf("},\n")
}

func (w *writer) sites(sites []driver.Site) {
	if len(sites) == 0 {
		return
	}
	w.printf("Sites: []%s.Site{\n", w.imports.driver())
	for _, s := range sites {
		w.printf("{File: %q, Line: %d, Format: %q%s},\n", s.File, s.Line, s.Format, w.siteArgs(s))
	}
	w.printf("},\n")
}

// siteArgs returns the field Args of a site, and nothing if the format implies it.
func (w *writer) siteArgs(s driver.Site) string {
	other := func(t dtype.Type) bool { return t != dtype.Int64 }
	if strings.Count(s.Format, "%") == len(s.Args) && !slices.ContainsFunc(s.Args, other) {
		return ""
	}
	pkg := w.imports.name(module + "dtype")
	var names []string
	for _, t := range s.Args {
		names = append(names, pkg+"."+t.Ident())
	}
	return fmt.Sprintf(", Args: []%s.Type{%s}", pkg, strings.Join(names, ", "))
}

func (w *writer) variants(variants []driver.Variant, ptx []string) {
	if len(variants) == 0 {
		return
	}
	pkg := w.imports.driver()
	w.printf("Variants: []%s.Variant{\n", pkg)
	for i, v := range variants {
		w.printf("{Target: %s.Capability{Major: %d, Minor: %d}, ", pkg, v.Target.Major, v.Target.Minor)
		if v.Exact {
			w.printf("Exact: true, ")
		}
		if v.Narrow {
			w.printf("Narrow: true, ")
		}
		if v.Coarse > 0 {
			w.printf("Coarse: %d, ", v.Coarse)
		}
		if v.Aligned {
			w.printf("Aligned: true, ")
		}
		if v.Awaits {
			w.printf("Awaits: true, ")
		}
		if v.Body != "" {
			w.printf("Body: %q, Shared: %d, Dynamic: %d, ", v.Body, v.Shared, v.Dynamic)
		}
		if v.Test != "" {
			w.printf("Test: %q, ", string(v.Test))
		}
		w.printf("PTX: &%s},\n", ptx[i])
	}
	w.printf("},\n")
}

// afterField returns the end of a parameter of field f, which places begins with, and the places after it.
func afterField(f decl.Field, places []driver.Param) (end int, after []driver.Param) {
	if f.Struct == nil {
		return places[0].Offset + places[0].Size, places[1:]
	}
	for _, inner := range f.Struct.Fields {
		for range inner.Names {
			end, places = afterField(inner, places)
		}
	}
	return (end + 7) / 8 * 8, places // slices align a struct
}

// native writes the function that runs the kernel on a CPU. The parameter block has the
// layout of the struct that args is taken for: both are Go's.
func (w *writer) native(k decl.Kernel, n decl.Instance, places []driver.Param) {
	names := w.locals(nil, "ts", "args", "a")
	ts, args, a := names[0], names[1], names[2]
	unnamed := args
	if len(k.Fields) == 0 {
		unnamed = "_"
	}
	w.printf("Native: func(%s *%s.Threads, %s %s.Pointer) {\n", ts, w.imports.name(module+"gpu"), unnamed, w.imports.name("unsafe"))
	call := []string{ts + ".Thread()"}
	if len(k.Fields) > 0 {
		w.printf("%s := (*struct {\n", a)
		params := w.arguments(k, n)
		end := 0 // of the parameters so far
		for _, f := range k.Fields {
			t := w.imports.typeText(f.Type, params)
			if f.Slice {
				t = "[]" + t
			}
			if f.Tensor {
				t = w.imports.name(module+"gpu") + ".TensorMap[" + t + "]"
			}
			if !f.Tensor {
				w.printf("%s %s\n", strings.Join(f.Names, ", "), t)
			}
			for _, name := range f.Names {
				call = append(call, a+"."+name)
				if pad := places[0].Offset - end; f.Tensor && pad > 0 {
					w.printf("_ [%d]byte\n", pad) // no Go type is aligned so far
				}
				if f.Tensor {
					w.printf("%s %s\n", name, t)
				}
				end, places = afterField(f, places)
			}
		}
		w.printf("})(%s)\n", args)
	}
	w.printf("for %s.Next() {\n%s(%s)\n}\n},\n", ts, w.function(k, n, 0), strings.Join(call, ", "))
}
