package gopherwarp

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/trace"
	"github.com/gopherwarp/gopherwarp/vulkan"
)

// Open opens the best device: the first GPU that the NVIDIA driver lists; otherwise, a Vulkan GPU
// with all features that kernels can use, preferably a discrete GPU; and otherwise, the CPU. The
// device's Info describes the device and, for the CPU, states why no GPU is used. A program should
// print the Info.
//
// The environment variable GOPHERWARP_DEVICE selects another device. If that device is not
// available, Open returns an error. The values are:
//
//	cuda            the first GPU
//	cuda:1          the GPU with the given number
//	vulkan          the best Vulkan device, preferably a discrete GPU
//	vulkan:1        the Vulkan device with the given number
//	cpu             the CPU
//	cpu:coroutines  the CPU, with a stack for each thread of a block and a fixed
//	                order of execution; slow, for comparison and debugging
//	cpu:goroutines  the CPU, with a goroutine for each thread of a block; slow, for
//	                debuggers and the race detector
//	interp          the interpreter, which executes the kernels' PTX and checks it; slow, for tests
//	interp:fast     the interpreter, twice as fast, but without detection of data races and
//	                of reads of uninitialized memory
//	interp:traffic  the interpreter, which on Close writes the memory traffic of each
//	                source line to standard error
//
// The options of interp can be combined, as in "interp:fast,traffic".
//
// The environment variables GOPHERWARP_TIMELINE and GOPHERWARP_PROFILE name files to which the
// device's activity is written; see package trace.
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

// OpenNamed opens the device with the given name, which is a value of GOPHERWARP_DEVICE as
// described at Open. It reads no environment variables. A program that uses several devices calls
// OpenNamed for each device.
func OpenNamed(name string) (*device.Device, error) { return here().open(name) }

// watched makes dev write its activity to the files that have names.
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

// Variable is the name of the environment variable that selects the device that Open opens.
const Variable = "GOPHERWARP_DEVICE"

// VariableTimeline and VariableProfile are the names of environment variables that name files. A
// device that Open returns writes a timeline of its activity to the first file, and a profile to
// the second.
const (
	VariableTimeline = "GOPHERWARP_TIMELINE"
	VariableProfile  = "GOPHERWARP_PROFILE"
)

// Devices describes the devices that Open can choose if GOPHERWARP_DEVICE is not set. The best
// device comes first, and the CPU last. To list all Vulkan devices, call vulkan.List. If there is
// no GPU, the Reason in the CPU's Info states why.
func Devices() ([]device.Info, error) { return here().list() }

// kinds has functions that open and list the devices of this machine. Tests replace them.
type kinds struct {
	cuda       func(index int) (*device.Device, error)
	cudaList   func() ([]device.Info, error)
	vulkan     func(index int) (*device.Device, error)
	vulkanList func() ([]vulkan.Description, error)
	cpu        func(cpu.Threads) (*device.Device, error)
	interp     func(ptxinterp.Options) (*device.Device, error)
}

func here() kinds {
	return kinds{
		cuda: cuda.Open, cudaList: cuda.List, vulkan: vulkan.Open, vulkanList: vulkan.List, cpu: cpu.OpenThreads, interp: ptxinterp.OpenWith,
	}
}

// open opens the device that asked names, or the best device if asked is empty.
func (k kinds) open(asked string) (*device.Device, error) {
	c, err := parse(asked)
	if err != nil {
		return nil, err
	}
	switch c.kind {
	case "cuda":
		return k.cuda(c.index)
	case "vulkan":
		if c.index == unnumbered {
			return k.vulkan(k.preferred())
		}
		return k.vulkan(c.index)
	case "cpu":
		return explained(func() (*device.Device, error) { return k.cpu(c.threads) }, Variable+" selects it")
	case "interp":
		return explained(func() (*device.Device, error) { return k.interp(c.options()) }, Variable+" selects it")
	default:
		return k.best()
	}
}

// options returns the options of the interpreter.
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
	reason := clause(err)
	all := k.ofVulkan()
	for _, d := range all {
		if !d.Complete() {
			continue
		}
		dev, err := k.vulkan(d.Index)
		if err == nil {
			return dev, nil
		}
		reason += fmt.Sprintf(" and %s cannot be used (%s)", d.Info, strings.TrimPrefix(err.Error(), "vulkan: "))
	}
	return explained(func() (*device.Device, error) { return k.cpu(cpu.Fastest) }, reason+notChosen(all))
}

// notChosen returns the part of a reason about the GPUs of Vulkan that Open does not try to open.
func notChosen(all []vulkan.Description) (reason string) {
	if len(all) == 0 {
		return " and Vulkan finds no GPU"
	}
	for _, d := range all {
		switch {
		case d.Missing != nil:
			reason += fmt.Sprintf(" and %s cannot be used (it lacks %s)", d.Info, strings.Join(d.Missing, ", "))
		case !d.Complete():
			reason += fmt.Sprintf(" and %s, which %s=vulkan:%d selects, lacks %s", d.Info, Variable, d.Index, strings.Join(d.Lacks, ", "))
		}
	}
	return reason
}

// preferred returns the number of the device of Vulkan that is opened if the user names no number: a device that Open chooses before others, then
// a discrete GPU, an integrated GPU, and any other device.
func (k kinds) preferred() int {
	all, err := k.vulkanList()
	if err != nil || len(all) == 0 {
		return 0 // opening it returns the error
	}
	rank := func(d *vulkan.Description) int {
		switch {
		case d.Missing != nil:
			return 2
		case !d.Complete():
			return 1
		}
		return 0
	}
	return slices.MinFunc(all, func(a, b vulkan.Description) int {
		return cmp.Or(rank(&a)-rank(&b), int(a.Type-b.Type))
	}).Index
}

// ofVulkan returns the GPUs of Vulkan, discrete GPUs first. Without Vulkan there are none.
func (k kinds) ofVulkan() []vulkan.Description {
	all, err := k.vulkanList()
	if err != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(d vulkan.Description) bool { return d.Type == vulkan.Other })
	slices.SortStableFunc(all, func(a, b vulkan.Description) int { return int(a.Type - b.Type) })
	return all
}

// explained opens a device that is not the best one and records the reason.
func explained(open func() (*device.Device, error), reason string) (*device.Device, error) {
	dev, err := open()
	if err != nil {
		return nil, err
	}
	dev.Explain(reason)
	return dev, nil
}

// clause returns a short description of why there is no GPU.
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
	if absent != nil { // an NVIDIA GPU is listed once, with the driver that Open uses
		all := k.ofVulkan()
		for _, d := range all {
			if d.Complete() {
				infos = append(infos, d.Info)
			}
		}
		if len(infos) == 0 {
			dev.Explain(clause(absent) + notChosen(all))
		}
	}
	return append(infos, dev.Info()), dev.Close()
}
