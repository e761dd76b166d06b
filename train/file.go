package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// The names in a file of a State.
const (
	momentsTensor = "moments"
	codesTensor   = "codes"
	stepsKey      = "steps"
)

// SaveFile waits for the last step and writes the State to a file, from which LoadFile restores it. A program that also calls nn.SaveFile
// can end, and later continue its training with the same bits. The state of a Scaler is not in the file. If the parameters are divided, the
// error wraps ErrOptions; save the result of Join instead.
func (o *state) SaveFile(ctx context.Context, name string) error {
	var st State
	err := tensor.RunOn(ctx, o.params.Stream(), func(s *tensor.Scope) error {
		m, err := o.params.Memory(s)
		if err == nil && m.World > 1 {
			err = fmt.Errorf("%w: the State of one of %d processes", ErrOptions, m.World)
		}
		if err != nil {
			return err
		}
		st, err = o.State(s)
		return err
	})
	if err != nil {
		return err
	}
	return st.SaveFile(name)
}

// LoadFile reads a State from a file and restores it. Errors are those of LoadState and Restore.
func (o *state) LoadFile(ctx context.Context, name string) error {
	st, err := LoadState(name)
	if err != nil {
		return err
	}
	return tensor.RunOn(ctx, o.params.Stream(), func(s *tensor.Scope) error { return o.Restore(s, st) })
}

// SaveFile writes st to a safetensors file. An existing file is replaced once the new file is complete.
func (st State) SaveFile(name string) error {
	moments, err := binary.Append(nil, binary.LittleEndian, st.Moments)
	if err != nil {
		return err
	}
	x, err := weights.NewTensor(weights.Spec{Name: momentsTensor, Type: weights.F32, Shape: []int{len(st.Moments)}}, bytes.NewReader(moments))
	if err != nil {
		return err
	}
	c := weights.Contents{Metadata: weights.Metadata{{Key: stepsKey, Value: strconv.Itoa(st.Steps)}}, Tensors: []*weights.Tensor{x}}
	if len(st.Codes) > 0 {
		if x, err = weights.NewTensor(weights.Spec{Name: codesTensor, Type: weights.U8, Shape: []int{len(st.Codes)}}, bytes.NewReader(st.Codes)); err != nil {
			return err
		}
		c.Tensors = append(c.Tensors, x)
	}
	f, err := weights.New(c)
	if err != nil {
		return err
	}
	return safetensors.Save(name, f)
}

// LoadState reads a file that State.SaveFile wrote. The errors match those of package weights.
func LoadState(name string) (State, error) {
	f, err := safetensors.Open(name)
	if err != nil {
		return State{}, err
	}
	st, err := stateOf(f)
	return st, errors.Join(err, f.Close())
}

// stateOf returns the State in a file.
func stateOf(f *weights.File) (st State, err error) {
	if steps, ok := f.Metadata.Value(stepsKey); ok {
		if st.Steps, err = strconv.Atoi(fmt.Sprint(steps)); err != nil {
			return st, fmt.Errorf("%w: the number of steps: %w", weights.ErrFormat, err)
		}
	}
	x, err := f.Tensor(momentsTensor)
	if err != nil {
		return st, err
	}
	if st.Moments, err = weights.Values[float32](x); err != nil {
		return st, err
	}
	if x, err := f.Tensor(codesTensor); err == nil { // which other optimizers have not
		st.Codes, err = weights.Values[uint8](x)
		return st, err
	}
	return st, nil
}
