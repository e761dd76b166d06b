package cuda

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// kernels holds the kernels that were launched in a context. Launches read it without a lock.
type kernels struct {
	entries atomic.Pointer[map[*driver.Kernel][]*loaded] // by variant; replaced as a whole

	mu   sync.Mutex
	list []*loaded // by number
}

// loaded is a variant of a kernel in a context. Each has a driver module of its own, loaded by the
// first launch, because the driver compiles a module as a whole.
type loaded struct {
	kernel   *driver.Kernel
	variant  *driver.Variant
	number   uint32
	function atomic.Uintptr // 0 until the module is loaded
	shared   atomic.Int32   // bytes of dynamic shared memory that a block may use

	mu     sync.Mutex // held while loading
	module cudasys.Module
}

// sharedUnasked is the shared memory, in bytes, that a block may use unless the kernel's attribute
// raises the limit.
const sharedUnasked = 48 << 10

// find returns the entry of a kernel's variant, or nil.
func (ks *kernels) find(k *driver.Kernel, variant int) *loaded {
	if all := ks.entries.Load(); all != nil {
		if variants := (*all)[k]; variants != nil {
			return variants[variant]
		}
	}
	return nil
}

// entry is find, except that it creates a missing entry.
func (ks *kernels) entry(k *driver.Kernel, variant int) *loaded {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if l := ks.find(k, variant); l != nil {
		return l
	}
	all := map[*driver.Kernel][]*loaded{}
	if old := ks.entries.Load(); old != nil {
		all = maps.Clone(*old)
	}
	variants := make([]*loaded, len(k.Variants))
	copy(variants, all[k])
	l := &loaded{kernel: k, variant: &k.Variants[variant], number: uint32(len(ks.list))}
	variants[variant], ks.list = l, append(ks.list, l)
	all[k] = variants
	ks.entries.Store(&all)
	return l
}

// kernel returns the kernel with the given number, which comes from a record in device memory. It
// returns nil for a number that no kernel has, which comes from corrupt memory.
func (ks *kernels) kernel(number uint32) *driver.Kernel {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if int(number) >= len(ks.list) {
		return nil
	}
	return ks.list[number].kernel
}

// unload frees all modules of a device that is being closed.
func (ks *kernels) unload(b *backend) error {
	var first error
	for _, l := range ks.list {
		if l.module == 0 {
			continue
		}
		err := b.call("cuModuleUnload", func() cudasys.Status { return b.driver.ModuleUnload(l.module) })
		if first == nil {
			first = err
		}
	}
	return first
}

// load returns a variant of a kernel, ready to launch. After a failed load, the next launch tries
// again.
func (b *backend) load(k *driver.Kernel, variant int) (*loaded, error) {
	if variant < 0 {
		return nil, fmt.Errorf("cuda: %w", k.NoVariant(b.info))
	}
	l := b.kernels.find(k, variant)
	if l == nil {
		l = b.kernels.entry(k, variant)
	}
	if l.function.Load() != 0 {
		return l, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.function.Load() != 0 {
		return l, nil
	}
	if err := l.loadModule(b); err != nil {
		return nil, err
	}
	var function cudasys.Function
	err := b.do("cuModuleGetFunction", func() cudasys.Status {
		return b.driver.ModuleGetFunction(&function, l.module, append([]byte(k.Entry()), 0))
	})
	if err != nil {
		return nil, about(err, k.Name)
	}
	static, _ := k.Memory(l.variant)
	l.shared.Store(max(0, sharedUnasked-int32(static)))
	l.function.Store(uintptr(function))
	return l, nil
}

// loadModule loads the variant's module, which makes the driver compile it, unless an earlier
// attempt already has.
func (l *loaded) loadModule(b *backend) error {
	if l.module != 0 {
		return nil
	}
	ptx, err := l.variant.PTX.Plain()
	if err != nil {
		return fmt.Errorf("cuda: %s: %w", l.kernel.Name, err)
	}
	log := new(cudasys.Log)
	err = b.do("cuModuleLoadDataEx", func() cudasys.Status {
		return b.driver.ModuleLoadDataEx(&l.module, append([]byte(ptx), 0), log)
	})
	if err == nil {
		return nil
	}
	about(err, l.kernel.Name)
	said := text(log.Error[:]) + text(log.Info[:])
	e, ok := err.(*Error)
	if !ok || said == "" && refusals[e.Status] == "" {
		return err
	}
	return &RefusedError{Kernel: l.kernel.Name, Target: l.variant.Target, Log: said, Err: e}
}

// refusals lists the statuses with which the driver refuses code, and what to do about each.
var refusals = map[Status]string{
	cudasys.InvalidPTX:            "this is a bug in the compiler that generated the code; please report it",
	cudasys.InvalidImage:          "this is a bug in the compiler that generated the code; please report it",
	cudasys.NoBinaryForGPU:        "the code is for another GPU; build the kernels for this GPU too",
	cudasys.UnsupportedPTXVersion: "the driver is older than the code's PTX version; install a newer driver",
	cudasys.JITCompilerNotFound: "the driver's compiler (libnvidia-ptxjitcompiler.so.1) is not installed; " +
		"install the complete driver, or give the container the driver's compute capability",
}

// RefusedError is the error of a launch if the driver refuses the kernel's code.
type RefusedError struct {
	Kernel string
	Target driver.Capability // the capability that the code was compiled for
	Log    string            // the log of the driver's compiler
	Err    *Error
}

// Error returns the kernel, target, status and advice, and the log on lines of its own.
func (e *RefusedError) Error() string {
	s := fmt.Sprintf("cuda: the driver refused the code of kernel %s for compute capability %v: %v",
		e.Kernel, e.Target, e.Err.Status)
	if do := refusals[e.Err.Status]; do != "" {
		s += " (" + do + ")"
	}
	if e.Log != "" {
		s += "\n" + strings.TrimSpace(e.Log)
	}
	return s
}

// Unwrap returns the failed call.
func (e *RefusedError) Unwrap() error { return e.Err }

// text returns p up to its first NUL, as a string.
func text(p []byte) string {
	before, _, _ := bytes.Cut(p, []byte{0})
	return string(before)
}
