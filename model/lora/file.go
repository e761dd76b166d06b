package lora

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// The files of a folder, and the parts of the names of tensors around that of a layer.
const (
	configFile  = "adapter_config.json"
	weightsFile = "adapter_model.safetensors"
	prefix      = "base_model.model."
	suffixA     = ".lora_A.weight"
	suffixB     = ".lora_B.weight"
	suffixNorms = ".lora_magnitude_vector"
)

// Save waits for the stream, and writes the adapter to a folder in the format of the Python package PEFT: adapter_config.json, and
// adapter_model.safetensors with float32 elements. It creates the folder if necessary.
func (a *Adapter) Save(ctx context.Context, s *device.Stream, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	f, err := a.file(ctx, s)
	if err != nil {
		return err
	}
	if err := safetensors.Save(filepath.Join(folder, weightsFile), f); err != nil {
		return err
	}
	o := a.Options
	o.Modules = modulesOf(a.Layers())
	text, err := o.configText()
	if err != nil {
		return err
	}
	return weights.Save(filepath.Join(folder, configFile), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// modulesOf returns the modules of layers in order.
func modulesOf(layers []Linear) (list []string) {
	for _, l := range layers {
		list = append(list, l.module())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// file returns the matrices.
func (a *Adapter) file(ctx context.Context, s *device.Stream) (*weights.File, error) {
	c := weights.Contents{Metadata: weights.Metadata{{Key: "format", Value: "pt"}}}
	err := tensor.RunOn(ctx, s, func(scope *tensor.Scope) error {
		for _, p := range a.list {
			for _, m := range p.parameters() {
				t, err := stored(scope, prefix+p.layer.Name+m.suffix, m.Parameter)
				if err != nil {
					return err
				}
				c.Tensors = append(c.Tensors, t)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return weights.New(c)
}

// named is a parameter and the end of its name in files.
type named struct {
	*nn.Parameter
	suffix string
}

// parameters returns the parameters of a layer.
func (p *Pair) parameters() []named {
	list := []named{{p.a, suffixA}, {p.b, suffixB}}
	if p.magnitude != nil {
		list = append(list, named{p.magnitude, suffixNorms})
	}
	return list
}

// stored returns a tensor with the present values of a parameter.
func stored(s *tensor.Scope, name string, q *nn.Parameter) (*weights.Tensor, error) {
	values, err := q.Values(s)
	if err != nil {
		return nil, err
	}
	data, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		return nil, err
	}
	return weights.NewTensor(weights.Spec{Name: name, Type: weights.F32, Shape: q.Shape()}, bytes.NewReader(data))
}

// ReadOptions returns the Options of the adapter in a folder.
func ReadOptions(folder string) (Options, error) {
	text, err := os.ReadFile(filepath.Join(folder, configFile))
	if err != nil {
		return Options{}, err
	}
	return parseConfig(text)
}

// Matrices are the matrices of a layer in the host's memory.
type Matrices struct {
	Linear
	A, B  []float32 // [Rank, In] and [Out, Rank]
	Norms []float32 // with DoRA, the trained norms: [Out]
}

// Read reads an adapter from a folder in the format of the Python package PEFT. layers are the layers of the model. The folder must have both
// matrices of each layer that adapter_config.json names under target_modules, and no other matrices. The error joins at most three mistakes; each
// matches ErrFormat, ErrModule or ErrOptions.
func Read(layers []Linear, folder string) (Options, []Matrices, error) {
	o, err := ReadOptions(folder)
	if err != nil {
		return o, nil, err
	}
	f, err := safetensors.Open(filepath.Join(folder, weightsFile))
	if err != nil {
		return o, nil, err
	}
	list, err := o.matrices(layers, f)
	return o, list, errors.Join(err, f.Close())
}

// Open reads an adapter, as Read does, and uploads it to the stream's device.
func Open(s *device.Stream, layers []Linear, folder string) (*Adapter, error) {
	return OpenAs(s, layers, folder, dtype.Invalid)
}

// OpenAs is like Open, for a model whose activations have the given type: see Options.DType.
func OpenAs(s *device.Stream, layers []Linear, folder string, activations dtype.Type) (*Adapter, error) {
	o, list, err := Read(layers, folder)
	if err != nil {
		return nil, err
	}
	o.DType = activations
	a := &Adapter{Options: o, stream: s, params: nn.NewParams(s, nn.Options{DType: activations}), byName: map[string]*Pair{}}
	for _, m := range list {
		a.add(m.Linear, a.params.Parameter(m.A, o.Rank, m.In), a.params.Parameter(m.B, m.Out, o.Rank))
	}
	for i, m := range list { // in the order of Attach
		if o.DoRA {
			a.list[i].magnitude = a.params.Parameter(m.Norms, m.Out)
		}
	}
	return a, nil
}

// matrices reads the matrices of a file.
func (o Options) matrices(layers []Linear, f *weights.File) (list []Matrices, err error) {
	wanted, err := o.choose(layers)
	errs := []error{err}
	if len(o.Modules) == 0 {
		wanted = slices.DeleteFunc(slices.Clone(layers), func(l Linear) bool {
			_, none := f.Tensor(prefix + l.Name + suffixA)
			return none != nil
		})
	}
	if err := sameWidths(wanted, f); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, l := range wanted {
		down, err := read(f, weights.Spec{Name: prefix + l.Name + suffixA, Shape: []int{o.Rank, l.In}})
		up, other := read(f, weights.Spec{Name: prefix + l.Name + suffixB, Shape: []int{l.Out, o.Rank}})
		m := Matrices{Linear: l, A: down, B: up}
		used[prefix+l.Name+suffixA], used[prefix+l.Name+suffixB] = true, true
		errs = append(errs, err, other)
		if o.DoRA {
			m.Norms, err = read(f, weights.Spec{Name: prefix + l.Name + suffixNorms, Shape: []int{l.Out}})
			used[prefix+l.Name+suffixNorms], errs = true, append(errs, err)
		}
		list = append(list, m)
	}
	for _, t := range f.Tensors {
		if name := t.Name(); !used[name] {
			errs = append(errs, fmt.Errorf("%w: no layer for %s", ErrModule, strings.TrimPrefix(name, prefix)))
		}
	}
	return list, firstOf(errs)
}

// sameWidths returns ErrFormat if a layer has another number of inputs in the file than in the model.
func sameWidths(layers []Linear, f *weights.File) error {
	for _, l := range layers {
		t, err := f.Tensor(prefix + l.Name + suffixA)
		if err != nil {
			continue
		}
		if shape := t.Shape(); len(shape) == 2 && shape[1] != l.In {
			return fmt.Errorf("%w: it belongs to another model: %s has %d inputs in the adapter, and %d in the model", ErrFormat, l.Name, shape[1], l.In)
		}
	}
	return nil
}

// mostErrors is the number of mistakes that an error lists.
const mostErrors = 3

// firstOf joins the first errors, and counts the others.
func firstOf(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if more := len(errs) - mostErrors; more > 1 {
		errs = append(errs[:mostErrors:mostErrors], fmt.Errorf("%w: %d more mistakes", ErrFormat, more))
	}
	return errors.Join(errs...)
}

// read returns the elements of a matrix.
func read(f *weights.File, spec weights.Spec) ([]float32, error) {
	t, err := f.Tensor(spec.Name)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is missing", ErrFormat, spec.Name)
	}
	if !slices.Equal(t.Shape(), spec.Shape) {
		return nil, fmt.Errorf("%w: %s is %v, want %v", ErrFormat, spec.Name, t.Shape(), spec.Shape)
	}
	return float32s(t)
}

// float32s returns the elements of a tensor of float32, bfloat16 or float16 numbers.
func float32s(t *weights.Tensor) ([]float32, error) {
	switch t.Type() {
	case weights.F32:
		return weights.Values[float32](t)
	case weights.BF16:
		return widened[dtype.BF16](t)
	case weights.F16:
		return widened[dtype.F16](t)
	}
	return nil, fmt.Errorf("%w: %s is of type %v", ErrFormat, t.Name(), t.Type())
}

// widened returns the elements of a tensor of 16-bit numbers.
func widened[T interface{ Float32() float32 }](t *weights.Tensor) ([]float32, error) {
	values, err := weights.Values[T](t)
	list := make([]float32, len(values))
	for i, v := range values {
		list[i] = v.Float32()
	}
	return list, err
}
