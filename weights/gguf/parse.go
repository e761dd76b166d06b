package gguf

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/weights"
)

// header is what precedes the tensors' data.
type header struct {
	version  uint32
	metadata weights.Metadata
	tensors  []tensorInfo
	length   uint64 // in bytes
}

// tensorInfo describes a tensor. The offset is relative to the start of all tensors' data.
type tensorInfo struct {
	spec   weights.Spec
	offset uint64
}

// parse reads the contents of one file.
func parse(s *weights.Source) (*weights.File, error) {
	h, err := parseHeader(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), err)
	}
	c := weights.Contents{Format: fmt.Sprint("GGUF ", h.version), Metadata: h.metadata, Sources: []*weights.Source{s}}
	if c.Tensors, err = h.place(s); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), err)
	}
	f, err := weights.New(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), err)
	}
	return f, nil
}

// parseHeader reads the header.
func parseHeader(s *weights.Source) (*header, error) {
	d := newDecoder(s)
	var m [len(magic)]byte
	d.read(m[:])
	if d.err != nil || string(m[:]) != magic {
		if err := weights.CheckPickle(s); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: it does not begin with %q", weights.ErrFormat, magic)
	}
	h := &header{version: d.uint32()}
	d.checkVersion(h.version)
	tensors, entries := d.uint64(), d.uint64()
	h.metadata = d.metadata(entries)
	h.tensors = d.tensors(tensors)
	h.length = d.size - d.left
	return h, d.err
}

func (d *decoder) checkVersion(v uint32) {
	switch {
	case v == 2 || v == 3:
	case bits.ReverseBytes32(v) == 2 || bits.ReverseBytes32(v) == 3:
		d.fail("its byte order is big-endian, which is not supported")
	default:
		d.fail("version %d is not supported", v)
	}
}

// metadata reads n entries.
func (d *decoder) metadata(n uint64) weights.Metadata {
	const least = 8 + 4 + 1 // the length of a key, a type, and a value
	if !d.need("metadata entries", n, least) {
		return nil
	}
	entries := make(weights.Metadata, 0, n)
	for range n {
		key := d.name("metadata key")
		e := weights.Entry{Key: key, Value: d.value(valueType(d.uint32()), 0)}
		if d.err != nil {
			d.err = fmt.Errorf("metadata key %.100q: %w", key, d.err)
			return nil
		}
		entries = append(entries, e)
	}
	return entries
}

// tensors reads the descriptions of n tensors.
func (d *decoder) tensors(n uint64) []tensorInfo {
	const least = 8 + 4 + 4 + 8 // the length of a name, a number of dimensions, a type, and an offset
	if !d.need("tensors", n, least) {
		return nil
	}
	list := make([]tensorInfo, 0, n)
	for range n {
		t := d.tensor()
		if d.err != nil {
			return nil
		}
		list = append(list, t)
	}
	return list
}

// tensor reads the description of a tensor.
func (d *decoder) tensor() tensorInfo {
	var t tensorInfo
	t.spec.Name = d.name("tensor name")
	dims := d.uint32()
	if dims > maxDims {
		d.fail("tensor %q has %d dimensions, and at most %d are possible", t.spec.Name, dims, maxDims)
		return t
	}
	t.spec.Shape = make([]int, dims)
	for i := range t.spec.Shape {
		n := d.uint64()
		if n > math.MaxInt {
			d.fail("dimension %d of tensor %q is %d", i, t.spec.Name, n)
			return t
		}
		t.spec.Shape[i] = int(n)
	}
	slices.Reverse(t.spec.Shape) // files have the innermost dimension first
	number := d.uint32()
	t.spec.Type = tensorTypes[number]
	t.offset = d.uint64()
	if d.err == nil && t.spec.Type == weights.Invalid {
		d.fail("type %d of tensor %q is unknown", number, t.spec.Name)
	}
	return t
}

// place returns the tensors at their offsets in the file.
func (h *header) place(s *weights.Source) ([]*weights.Tensor, error) {
	alignment, err := alignmentOf(h.metadata)
	if err != nil {
		return nil, err
	}
	begin := align(h.length, alignment)
	tensors := make([]*weights.Tensor, 0, len(h.tensors))
	for _, t := range h.tensors {
		name := t.spec.Name
		if t.offset%alignment != 0 {
			return nil, fmt.Errorf("%w: offset %d of tensor %q is not a multiple of %d", weights.ErrFormat, t.offset, name, alignment)
		}
		if at, over := bits.Add64(begin, t.offset, 0); over != 0 || at > math.MaxInt64 {
			return nil, fmt.Errorf("%w: offset %d of tensor %q is beyond the end of the file", weights.ErrFormat, t.offset, name)
		}
		if err := checkRows(t.spec); err != nil {
			return nil, err
		}
		placed, err := s.Tensor(t.spec, int64(begin+t.offset))
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, placed)
	}
	return slices.SortedStableFunc(slices.Values(tensors), compareOffsets), nil
}

func compareOffsets(a, b *weights.Tensor) int {
	_, offsetA, _ := a.Range()
	_, offsetB, _ := b.Range()
	return int(min(1, max(-1, offsetA-offsetB)))
}

// checkRows reports a tensor whose rows are not whole blocks.
func checkRows(s weights.Spec) error {
	row := 1
	if len(s.Shape) > 0 {
		row = s.Shape[len(s.Shape)-1]
	}
	if elements, _ := s.Type.Block(); row%elements != 0 {
		return fmt.Errorf("%w: a row of tensor %q has %d elements, but a block of type %s has %d", weights.ErrFormat, s.Name, row, s.Type, elements)
	}
	return nil
}

// alignmentOf returns the alignment of tensors in bytes.
func alignmentOf(m weights.Metadata) (uint64, error) {
	v, ok := m.Value(alignmentKey)
	if !ok {
		return defaultAlignment, nil
	}
	n, ok := v.(uint32)
	if !ok || n == 0 || n&(n-1) != 0 {
		return 0, fmt.Errorf("%w: %s is %v of type %T, not a power of two of type uint32", weights.ErrFormat, alignmentKey, v, v)
	}
	return uint64(n), nil
}

// align returns n rounded up to a multiple of a, which is at most 1<<31. N is at most the size of a file.
func align(n, a uint64) uint64 { return (n + a - 1) / a * a }
