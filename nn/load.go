package nn

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// Errors of Load.
var (
	ErrMissing = errors.New("nn: the file lacks a tensor")
	ErrUnused  = errors.New("nn: the model does not use a tensor of the file")
	ErrShape   = errors.New("nn: a tensor of the file has another shape")
	ErrFormat  = errors.New("nn: elements of this type are not supported")
)

// A layer loads its parameters.
type layer interface {
	load(l *loader, name string) error
}

// LoadOptions are the options of Load.
type LoadOptions struct {
	// Ignore lists tensors of the file that the model does not use.
	Ignore []string
	// Rename, unless it is nil, returns the name that a layer has in the file. It is called with the name that the tags make, which may
	// have a list in braces.
	Rename func(name string) string
	// Order permutes the rows of matrices, and the elements of vectors. For the tensor with the given name in the file, Order returns a
	// function from i to the row of the file that becomes row i, or nil if the rows keep their order.
	Order func(name string) func(i int) int
	// Train means that the parameters of all layers of the types Linear, Stacked, Embedding and RMSNorm are trained. They begin with the
	// values of the file. See Params.Named.
	Train bool
	// Progress is called after each layer with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
	// Interrupt, unless it is nil, is called before each layer. If it returns an error, Load returns this error.
	Interrupt func() error
}

// Load loads the parameters of all layers of a model from a file. The model is a pointer to a struct. Its layers are fields, fields of fields, and
// elements of slices; the slices must already have their length. The name of a tensor consists of the tags of the outer and inner fields, joined by
// dots. A field without a tag adds nothing to the name. A field that is a pointer to a layer is optional: Load sets it to nil if the file lacks its
// tensor.
//
// Load is strict: the file must have each tensor of the model in the right shape, and the model must use each tensor of the file. The error joins all
// mistakes, each of which matches one of the errors of Load.
func Load(p *Params, model any, f *weights.File, o LoadOptions) error {
	l := &loader{params: p, file: f, options: o, key: "weights", used: map[string]bool{}, total: f.Size(), packed: map[packing]*quant.Packed{}}
	if strings.HasPrefix(f.Format, "GGUF") {
		l.key = "gguf"
	}
	if l.options.Rename == nil {
		l.options.Rename = func(name string) string { return name }
	}
	l.walk(reflect.ValueOf(model).Elem(), "")
	if l.interrupted != nil {
		return l.interrupted
	}
	for _, name := range o.Ignore {
		l.used[name] = true
	}
	for _, t := range f.Tensors {
		if !l.used[t.Name()] {
			l.errs = append(l.errs, fmt.Errorf("%w: %s %v", ErrUnused, t.Name(), t.Shape()))
		}
	}
	return errors.Join(l.errs...)
}

// loader is a call of Load.
type loader struct {
	params      *Params
	file        *weights.File
	options     LoadOptions
	key         string // of the tags
	used        map[string]bool
	done, total int64
	memory      [][]byte                  // into which matrices are read
	packed      map[packing]*quant.Packed // if the parameters are blank: matrices of zeros
	errs        []error
	interrupted error // of LoadOptions.Interrupt, or of a full device
}

// walk loads the layers in v, whose names begin with prefix.
func (l *loader) walk(v reflect.Value, prefix string) {
	if v.CanAddr() {
		if layer, ok := v.Addr().Interface().(layer); ok {
			if l.interrupted == nil && l.options.Interrupt != nil {
				l.interrupted = l.options.Interrupt()
			}
			if l.interrupted != nil {
				return
			}
			err := l.file.Guard(func() error { return layer.load(l, l.options.Rename(prefix)) }) // because the file may be mapped
			switch {
			case errors.Is(err, device.ErrMemory) || errors.Is(err, weights.ErrTruncated): // as it would be for each later layer
				l.interrupted = err
			case err != nil:
				l.errs = append(l.errs, err)
			}
			return
		}
	}
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, tagged := f.Tag.Lookup(l.key)
		if !f.IsExported() || !tagged && f.Tag != "" {
			continue
		}
		l.field(v.Field(i), join(prefix, tag))
	}
}

// field loads the layers of a field.
func (l *loader) field(v reflect.Value, name string) {
	switch {
	case v.Kind() == reflect.Slice && strings.Contains(name, "%d"):
		for i := range v.Len() {
			l.walk(v.Index(i), strings.Replace(name, "%d", fmt.Sprint(i), 1))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		if _, missing := l.file.Tensor(expanded(l.options.Rename(name))[0] + ".weight"); missing != nil {
			v.SetZero()
			return
		}
		l.walk(v.Elem(), name)
	default:
		l.walk(v, name)
	}
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

func join(prefix, tag string) string {
	if prefix == "" || tag == "" {
		return prefix + tag
	}
	return prefix + "." + tag
}

// tensor returns a tensor of the file, which it marks as used.
func (l *loader) tensor(name string) (*weights.Tensor, error) {
	t, err := l.file.Tensor(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrMissing, name)
	}
	l.used[name] = true
	l.done += int64(t.Size())
	return t, nil
}

// parameter returns a parameter that is trained and begins with the values of a tensor of the file.
func (l *loader) parameter(name string, shape ...int) (*Parameter, error) {
	t, err := l.tensor(name)
	if err != nil {
		return nil, err
	}
	if s := t.Shape(); !slices.Equal(s, shape) {
		return nil, fmt.Errorf("%w: %s is %v, want %v", ErrShape, name, s, shape)
	}
	var values []float32
	if !l.params.blank {
		if values, err = l.values(name, t, shape[0]); err != nil {
			return nil, err
		}
	}
	q := l.params.Parameter(values, shape...)
	l.params.trained.named = append(l.params.trained.named, Named{name, q})
	return q, nil
}

// values returns the elements of a tensor with some rows.
func (l *loader) values(name string, t *weights.Tensor, rows int) ([]float32, error) {
	data, err := l.rows(0, t, rows)
	if err != nil {
		return nil, err
	}
	values := make([]float32, t.Len())
	if isDense(t.Type()) {
		widen(values, stored{of: t.Type(), data: data})
	} else if err := gguf.Dequantize(t.Type(), values, data); err != nil {
		return nil, fmt.Errorf("%w: %s is of type %v", ErrFormat, name, t.Type())
	}
	return values, nil
}

// affine returns the parameters of a Linear that is trained.
func (l *loader) affine(of *Linear, name string) (a *affine, err error) {
	a = &affine{}
	if a.weight, err = l.parameter(name+".weight", of.Out, of.In); err == nil && of.Bias {
		a.bias, err = l.parameter(name+".bias", of.Out)
	}
	l.progress()
	return a, err
}

// progress reports what has been loaded.
func (l *loader) progress() {
	if l.options.Progress != nil {
		l.options.Progress(l.done, l.total)
	}
}
