package launcher

import (
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/compile/internal/decl"
)

// typeParams returns the type parameter list of a launcher, each constraint being the types
// that are compiled, and what stands in it for the kernel's type parameters.
func (w *writer) typeParams(k decl.Kernel) (list string, params map[string]string) {
	if len(k.TypeParams) == 0 {
		return "", nil
	}
	if !k.Generic() {
		return "", w.arguments(k, k.Instances[0])
	}
	params = map[string]string{}
	var texts []string
	for i, name := range k.TypeParams {
		params[name] = w.locals(nil, name)[0]
		texts = append(texts, params[name]+" "+strings.Join(w.choices(k, i), " | "))
	}
	return "[" + strings.Join(texts, ", ") + "]", params
}

// choices returns the types that are compiled for the type parameter with the index i.
func (w *writer) choices(k decl.Kernel, i int) []string {
	var texts []string
	seen := map[string]bool{}
	for _, n := range k.Instances {
		if a := n.Args[i]; !seen[a.Source] {
			seen[a.Source] = true
			text := w.imports.typeText(a, nil)
			if w.stub {
				text = at(n.Pos) + text + nowhere
			}
			texts = append(texts, text)
		}
	}
	return texts
}

// arguments returns an instance's type arguments by the names of the parameters.
func (w *writer) arguments(k decl.Kernel, n decl.Instance) map[string]string {
	args := map[string]string{}
	for i, a := range n.Args {
		args[k.TypeParams[i]] = w.imports.typeText(a, nil)
	}
	return args
}

// function returns the text that names an instance's function, or with an index above 0 one of
// its other bodies.
func (w *writer) function(k decl.Kernel, n decl.Instance, body int) string {
	name := k.Name
	if body > 0 {
		name = k.Bodies[body-1].Name
	}
	if k.Package != "" {
		name = w.imports.name(k.Package) + "." + name
	}
	if len(n.Args) == 0 {
		return name
	}
	return name + "[" + strings.Join(w.argumentList(n), ", ") + "]"
}

func (w *writer) argumentList(n decl.Instance) []string {
	var list []string
	for _, a := range n.Args {
		list = append(list, w.imports.typeText(a, nil))
	}
	return list
}

// choice writes how a launcher finds the instance for its type arguments: a function type of
// nothing but them is a different one for each.
func (w *writer) choice(k decl.Kernel, kernel string) {
	_, params := w.typeParams(k)
	names := slices.Clone(k.TypeParams)
	for i, name := range names {
		names[i] = params[name]
	}
	w.printf("var %s *%s.Kernel\n", kernel, w.imports.driver())
	w.printf("switch any((func(%s))(nil)).(type) {\n", strings.Join(names, ", "))
	for _, n := range k.Instances {
		w.printf("case func(%s):\n%s = %s\n", strings.Join(w.argumentList(n), ", "), kernel, w.vars[n.Stem])
	}
	w.printf("}\n")
}
