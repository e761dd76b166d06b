package nn

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
)

// Params owns the memory of a model's parameters.
type Params struct {
	stream *device.Stream
	close  []func() error
	bytes  int64
}

// NewParams returns a Params whose memory is allocated, and uploaded, on a stream of the caller's.
func NewParams(stream *device.Stream) *Params { return &Params{stream: stream} }

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

// upload returns a copy of host that belongs to p.
func upload[T any](p *Params, host []T) (device.Slice[T], error) {
	b, err := device.Upload(p.stream, host)
	if err != nil {
		return device.Slice[T]{}, err
	}
	p.close = append(p.close, b.Close)
	p.bytes += int64(device.View[byte](b.All()).Len())
	return b.All(), nil
}
