package llama

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// extension is tokens to append to sequences: one to each of some, which the device has chosen, and spans to others.
type extension struct {
	tokens      device.Slice[int32]
	sequences   []int
	ends, parts []Span
	started     func() error // called, unless it is nil, when the inputs have been uploaded
}

// inputs are what the kernels of an extension read, beside the model and the cache.
type inputs struct {
	ids, places, positions *tensor.Tensor
	spans                  device.Slice[prefill.Span] // those of extension, without the single tokens
	adapters               lora.Rows
	last                   *tensor.Tensor      // the numbers of the last tokens of sequences and ends
	at                     device.Slice[int32] // the positions of these
}

// packed is lists of numbers that the host uploads in one copy, because each copy takes the host some microseconds.
type packed struct {
	all  []int32
	from []int // where each list begins
	n    []int // the length of each list
}

// packedAlign is what the beginnings of the lists are multiples of: 256 bytes, as for lists that are uploaded one by one.
const packedAlign = 64

// add adds a list.
func (p *packed) add(list []int32) {
	p.from, p.n = append(p.from, len(p.all)), append(p.n, len(list))
	p.all = append(p.all, list...)
	p.all = append(p.all, make([]int32, -len(p.all)&(packedAlign-1))...)
}

// upload returns the lists in device memory.
func (p *packed) upload(s *tensor.Scope) ([]device.Slice[int32], error) {
	all, err := tensor.SliceOf[int32](tensor.From(s, p.all, len(p.all)))
	if err != nil {
		return nil, err
	}
	list := make([]device.Slice[int32], len(p.from))
	for i, from := range p.from {
		list[i] = all.Slice(from, from+p.n[i])
	}
	return list, nil
}

// lasts returns the numbers and positions of the last tokens of spans whose tokens are the first ones of b.
func (b *batch) lasts(spans int) (last, at []int32) {
	for i := range spans {
		n := b.spans[4*i] + b.spans[4*i+1] - 1
		last, at = append(last, n), append(at, b.positions[n])
	}
	return last, at
}

// place makes room for an extension and uploads its inputs.
func (m *Model) place(s *tensor.Scope, c *Cache, e extension) (in inputs, err error) {
	n, ends := len(e.sequences), len(e.sequences)+len(e.ends)
	spans := append(append(ofRows(e.sequences), e.ends...), e.parts...)
	b, err := c.append(spans)
	if err != nil {
		return in, err
	}
	last, at := b.lasts(ends)
	p, which := packed{}, m.adaptersOf(c, b.places)
	for _, list := range [][]int32{b.ids, b.places, b.positions, last, at, b.spans[4*n:]} {
		p.add(list)
	}
	if which != nil {
		p.add(m.adapters.Plan(which))
	}
	list, err := p.upload(s)
	if err != nil {
		return in, err
	}
	for i, t := range []**tensor.Tensor{&in.ids, &in.places, &in.positions, &in.last} {
		x, err := tensor.Wrap(list[i], list[i].Len())
		if err != nil {
			return in, err
		}
		*t = s.Use(x)
	}
	if in.at, in.spans = list[4], device.View[prefill.Span](list[5]); which != nil {
		in.adapters = lora.Planned(list[6])
	}
	if n > 0 {
		err = device.Copy(s.Stream(), list[0].Slice(0, n), e.tokens)
	}
	if e.started != nil {
		err = errors.Join(err, e.started())
	}
	return in, err
}
