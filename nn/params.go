package nn

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Params owns the memory of a model's parameters, and decides the element type of its activations.
type Params struct {
	stream      *device.Stream
	activations dtype.Type
	close       []func() error
	bytes       int64
}

// NewParams returns a Params whose memory is allocated, and uploaded, on a stream of the caller's.
func NewParams(stream *device.Stream) *Params {
	p := &Params{stream: stream, activations: dtype.Float32}
	if info := stream.Device().Info(); info.Kind != "cpu" && info.Capability.Major >= 8 {
		p.activations = dtype.BFloat16
	}
	return p
}

// Activations returns the element type of what the layers of a model pass to each other, except the residual stream, which is float32.
// It is BFloat16 on GPUs with tensor cores for it, from compute capability 8.0 on, and else Float32.
func (p *Params) Activations() dtype.Type { return p.activations }

// half reports whether activations, and dense matrices, are bfloat16.
func (p *Params) half() bool { return p.activations == dtype.BFloat16 }

// Bytes returns the size of the parameters on the device.
func (p *Params) Bytes() int64 { return p.bytes }

// Close frees the memory. Layers that were loaded into it must not be used any more.
func (p *Params) Close() error {
	var err error
	for _, f := range p.close {
		err = errors.Join(err, f())
	}
	p.close = nil
	return err
}

// allocate returns memory of n elements with arbitrary contents that belongs to p.
func allocate[T any](p *Params, n int) (device.Slice[T], error) {
	b, err := device.MakeDirty[T](p.stream, n)
	if err != nil {
		return device.Slice[T]{}, err
	}
	p.close = append(p.close, b.Close)
	p.bytes += int64(device.View[byte](b.All()).Len())
	return b.All(), nil
}

// upload returns a copy of host that belongs to p.
func upload[T any](p *Params, host []T) (device.Slice[T], error) {
	x, err := allocate[T](p, len(host))
	if err != nil {
		return x, err
	}
	return x, device.UploadTo(p.stream, x, host)
}
