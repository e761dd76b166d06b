package nn

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Errors of trained parameters. Params.Memory returns the error, and Parameter.In returns a void tensor with it.
var (
	ErrValues = errors.New("nn: the number of values does not fit the shape")
	ErrPlaced = errors.New("nn: parameters were used before this one was made")
)

// Options are the options of NewParams.
type Options struct {
	// DType is the element type of activations: dtype.Float32, dtype.BFloat16 or dtype.Float16. The default is BFloat16 on GPUs of compute capability
	// 8.0 or later, and Float32 on other devices. Trained parameters are float32, and layers round them to the type of activations.
	DType dtype.Type
	// Seed determines the initial values of parameters that are trained.
	Seed uint64
	// Blank leaves the memory of parameters uninitialized. It is for a simulated device, on which a program measures how much memory it needs.
	Blank bool
}

// Params owns the memory of a model's parameters, and decides the element type of its activations.
type Params struct {
	stream      *device.Stream
	activations dtype.Type
	blank       bool
	close       []func() error
	bytes       int64
	trained     trained
}

// NewParams returns a Params that allocates its memory on the given stream. The caller closes the stream after the Params.
func NewParams(stream *device.Stream, o Options) *Params {
	p := &Params{stream: stream, activations: o.DType, blank: o.Blank, trained: trained{random: rand.New(rand.NewPCG(o.Seed, 0))}}
	switch info := stream.Device().Info(); {
	case o.DType == dtype.Float32 || o.DType == dtype.BFloat16 || o.DType == dtype.Float16:
	case o.DType != dtype.Invalid:
		p.trained.err = fmt.Errorf("%w: activations of %v", ErrFormat, o.DType)
		fallthrough
	default:
		p.activations = dtype.Float32
		if info.Kind != "cpu" && info.Capability.Major >= 8 {
			p.activations = dtype.BFloat16
		}
	}
	return p
}

// Activations returns the element type of the tensors that the layers of a model pass to each other. The residual stream is always float32.
// See Options.
func (p *Params) Activations() dtype.Type { return p.activations }

// half reports whether activations, and dense matrices, are bfloat16.
func (p *Params) half() bool { return p.activations == dtype.BFloat16 }

// Stream returns the stream of NewParams.
func (p *Params) Stream() *device.Stream { return p.stream }

// Bytes returns the size of the parameters on the device.
func (p *Params) Bytes() int64 { return p.bytes }

// Close frees the memory. After Close, layers that use the parameters must not be used.
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
	return own(p, device.MakeDirty[T], n)
}

// own returns memory of n elements, made by one of device's functions, that belongs to p.
func own[T any](p *Params, make func(*device.Stream, int) (*device.Buffer[T], error), n int) (device.Slice[T], error) {
	b, err := make(p.stream, n)
	if err != nil {
		return device.Slice[T]{}, err
	}
	p.close = append(p.close, b.Close)
	p.bytes += sizeOf(b.All())
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
