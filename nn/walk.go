package nn

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// ErrModel is the error of a model that cannot be loaded or saved.
var ErrModel = errors.New("nn: this model cannot be in a file")

// A layer has parameters. Only types of this package are layers.
type layer interface {
	// load makes constant parameters, or with LoadOptions.Train parameters that are trained, of the tensors of a file. The name is that of the
	// layer in the file.
	load(l *loader, name string) error
	// slots returns the tensors in which the parameters that are trained are saved, or nil if there are none.
	slots(name string) ([]slot, error)
	summary() summary
}

// A place is a layer of a model.
type place struct {
	path  string        // of fields in Go, such as "Blocks[0].Down"
	name  string        // in files, such as "blocks.0.down"
	value reflect.Value // the layer, or Named
	field reflect.Value // that has a pointer to the layer, or the zero Value
}

// layer returns a pointer to the layer, or to a copy of it if it is not addressable.
func (p place) layer() layer {
	v := p.value
	if !v.CanAddr() {
		v = reflect.New(v.Type()).Elem()
		v.Set(p.value)
	}
	return v.Addr().Interface().(layer)
}

// A walker calls visit for each layer of a model.
type walker struct {
	key    string // of the tags that have the names of fields, or ""
	visit  func(p place)
	hidden []string         // the layers in unexported fields
	within map[pointer]bool // those that lead to the present value
	layers map[site]bool    // whether values may have layers
}

// A pointer is one of a type, as a struct and its first field have the same address.
type pointer struct {
	of reflect.Type
	to uintptr
}

// walk visits the layers of a model. The error joins a mistake for each layer in an unexported field.
func (w *walker) walk(model any) error {
	w.within, w.layers = map[pointer]bool{}, map[site]bool{}
	w.value(place{value: reflect.ValueOf(model)}, false)
	var errs []error
	for _, path := range w.hidden {
		errs = append(errs, fmt.Errorf(`%w: %s is in an unexported field: export the field, or tag it weights:"-"`, ErrModel, path))
	}
	return errors.Join(errs...)
}

var (
	layerType  = reflect.TypeFor[layer]()
	namedType  = reflect.TypeFor[Named]()
	linearType = reflect.TypeFor[*Linear]()
)

// isLayer reports whether a type is a layer. A struct that embeds a layer has its methods, but is not one.
func isLayer(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == namedType.PkgPath() && reflect.PointerTo(t).Implements(layerType)
}

// value visits the layers of p.value. If hidden is set, an unexported field leads to the value.
func (w *walker) value(p place, hidden bool) {
	v := p.value
	if !v.IsValid() || !w.mayHave(site{v.Type(), hidden}) {
		return
	}
	if isLayer(v.Type()) {
		switch {
		case hidden:
			w.hidden = append(w.hidden, p.path)
		case v.Type() == namedType:
			p.name = v.Field(0).String()
			fallthrough
		default:
			w.visit(p)
		}
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		p.value = v.Elem()
		w.value(p, hidden)
	case reflect.Pointer:
		w.pointer(p, hidden)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.value(place{path: fmt.Sprintf("%s[%d]", p.path, i), name: numbered(p.name, fmt.Sprint(i)), value: v.Index(i)}, hidden)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			w.value(place{path: fmt.Sprintf("%s[%q]", p.path, k), name: join(p.name, k.String()), value: v.MapIndex(k)}, hidden)
		}
	case reflect.Struct:
		w.fields(p, hidden)
	}
}

// pointer visits the layers that a pointer leads to, unless it leads back to a value that has it.
func (w *walker) pointer(p place, hidden bool) {
	at := pointer{p.value.Type(), p.value.Pointer()}
	if p.value.IsNil() || w.within[at] {
		return
	}
	w.within[at] = true
	p.value = p.value.Elem()
	w.value(p, hidden)
	delete(w.within, at)
}

// fields visits the layers of a struct. Unexported fields of an unexported field are not part of the model.
func (w *walker) fields(p place, hidden bool) {
	for i := range p.value.NumField() {
		f := p.value.Type().Field(i)
		name, tagged := f.Tag.Lookup(w.key)
		if name == "-" || hidden && !visible(f) {
			continue
		}
		if !tagged && !f.Anonymous {
			name = f.Name
		}
		in := place{path: join(p.path, f.Name), name: join(p.name, name), value: p.value.Field(i)}
		if in.value.Kind() == reflect.Pointer {
			in.field = in.value
		}
		w.value(in, hidden || !visible(f))
	}
}

// visible reports whether the layers of a field belong to the struct. Those of an embedded struct do, as its exported fields are promoted.
func visible(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.IsExported() || f.Anonymous && t.Kind() == reflect.Struct
}

// A site is the type of a value, and whether an unexported field leads to the value.
type site struct {
	of     reflect.Type
	hidden bool
}

// mayHave reports whether values of a type may have layers.
func (w *walker) mayHave(at site) bool {
	may, ok := w.layers[at]
	if !ok {
		may = at.leads(map[site]bool{})
		w.layers[at] = may
	}
	return may
}

// leads is mayHave. It is false for the sites in seen, which are being examined or were. An interface in an unexported field counts only if Linear
// implements it, so that no value is read that another goroutine may change.
func (at site) leads(seen map[site]bool) bool {
	if seen[at] {
		return false
	}
	seen[at] = true
	switch t := at.of; t.Kind() {
	case reflect.Interface:
		return !at.hidden || t.NumMethod() > 0 && linearType.Implements(t)
	case reflect.Map:
		return t.Key().Kind() == reflect.String && site{t.Elem(), at.hidden}.leads(seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return site{t.Elem(), at.hidden}.leads(seen)
	case reflect.Struct:
		if isLayer(t) {
			return true
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if (visible(f) || !at.hidden) && (site{f.Type, at.hidden || !visible(f)}).leads(seen) {
				return true
			}
		}
	}
	return false
}

// numbered returns the name of an element of a list: the list's name with the index instead of %d, or after a dot.
func numbered(name, index string) string {
	if strings.Contains(name, "%d") {
		return strings.Replace(name, "%d", index, 1)
	}
	return join(name, index)
}

// join joins names with a dot, unless one of them is empty.
func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return prefix + name
	}
	return prefix + "." + name
}

// expanded returns the names that a name with a list in braces stands for, or the name itself.
func expanded(name string) (names []string) {
	prefix, rest, ok := strings.Cut(name, "{")
	if !ok {
		return []string{name}
	}
	list, suffix, _ := strings.Cut(rest, "}")
	for part := range strings.SplitSeq(list, ",") {
		names = append(names, prefix+part+suffix)
	}
	return names
}
