package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/resize"
	"github.com/gopherwarp/gopherwarp/model/efficientnet"
	"github.com/gopherwarp/gopherwarp/model/resnet"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// ErrModel is the error of files that contain no supported model.
var ErrModel = errors.New("classify: no supported model")

// Options are the options of Open.
type Options struct {
	// DType is the type of activations and weights: dtype.Float32, BFloat16 or Float16. The default is Float16 on GPUs of compute
	// capability 8.0 or later, which have tensor cores for it, and Float32 on other devices.
	DType dtype.Type
	// Names has the names of the classes, beginning with class 0. A class without a name in Names is called by its number, for example "class 5".
	Names []string
	// Map maps the model's files into memory instead of reading them, which saves a copy of the data. It has an effect only on a CPU, and only if the
	// system can map files.
	Map bool
	// Progress, unless it is nil, is called with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
}

// network is a model of package resnet or efficientnet.
type network interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
	DType() dtype.Type
	Bytes() int64
	Close() error
}

// Model is a model on a device. Its methods must not be called concurrently.
type Model struct {
	stream  *device.Stream
	network network
	prepare preparation
	names   []string // of all classes
	classes int
}

// A Class is a class of a picture, with its probability.
type Class struct {
	Index       int // the number of the class in the model, from 0
	Name        string
	Probability float64
}

// Supports reports whether a folder or a safetensors file contains a model for this package.
func Supports(path string) bool {
	f, err := formats.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, stem := f.Tensor("_conv_stem.weight")
	_, block := f.Tensor("layer1.0.conv1.weight")
	return stem == nil || block == nil
}

// Open loads a model from a folder or a safetensors file.
func Open(dev *device.Device, path string, o Options) (*Model, error) {
	f, err := formats.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	stream, err := dev.NewStream()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	m := &Model{stream: stream}
	if o.Map {
		err = f.MapIfSupported()
	}
	if err == nil {
		err = m.load(f, o)
	}
	if err == nil {
		m.name(o.Names)
		err = stream.Synchronize(context.Background())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// load loads the network whose tensors the file has.
func (m *Model) load(f *weights.File, o Options) error {
	if _, missing := f.Tensor("_conv_stem.weight"); missing == nil {
		n, err := efficientnet.Load(m.stream, f, efficientnet.LoadOptions{DType: o.DType, Progress: o.Progress})
		if err == nil {
			m.network, m.classes, m.prepare = n, n.Classes, preparation{bicubic, resize.Normalization{Mean: efficientnet.Mean(), Deviation: efficientnet.Deviation()}}
		}
		return err
	}
	if _, missing := f.Tensor("layer1.0.conv1.weight"); missing == nil {
		n, err := resnet.Load(m.stream, f, resnet.LoadOptions{DType: o.DType, Progress: o.Progress})
		if err == nil {
			m.network, m.classes, m.prepare = n, n.Classes, preparation{bilinear, resize.Normalization{Mean: resnet.Mean(), Deviation: resnet.Deviation()}}
		}
		return err
	}
	return fmt.Errorf("%w: the file has neither the tensors of a ResNet of torchvision nor those of EfficientNet-Lite0", ErrModel)
}

// name keeps the names of classes.
func (m *Model) name(given []string) {
	m.names = slices.Clone(given[:min(len(given), m.classes)])
	for i := len(m.names); i < m.classes; i++ {
		m.names = append(m.names, fmt.Sprintf("class %d", i))
	}
}

// Close frees the model's memory.
func (m *Model) Close() error {
	var err error
	if m.network != nil {
		err = m.network.Close()
	}
	return errors.Join(err, m.stream.Close())
}

// Bytes returns the size of the parameters on the device.
func (m *Model) Bytes() int64 { return m.network.Bytes() }

// Classes returns the number of classes.
func (m *Model) Classes() int { return m.classes }

// DType returns the type of activations.
func (m *Model) DType() dtype.Type { return m.network.DType() }

// Classify returns the n most probable classes of each picture, the most probable one first.
func (m *Model) Classify(ctx context.Context, n int, pictures ...image.Image) ([][]Class, error) {
	if len(pictures) == 0 {
		return nil, nil
	}
	pixels, err := m.prepare.pixels(m.stream, pictures...)
	if err != nil {
		return nil, err
	}
	defer pixels.Close() // in stream order
	var scores []float32
	err = tensor.RunOn(ctx, m.stream, func(s *tensor.Scope) error {
		x, err := tensor.Wrap(pixels.All(), len(pictures), side, side, 3)
		if err == nil {
			scores, err = tensor.Values[float32](ctx, m.network.Forward(s.Use(x)))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([][]Class, len(pictures))
	var all sync.WaitGroup
	for i := range list {
		all.Go(func() { list[i] = m.best(scores[i*m.classes:(i+1)*m.classes], n) })
	}
	all.Wait()
	return list, nil
}

// best returns the n most probable classes.
func (m *Model) best(scores []float32, n int) []Class {
	most, sum := float64(slices.Max(scores)), 0.0
	list := make([]Class, len(scores))
	for i, v := range scores {
		p := math.Exp(float64(v) - most)
		sum += p
		list[i] = Class{Index: i, Name: m.names[i], Probability: p}
	}
	for i := range list {
		list[i].Probability /= sum
	}
	slices.SortFunc(list, func(a, b Class) int {
		if a.Probability != b.Probability {
			return cmp.Compare(b.Probability, a.Probability)
		}
		return a.Index - b.Index
	})
	return list[:max(0, min(n, len(list)))]
}
