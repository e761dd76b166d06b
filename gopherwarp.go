package gopherwarp

import (
	"errors"
	"os"
	"strings"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/trace"
)

// Open opens the best device: the first GPU that the NVIDIA driver lists, or where none can
// be used the CPU. The device's Info says which it is and, for the CPU, why; a program should
// show it.
//
// The environment variable GOPHERWARP_DEVICE asks for a certain device instead: "cuda",
// "cuda:1" (a GPU by its number), "cpu", or "interp" (the kernels' PTX, interpreted and checked: slow, for
// tests). "interp:fast" looks neither for data races nor for reads of unwritten memory, and takes half
// the time; "interp:traffic" writes a table of the memory traffic of each source line to the
// standard error when the device is closed. "cpu:coroutines" and "cpu:goroutines" run every thread of a
// block on a stack of its own: slower, for debuggers and for comparison. If that cannot be had, Open returns an error; it does not choose another.
//
// The environment variables GOPHERWARP_TIMELINE and GOPHERWARP_PROFILE name files that what the device does
// is written to: see package trace.
func Open() (*device.Device, error) {
	dev, err := here().open(os.Getenv(Variable))
	if err != nil {
		return nil, err
	}
	if err := watched(dev, os.Getenv(VariableTimeline), os.Getenv(VariableProfile)); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	return dev, nil
}

// watched has what dev does written to files, as far as these have names.
func watched(dev *device.Device, timeline, profile string) error {
	if timeline == "" && profile == "" {
		return nil
	}
	f, err := trace.NewFiles(timeline, profile)
	if err != nil {
		return err
	}
	_, err = dev.Watch(f)
	return err
}

// Variable is the name of the environment variable that Open reads.
const Variable = "GOPHERWARP_DEVICE"

// VariableTimeline and VariableProfile are the names of the environment variables that have Open
// write what the device does.
const (
	VariableTimeline = "GOPHERWARP_TIMELINE"
	VariableProfile  = "GOPHERWARP_PROFILE"
)

// Devices describes the devices that a program can run on, the best first and the CPU last.
// Where there is no GPU the CPU's Reason says why.
func Devices() ([]device.Info, error) { return here().list() }

// kinds has the devices of this machine. Tests put others in their place.
type kinds struct {
	cuda     func(index int) (*device.Device, error)
	cudaList func() ([]device.Info, error)
	cpu      func(cpu.Threads) (*device.Device, error)
	interp   func(ptxinterp.Options) (*device.Device, error)
}

func here() kinds {
	return kinds{cuda: cuda.Open, cudaList: cuda.List, cpu: cpu.OpenThreads, interp: ptxinterp.OpenWith}
}

// open opens the device that asked names, or the best.
func (k kinds) open(asked string) (*device.Device, error) {
	c, err := parse(asked)
	if err != nil {
		return nil, err
	}
	switch c.kind {
	case "cuda":
		return k.cuda(c.index)
	case "cpu":
		return explained(func() (*device.Device, error) { return k.cpu(c.threads) }, Variable+" asks for it")
	case "interp":
		return explained(func() (*device.Device, error) { return k.interp(c.options()) }, Variable+" asks for it")
	default:
		return k.best()
	}
}

// options returns the interpreter's options.
func (c choice) options() (o ptxinterp.Options) {
	if !c.fast {
		o = ptxinterp.Checked()
	}
	if c.traffic {
		o.Traffic = os.Stderr
	}
	return o
}

func (k kinds) best() (*device.Device, error) {
	dev, err := k.cuda(0)
	if err == nil {
		return dev, nil
	}
	return explained(func() (*device.Device, error) { return k.cpu(cpu.Fastest) }, clause(err))
}

// explained opens a device that is not the best, for a reason.
func explained(open func() (*device.Device, error), reason string) (*device.Device, error) {
	dev, err := open()
	if err != nil {
		return nil, err
	}
	dev.Explain(reason)
	return dev, nil
}

// clause says in a few words why there is no GPU.
func clause(err error) string {
	if u, ok := errors.AsType[*cuda.Unavailable](err); ok {
		return u.What
	}
	return "the GPU cannot be used (" + strings.TrimPrefix(err.Error(), "cuda: ") + ")"
}

func (k kinds) list() ([]device.Info, error) {
	infos, absent := k.cudaList()
	dev, err := k.cpu(cpu.Fastest)
	if err != nil {
		return nil, err
	}
	if absent != nil {
		dev.Explain(clause(absent))
	}
	return append(infos, dev.Info()), dev.Close()
}
