package cuda

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// The kinds of Unavailable errors. Match them with errors.Is.
var (
	ErrNoDriver   = errors.New("no NVIDIA driver")
	ErrOldDriver  = errors.New("NVIDIA driver too old")
	ErrNoDevice   = errors.New("no NVIDIA GPU")
	ErrPermission = errors.New("no permission to use the NVIDIA GPU")
	ErrDeviceInit = errors.New("NVIDIA GPU or driver failed to initialize")
)

// Unavailable is the error for a GPU that cannot be used. It contains the reason, an explanation
// and advice.
type Unavailable struct {
	What  string // the problem, in a clause: "no NVIDIA driver was found (libcuda.so.1)"
	Means string // what this means, in a sentence
	Do    string // what the user can do, in a sentence
	Kind  error  // ErrNoDriver, ErrOldDriver, ErrNoDevice, ErrPermission or ErrDeviceInit
	Err   error  // the cause, or nil
}

// Error returns What, Means and Do on one line.
func (u *Unavailable) Error() string { return fmt.Sprintf("cuda: %s. %s %s", u.What, u.Means, u.Do) }

// Unwrap returns the kind and the cause.
func (u *Unavailable) Unwrap() []error {
	if u.Err == nil {
		return []error{u.Kind}
	}
	return []error{u.Kind, u.Err}
}

// start loads and initializes the driver.
func (m machine) start() (*cudasys.Driver, error) {
	d, err := m.driver()
	if err != nil {
		return nil, err
	}
	return d, m.initialize(d)
}

// driver loads the driver.
func (m machine) driver() (*cudasys.Driver, error) {
	d, err := m.load()
	switch {
	case errors.Is(err, cudasys.ErrOldDriver):
		return nil, &Unavailable{
			What: "the NVIDIA driver is too old", Kind: ErrOldDriver, Err: err,
			Means: fmt.Sprintf("It lacks a function that this program needs (%v).", err),
			Do:    "Install a driver of version 525 (CUDA 12.0) or later from your distribution or from www.nvidia.com/drivers.",
		}
	case err != nil:
		return nil, m.noDriver(err)
	}
	return d, nil
}

// initialize initializes the driver, which happens at most once in a process.
func (m machine) initialize(d *cudasys.Driver) error {
	if s := d.Init(0); s != cudasys.Success {
		return m.initFailed(&Error{Call: "cuInit", Status: s})
	}
	return nil
}

func (m machine) noDriver(err error) *Unavailable {
	names := cudasys.LibraryNames(m.os)
	if names == nil {
		return &Unavailable{
			What: "NVIDIA has no driver for " + m.os, Kind: ErrNoDriver, Err: err,
			Means: "Kernels run on the CPU device here.",
			Do:    "To use a GPU, run on Linux or Windows with an NVIDIA GPU.",
		}
	}
	u := &Unavailable{
		What: fmt.Sprintf("no NVIDIA driver was found (%s)", names[0]), Kind: ErrNoDriver, Err: err,
		Means: "Programs reach an NVIDIA GPU through this library, which is part of the driver.",
		Do: "If this machine has an NVIDIA GPU, install its driver from your distribution or from " +
			"www.nvidia.com/drivers; nothing else is needed.",
	}
	if m.inContainer() {
		u.Do = "This is a container. Install the driver and the NVIDIA " +
			"container toolkit on its host, which must have an NVIDIA GPU, and start the container with its GPU option (docker run --gpus all)."
	}
	return u
}

// initFailed returns the error for a failed cuInit.
func (m machine) initFailed(e *Error) *Unavailable {
	if path := m.forbidden(); path != "" {
		return m.noPermission(path, e)
	}
	if e.Status == cudasys.NoDevice {
		return m.noDevice(e)
	}
	x := explain(e.Status)
	return &Unavailable{
		What: fmt.Sprintf("the NVIDIA driver failed to initialize (%v)", e.Status),
		Kind: ErrDeviceInit, Err: e, Means: x.means, Do: x.do,
	}
}

func (m machine) noPermission(path string, err error) *Unavailable {
	return &Unavailable{
		What: fmt.Sprintf("there is no permission to use the NVIDIA GPU (%s)", path),
		Kind: ErrPermission, Err: err,
		Means: "The driver's device files cannot be opened for reading and writing by this user.",
		Do:    "Look at the file's owner with ls -l, then join its group (often video or render) and log in again.",
	}
}

func (m machine) noDevice(err error) *Unavailable {
	u := &Unavailable{
		What: "the NVIDIA driver sees no GPU", Kind: ErrNoDevice, Err: err,
		Means: "The driver is installed, but there is no NVIDIA GPU in this machine, or it is hidden from this process.",
		Do:    "Run nvidia-smi to see which GPUs the driver finds, and check whether CUDA_VISIBLE_DEVICES is set.",
	}
	switch {
	case m.nouveau():
		u.Means = "The kernel driver nouveau holds the GPU."
		u.Do = "Blacklist nouveau (the NVIDIA driver's packages do that), rebuild the initial ramdisk and restart."
	case m.inContainer():
		u.Means = "This is a container that was started without a GPU."
		u.Do = "Start the container with its GPU option (docker run --gpus all)."
	case m.moduleMissing():
		u.Means = "The driver's library is installed, but its kernel module is not loaded."
		u.Do = "Load it with: sudo modprobe nvidia. If that fails, dmesg shows the reason; after a kernel update, reinstall the driver."
	}
	return u
}

// deviceFailed returns the error for a device whose context could not be made.
func deviceFailed(index int, name string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	e.Detail = fmt.Sprintf("device %d", index)
	x := explain(e.Status)
	return &Unavailable{
		What: fmt.Sprintf("device %d (%s) failed to initialize (%v)", index, name, e.Status),
		Kind: ErrDeviceInit, Err: err, Means: x.means, Do: x.do,
	}
}

// advice is the meaning of a status at startup, and what to do.
type advice struct{ means, do string }

// explain returns the advice for a status.
func explain(s Status) advice {
	if a, ok := startAdvice[s]; ok {
		return a
	}
	return advice{"The driver or the GPU is in a bad state.",
		"Run nvidia-smi; if it fails too, dmesg may show the reason. Restarting the machine often helps."}
}

// startAdvice lists the statuses that users meet when a driver or a device starts.
var startAdvice = map[Status]advice{
	cudasys.StubLibrary: {"The library that was found is the CUDA toolkit's stub of the driver's library, which contains no driver.",
		"Remove the toolkit's stubs folder from the library path."},
	cudasys.DeviceUnavailable: {"Another process has exclusive use of the GPU, or the GPU's compute mode prohibits computations.",
		"Run nvidia-smi -q -d COMPUTE to see the mode. End the other process, or reset the mode with: sudo nvidia-smi -c 0."},
	cudasys.OutOfMemory: {"The GPU does not have enough free memory to start.",
		"Run nvidia-smi to see which processes use it."},
	cudasys.ECCUncorrectable: {"The GPU's memory has an error that it cannot correct.",
		"Restart the machine; if the error returns, replace the GPU."},
	cudasys.OperatingSystem: {"A call of the operating system failed, often because the module nvidia_uvm is not loaded.",
		"Run: sudo modprobe nvidia_uvm."},
	cudasys.SystemNotReady: {"The GPUs of this machine are connected by a switch whose service is not running.",
		"Start it: sudo systemctl start nvidia-fabricmanager. Its version must be the driver's."},
	cudasys.SystemDriverMismatch: {"The driver's library and its kernel module have different versions, which happens after an update.",
		"Restart the machine, or unload and load the nvidia modules. In a container, restart the container."},
	cudasys.CompatNotSupported: {"The library path contains a compatibility library of a newer CUDA that does not support this GPU or driver.",
		"Remove the cuda-compat folder from the library path."},
	cudasys.Unknown: {"The driver gives no reason. Often the machine was suspended, or not all of the driver's modules are loaded.",
		"Run: sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm. Otherwise restart the machine."},
}
