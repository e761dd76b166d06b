package tensor

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// SaveSafetensors waits for tensors and writes them to a safetensors file. The keys of list are the names of the tensors. An existing file is
// replaced once the new file is complete. The error is the mistake that made a tensor void, or an error of writing the file.
func SaveSafetensors(ctx context.Context, name string, list map[string]*Tensor) error {
	var c weights.Contents
	for _, key := range slices.Sorted(maps.Keys(list)) {
		t, err := stored(ctx, key, list[key])
		if err != nil {
			return err
		}
		c.Tensors = append(c.Tensors, t)
	}
	f, err := weights.New(c)
	if err != nil {
		return err
	}
	return safetensors.Save(name, f)
}

// stored returns the elements of t for a file.
func stored(ctx context.Context, name string, t *Tensor) (*weights.Tensor, error) {
	const op = "SaveSafetensors"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return nil, err
	}
	data, err := t.download(ctx, s, op)
	if err != nil {
		return nil, err
	}
	return weights.NewTensor(weights.Spec{Name: name, Type: storedType(t.dtype), Shape: t.shape}, bytes.NewReader(data))
}

// storedType returns the type of files that has the elements of a type.
func storedType(of dtype.Type) weights.Type {
	for _, t := range []weights.Type{
		weights.F32, weights.BF16, weights.F16, weights.F64, weights.BOOL, weights.U8, weights.I8, weights.U16, weights.I16, weights.U32, weights.I32, weights.U64,
	} {
		if t.DType() == of {
			return t
		}
	}
	return weights.I64
}

// LoadSafetensors returns the tensors of a safetensors file, or of all files that an index lists. The file is an index if its name ends
// with .json. Errors match those of package weights/safetensors, or wrap ErrDType if a tensor has an element type that is not in
// Element.
func LoadSafetensors(s *Scope, name string) (map[string]*Tensor, error) {
	if err := s.check("LoadSafetensors"); err != nil {
		return nil, err
	}
	f, err := safetensors.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list := make(map[string]*Tensor, len(f.Tensors))
	for _, t := range f.Tensors {
		x, err := s.load(t)
		if err != nil {
			return nil, err
		}
		list[t.Name()] = x
	}
	return list, nil
}

// load returns the tensor of a file.
func (s *Scope) load(from *weights.Tensor) (*Tensor, error) {
	const op = "LoadSafetensors"
	of := from.Type().DType()
	if storedType(of).DType() != of {
		return nil, mistake(op, fmt.Errorf("%w: %s is of %v", ErrDType, from.Name(), from.Type()))
	}
	data, err := from.Bytes()
	if err != nil {
		return nil, err
	}
	if of == dtype.Bool {
		data = truths(data)
	}
	t := s.empty(op, of, from.Shape())
	if t.err != nil {
		return nil, t.err
	}
	if err := device.UploadTo(s.stream, t.memory.bytes, data); err != nil {
		return nil, mistake(op, err)
	}
	return t, nil
}

// truths returns 1 for each byte that is not 0.
func truths(data []byte) []byte {
	list := make([]byte, len(data))
	for i, b := range data {
		list[i] = min(b, 1)
	}
	return list
}
