package nn

import (
	"errors"
	"fmt"
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

// LoadOptions are the options of Load.
type LoadOptions struct {
	// Ignore lists tensors of the file that the model does not use.
	Ignore []string
	// Rename, unless it is nil, returns the name that a layer has in the file, given its name according to the tags. Both names may have a list
	// in braces.
	Rename func(name string) string
	// Order permutes the rows of matrices, and the elements of vectors. For the name of a tensor in the file, Order returns nil if the rows
	// keep their order. Otherwise, it returns a function that maps i to the number of the file's row that becomes row i.
	Order func(name string) func(i int) int
	// Train means that all layers of the types Linear, Stacked, Embedding and RMSNorm are trained. Params.Named returns their parameters.
	Train bool
	// Progress is called after each layer with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
	// Interrupt, unless it is nil, is called before each layer. If it returns an error, Load returns this error.
	Interrupt func() error
}

// Load loads the parameters of all layers of a model from a file. The model is a pointer to a struct. Load finds layers, and fields of type
// *Parameter, in the struct and in nested structs, slices, arrays and maps. Slices must already have their length.
//
// The name of a tensor consists of the names of the outer and inner fields, joined by dots. The name of a field is its tag or, without a tag,
// its name in Go. An embedded field without a tag adds nothing. The index of an element of a slice replaces %d in the tag; without %d, it
// follows the name after a dot. The tag weights:"-" excludes a field.
//
// If a layer already has parameters that can be trained, such as one made by NewLinear, Load only sets their values. Before the call, synchronize
// other streams that use them. Load makes the parameters of all other layers. A layer without parameters is optional if its field is a pointer: if
// the file lacks its tensor, Load sets the pointer to nil.
//
// Load is strict: the file must have each tensor of the model in the right shape, and the model must use each tensor of the file. The error
// joins all mistakes, each of which matches one of the errors of Load or ErrModel. After a mistake, parameters that can be trained keep their
// values.
func Load(p *Params, model any, f *weights.File, o LoadOptions) error {
	l := &loader{params: p, file: f, options: o, key: "weights", used: map[string]bool{}, total: f.Size(), packed: map[packing]*quant.Packed{}}
	if strings.HasPrefix(f.Format, "GGUF") {
		l.key = "gguf"
	}
	if l.options.Rename == nil {
		l.options.Rename = func(name string) string { return name }
	}
	w := walker{key: l.key, visit: l.visit}
	l.fail(w.walk(model))
	if l.interrupted != nil {
		return l.interrupted
	}
	for _, name := range o.Ignore {
		l.used[name] = true
	}
	for _, t := range f.Tensors {
		if !l.used[t.Name()] {
			l.fail(fmt.Errorf("%w: %s %v", ErrUnused, t.Name(), t.Shape()))
		}
	}
	if len(l.errs) > 0 {
		return errors.Join(l.errs...)
	}
	return l.fill()
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
	fills       []fill                    // of layers that are trained already
	errs        []error
	interrupted error // of LoadOptions.Interrupt, or of a full device
}

// fail keeps a mistake, unless it is nil.
func (l *loader) fail(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// interrupt reports whether Load must end.
func (l *loader) interrupt() bool {
	if l.interrupted == nil && l.options.Interrupt != nil {
		l.interrupted = l.options.Interrupt()
	}
	return l.interrupted != nil
}

// visit loads a layer. Layers that are trained already are loaded last: see fill.
func (l *loader) visit(at place) {
	if l.interrupt() {
		return
	}
	of, name := at.layer(), l.options.Rename(at.name)
	list, err := of.slots(name)
	switch {
	case err != nil:
		l.fail(fmt.Errorf("%w: %s", err, at.path))
	case list != nil:
		for _, s := range list {
			l.fail(l.prepare(s))
		}
	case at.field.CanSet() && l.lacks(name):
		at.field.SetZero()
	case !at.value.CanAddr():
		l.fail(fmt.Errorf("%w: %s is not addressable: use a pointer", ErrModel, at.path))
	default:
		err := l.file.Guard(func() error { return of.load(l, name) })                 // because the file may be mapped
		if errors.Is(err, device.ErrMemory) || errors.Is(err, weights.ErrTruncated) { // as it would be for each later layer
			l.interrupted = err
			return
		}
		l.fail(err)
	}
}

// lacks reports whether the file has no matrix for a layer.
func (l *loader) lacks(name string) bool {
	_, err := l.file.Tensor(join(expanded(name)[0], "weight"))
	return err != nil
}

// tensor returns a tensor of the file, which it marks as used and counts as loaded.
func (l *loader) tensor(name string) (*weights.Tensor, error) {
	t, err := l.find(name)
	if err == nil {
		l.done += int64(t.Size())
	}
	return t, err
}

// find returns a tensor of the file, which it marks as used.
func (l *loader) find(name string) (*weights.Tensor, error) {
	t, err := l.file.Tensor(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrMissing, name)
	}
	l.used[name] = true
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
	if a.weight, err = l.parameter(join(name, "weight"), of.Out, of.In); err == nil && of.Bias {
		a.bias, err = l.parameter(join(name, "bias"), of.Out)
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
