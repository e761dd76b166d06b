package corpus

import (
	"fmt"
	"go/types"
	"math/rand/v2"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// The launch of all kernels, and what their threads read.
const (
	blocks, threads = 2, 8
	perThread       = 16  // elements of a slice argument that belong to one thread
	scalars         = 256 // numbers of each type from which all other arguments are taken
)

// A caller writes the kernel that calls a function.
type caller struct {
	*copier
	r      *rand.Rand
	lines  []string
	params []string
	args   []progen.Arg
	kinds  map[string]bool // scalar types that have a parameter
	names  int
	reads  int
}

func (w *caller) line(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf("\t"+format, args...))
}

func (w *caller) name(stem string) string {
	w.names++
	return fmt.Sprintf("%s%d", stem, w.names)
}

// typeText returns a type as the kernel's file writes it.
func (w *caller) typeText(t types.Type) string {
	const mark = "\u00b7"
	text := types.TypeString(t, func(p *types.Package) string {
		if w.copies(p.Path()) {
			return w.prefix(p.Path()) + mark
		}
		return w.imported(p.Path())
	})
	return strings.ReplaceAll(text, mark+".", "")
}

// kernel writes the kernel that calls the candidate's function.
func (w *caller) kernel(c candidate) string {
	call := ""
	var after []func() // hashes what arguments point to
	argument := func(stem string, t types.Type) string {
		name := w.name(stem)
		w.line("var %s %s", name, w.typeText(t))
		if stem == "carry" {
			w.line("%s = %s(%s & 1)", name, w.typeText(t), w.read(plain(t), ""))
		} else {
			w.fill(name, t, 0)
		}
		after = append(after, func() { w.mix(name, t, 0) })
		return name
	}
	if c.recv != nil {
		call = argument("recv", c.recv) + "." + c.fn.Name()
		if c.copied {
			w.want(c.source.path, key(c.fn.Origin()))
			w.reference(receiver(c.fn).Obj())
		}
	} else if call = w.reference(c.fn); len(c.args) > 0 {
		var texts []string
		for _, t := range c.args {
			texts = append(texts, w.typeText(t))
		}
		call += "[" + strings.Join(texts, ", ") + "]"
	}
	var args []string
	sig := c.fn.Signature()
	for i := range sig.Params().Len() {
		p := sig.Params().At(i)
		stem := "a"
		if i == sig.Params().Len()-1 && hasCarry(c.fn) {
			stem = "carry"
		}
		args = append(args, argument(stem, p.Type()))
	}
	variadic := ""
	if sig.Variadic() {
		variadic = "..."
	}
	w.results(call+"("+strings.Join(args, ", ")+variadic+")", sig.Results())
	for _, mix := range after {
		mix()
	}
	w.line("hash[id] = h")
	return w.function()
}

// results calls the function and hashes its results.
func (w *caller) results(call string, results *types.Tuple) {
	if results.Len() == 0 {
		w.line("%s", call)
		return
	}
	var names []string
	for range results.Len() {
		names = append(names, w.name("r"))
	}
	w.line("%s := %s", strings.Join(names, ", "), call)
	for i, name := range names {
		w.line("_ = %s", name)
		w.mix(name, results.At(i).Type(), 0)
	}
}

// function returns the kernel function with the lines that have been written.
func (w *caller) function() string {
	w.params = append(w.params, "hash []uint64")
	w.args = append(w.args, progen.Arg{Type: "uint64", Layout: "uint64", Len: blocks * threads})
	var out strings.Builder
	fmt.Fprintf(&out, "//gpu:kernel\nfunc %s(t gpu.Thread, first int, %s) {\n", w.token, strings.Join(w.params, ", "))
	out.WriteString("\tid := t.GlobalX() + first\n\tvar h uint64\n")
	for _, l := range w.lines {
		out.WriteString(l + "\n")
	}
	out.WriteString("}\n")
	return out.String()
}

// read returns an expression for a number or boolean of a basic type, another one in each thread. The index is added to the
// place that it is read from.
func (w *caller) read(basic *types.Basic, index string) string {
	kind := types.Typ[basic.Kind()].Name()
	param := "in_" + kind
	if !w.kinds[kind] {
		w.kinds[kind] = true
		layout := kind
		if kind == "uintptr" {
			layout = "uint64"
		}
		w.params = append(w.params, param+" []"+kind)
		w.args = append(w.args, progen.Arg{Type: kind, Layout: layout, Len: scalars})
	}
	w.reads += 7
	return fmt.Sprintf("%s[(id*31+%d%s)&%d]", param, w.reads, index, scalars-1)
}

// number returns an expression for an argument. Those of type int are mostly small, as lengths and indices are.
func (w *caller) number(basic *types.Basic) string {
	if basic.Kind() == types.Int || basic.Kind() == types.Uint {
		name := types.Typ[basic.Kind()].Name()
		switch w.r.IntN(6) {
		case 0:
			return "1"
		case 1:
			return w.read(basic, "")
		case 2:
			return fmt.Sprintf("%s(uint(%s)%%4)", name, w.read(basic, ""))
		default:
			return fmt.Sprintf("%s(uint(%s)%%%d)", name, w.read(basic, ""), perThread+1)
		}
	}
	return w.read(basic, "")
}
