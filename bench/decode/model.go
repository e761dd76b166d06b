package main

import (
	"errors"
	"io"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// A model is random weights and what a step of decoding needs, in device memory.
type model struct {
	shape
	forms [kinds]matvec.Form
	// oneKernel is set if attention is one kernel, whose last blocks join the parts.
	oneKernel bool
	weights   [kinds][]device.Slice[dtype.BF16]
	gains     [][2]device.Slice[dtype.BF16] // of the norms of each layer; the last pair has that before the head
	table     device.Slice[dtype.BF16]      // a vector for each token
	k, v      []device.Slice[dtype.BF16]    // the caches of the layers

	x             device.Slice[float32] // the residual stream
	q, mixed, mid device.Slice[dtype.BF16]
	sums, scratch device.Slice[float32]
	states        device.Slice[state]
	done          device.Slice[uint32]
	scores        matvec.Scores
	best          device.Slice[uint64] // of which scores uses a part
	angles        device.Slice[float32]
	at            device.Slice[matvec.Place]
	pageTable     device.Slice[int32]
	position      device.Slice[int32]
	token         device.Slice[int32]

	stream *device.Stream
	open   []io.Closer
	seed   uint32
	err    error
}

// newModel allocates a model and fills it. The caller closes it.
func newModel(s *device.Stream, of shape, forms [kinds]matvec.Form) (*model, error) {
	m := &model{shape: of, forms: forms, stream: s}
	for k := range kinds {
		for range of.count(k) {
			size := of.matrix(k)
			m.weights[k] = append(m.weights[k], m.random(size.Rows*size.Columns, 0, float32(math.Sqrt(3/float64(size.Columns)))))
		}
	}
	for range of.layers + 1 {
		m.gains = append(m.gains, [2]device.Slice[dtype.BF16]{m.random(of.hidden, 1, 0.5), m.random(of.hidden, 1, 0.5)})
	}
	for range of.layers {
		m.k, m.v = append(m.k, m.random(of.cache(), 0, 1.5)), append(m.v, m.random(of.cache(), 0, 1.5))
	}
	m.table = m.random(of.vocabulary*of.hidden, 0, 1.5)
	m.scratch = made[float32](m, of.workspace())
	m.x, m.q = made[float32](m, of.hidden), made[dtype.BF16](m, of.heads*headSize)
	m.mixed, m.mid = made[dtype.BF16](m, of.heads*headSize), made[dtype.BF16](m, of.inner)
	m.sums = made[float32](m, of.heads*of.parts()*headSize)
	m.states, m.done = made[state](m, of.heads*of.parts()), uploaded(m, make([]uint32, of.heads))
	m.scores.Logits = made[float32](m, of.vocabulary)
	m.err = m.setForms(forms)
	m.angles, m.pageTable = uploaded(m, of.angles()), uploaded(m, of.pageTable())
	m.at = uploaded(m, []matvec.Place{{Position: int32(of.position)}})
	m.position, m.token = uploaded(m, []int32{int32(of.position)}), uploaded(m, []int32{1})
	if m.err != nil {
		return nil, errors.Join(m.err, m.Close())
	}
	return m, nil
}

// setForms changes how the matrices are multiplied in steps that are recorded later.
func (m *model) setForms(forms [kinds]matvec.Form) error {
	m.forms = forms
	n := m.matrix(head, 0).Blocks()
	if n > m.best.Len() {
		m.best = made[uint64](m, n)
	}
	m.scores.Best = m.best.Slice(0, n)
	return m.err
}

// matrix returns a matrix of the model.
func (m *model) matrix(k kind, layer int) matvec.Matrix {
	return matvec.Matrix{Shape: m.shape.matrix(k), W: m.weights[k][layer], Form: m.forms[k], Scratch: m.scratch.Slice(0, m.shape.matrix(k).Workspace())}
}

// random returns n numbers around middle, at most span from it.
func (m *model) random(n int, middle, span float32) device.Slice[dtype.BF16] {
	x := made[dtype.BF16](m, n)
	m.seed++
	if m.err == nil {
		m.err = Fill(m.stream, device.Cover(n/8, 256), device.View[[8]dtype.BF16](x), m.seed, span, middle)
	}
	return x
}

// made returns memory of the model. After an error it returns no memory.
func made[T any](m *model, n int) (none device.Slice[T]) {
	if m.err != nil {
		return none
	}
	b, err := device.Make[T](m.stream, n)
	if m.err = err; err != nil {
		return none
	}
	m.open = append(m.open, b)
	return b.All()
}

// uploaded returns a copy of host in memory of the model.
func uploaded[T any](m *model, host []T) (none device.Slice[T]) {
	if m.err != nil {
		return none
	}
	b, err := device.Upload(m.stream, host)
	if m.err = err; err != nil {
		return none
	}
	m.open = append(m.open, b)
	return b.All()
}

// Close frees the memory.
func (m *model) Close() error {
	var err error
	for _, b := range m.open {
		err = errors.Join(err, b.Close())
	}
	return err
}
