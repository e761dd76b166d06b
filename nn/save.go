package nn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// SaveFile writes the parameters of a model to a safetensors file, from which LoadFile loads them. The model is a struct of trained layers
// (see Load), a pointer to such a struct, or a []Named. The names of tensors are those that Load describes, with the tags of the key
// "weights". An existing file is replaced once the new file is complete.
//
// Values are float32, even if layers compute with bfloat16, so that a training continues with the same bits. The state of the optimizer is not
// in the file: see package train. SaveFile uses the stream of NewParams; before the call, synchronize other streams that change the
// parameters.
//
// The error matches ErrModel if a layer is constant or two tensors have the same name, and ErrUnloaded if a layer has no parameters.
// Otherwise, it is an error of the device or of writing the file.
func SaveFile(ctx context.Context, model any, name string) error {
	f, err := contents(ctx, model)
	if err != nil {
		return err
	}
	return safetensors.Save(name, f)
}

// LoadFile is like Load, but opens and closes the file. The name is that of any file or folder that formats.Open accepts.
func LoadFile(p *Params, model any, name string, o LoadOptions) error {
	f, err := formats.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(Load(p, model, f, o), f.Close())
}

// saver is a call of SaveFile.
type saver struct {
	ctx     context.Context
	tensors []*weights.Tensor
	saved   map[string]source // by the names of tensors
	errs    []error
}

// source is what a tensor is saved of: some elements of a parameter. Its path is that of the layer.
type source struct {
	of   *Parameter
	from int
	path string
}

// contents returns the parameters of a model as tensors of a file, whose values are read from the device when the file is read.
func contents(ctx context.Context, model any) (*weights.File, error) {
	s := saver{ctx: ctx, saved: map[string]source{}}
	w := walker{key: "weights", visit: s.visit}
	if err := w.walk(model); err != nil {
		s.errs = append(s.errs, err)
	}
	if len(s.saved)+len(s.errs) == 0 {
		s.errs = append(s.errs, fmt.Errorf("%w: %T has no layers", ErrModel, model))
	}
	if len(s.errs) > 0 {
		return nil, errors.Join(s.errs...)
	}
	return weights.New(weights.Contents{Metadata: weights.Metadata{{Key: "format", Value: "pt"}}, Tensors: s.tensors}) // as Hugging Face demands
}

// visit adds the tensors of a layer.
func (s *saver) visit(at place) {
	of := at.layer()
	list, err := of.slots(at.name)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %s", err, at.path)
	case list == nil && of.summary().bytes == 0:
		err = fmt.Errorf("%w: %s", ErrUnloaded, at.path)
	case list == nil:
		err = fmt.Errorf(`%w: %s is constant, and only layers that are trained are saved: tag it weights:"-"`, ErrModel, at.path)
	}
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	for _, x := range list {
		if err := s.add(x, source{x.of, x.from, at.path}); err != nil {
			s.errs = append(s.errs, err)
		}
	}
}

// add adds a tensor. If two fields with the same name lead to the same parameter, the file has it once.
func (s *saver) add(x slot, from source) error {
	if other, ok := s.saved[x.name]; ok {
		if other.of == from.of && other.from == from.from {
			return nil
		}
		return fmt.Errorf("%w: %s and %s have the same name, %s", ErrModel, other.path, from.path, x.name)
	}
	s.saved[x.name] = from
	t, err := weights.NewComputed(weights.Spec{Name: x.name, Type: weights.F32, Shape: x.shape}, func() (data []byte, err error) {
		values, err := x.of.current(s.ctx, x.from, elementsOf(x.shape))
		if err != nil {
			return nil, err
		}
		return binary.Append(nil, binary.LittleEndian, values)
	})
	s.tensors = append(s.tensors, t)
	return err
}
