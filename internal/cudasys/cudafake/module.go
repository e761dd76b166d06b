package cudafake

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// module is loaded PTX.
type module struct {
	context *context
	entries []entry
}

// entry is a kernel, the size of its only parameter, and the limit of its dynamic shared memory.
type entry struct {
	module     *module
	name       string
	paramBytes int
	maxShared  int32
}

// Launch is a launch of a kernel that is being executed.
type Launch struct {
	Kernel      string // name of the entry
	Grid, Block [3]uint32
	Shared      int    // bytes of dynamic shared memory
	Params      []byte // the parameter block at the time of the launch
	// Attributes holds the values of the launch's attributes by kind.
	Attributes map[int32][3]uint32
	memory     *memory
	context    *context
}

// Bytes returns the n bytes at an address of the device, or nil if they are not allocated.
func (l *Launch) Bytes(address uint64, n int) []byte {
	return l.memory.find(l.context, uintptr(address), uintptr(n))
}

// entryText matches the head of a kernel with one parameter block.
var entryText = regexp.MustCompile(`\.entry\s+([\w$]+)\s*\(\s*\.param\s+\.align\s+8\s+\.b8\s+[\w$]+\[(\d+)\]\s*\)`)

func (f *Fake) addModules(d *cudasys.Driver) {
	d.ModuleLoadDataEx = func(m *cudasys.Module, image []byte, log *cudasys.Log) cudasys.Status {
		return f.inContext("cuModuleLoadDataEx", func(c *context) cudasys.Status { return f.load(c, m, image, log) })
	}
	d.ModuleGetFunction = func(fn *cudasys.Function, m cudasys.Module, name []byte) cudasys.Status {
		return f.inContext("cuModuleGetFunction", func(*context) cudasys.Status {
			mod := f.modules[m]
			if mod == nil {
				return cudasys.InvalidHandle
			}
			i := slices.IndexFunc(mod.entries, func(e entry) bool { return e.name+"\x00" == string(name) })
			if i < 0 {
				return cudasys.NotFound
			}
			*fn = cudasys.Function(f.handle())
			f.functions[*fn] = &mod.entries[i]
			return cudasys.Success
		})
	}
	d.ModuleUnload = func(m cudasys.Module) cudasys.Status {
		return f.inContext("cuModuleUnload", func(c *context) cudasys.Status {
			if f.modules[m] == nil || f.modules[m].context != c {
				return cudasys.InvalidHandle
			}
			delete(f.modules, m)
			return cudasys.Success
		})
	}
	d.LaunchKernel = func(l *cudasys.Launch) cudasys.Status {
		return f.in(d, l.Context, func() cudasys.Status {
			return f.enqueue("cuLaunchKernel", l.Stream, func(st *stream) cudasys.Status { return f.launch(st, l) })
		})
	}
	d.LaunchKernelEx = func(l *cudasys.Launch) cudasys.Status {
		return f.in(d, l.Context, func() cudasys.Status {
			return f.enqueue("cuLaunchKernelEx", l.Stream, func(st *stream) cudasys.Status { return f.launch(st, l) })
		})
	}
	f.addFunctions(d)
}

// Properties of every kernel, whatever its code.
const (
	fakeRegisters   = 16
	staticShared    = 0
	sharedPerBlock  = 48 << 10
	sharedPerCore   = 227 << 10
	threadsPerCore  = 2048
	bestBlock       = 256
	threadsPerBlock = 1024
)

func (f *Fake) addFunctions(d *cudasys.Driver) {
	d.FuncGetAttribute = func(v *int32, a cudasys.FunctionAttribute, fn cudasys.Function) cudasys.Status {
		return f.onFunction("cuFuncGetAttribute", fn, func(e *entry) cudasys.Status {
			return store(v, map[cudasys.FunctionAttribute]int32{
				cudasys.FuncMaxThreadsPerBlock: threadsPerBlock, cudasys.FuncSharedBytes: staticShared,
				cudasys.FuncRegisters: fakeRegisters, cudasys.FuncMaxDynamicShared: e.maxShared,
			}[a])
		})
	}
	d.FuncSetAttribute = func(fn cudasys.Function, a cudasys.FunctionAttribute, v int32) cudasys.Status {
		return f.onFunction("cuFuncSetAttribute", fn, func(e *entry) cudasys.Status {
			if a != cudasys.FuncMaxDynamicShared {
				return cudasys.Success
			}
			if v > sharedPerCore {
				return cudasys.InvalidValue
			}
			return store(&e.maxShared, v)
		})
	}
	d.OccupancyMaxActiveBlocksPerMultiprocessor = func(n *int32, fn cudasys.Function, block int32, shared uintptr) cudasys.Status {
		return f.onFunction("cuOccupancyMaxActiveBlocksPerMultiprocessor", fn, func(*entry) cudasys.Status {
			blocks := threadsPerCore / block
			if shared > 0 {
				blocks = min(blocks, int32(sharedPerCore/shared))
			}
			return store(n, blocks)
		})
	}
	d.OccupancyMaxPotentialBlockSize = func(o *cudasys.BestBlock, fn cudasys.Function, _ uintptr, limit int32) cudasys.Status {
		return f.onFunction("cuOccupancyMaxPotentialBlockSize", fn, func(*entry) cudasys.Status {
			o.Block = bestBlock
			if limit > 0 {
				o.Block = min(o.Block, limit)
			}
			o.Grid = 132 * threadsPerCore / o.Block
			return cudasys.Success
		})
	}
}

// onFunction is inContext for functions that take a kernel.
func (f *Fake) onFunction(function string, fn cudasys.Function, body func(e *entry) cudasys.Status) cudasys.Status {
	return f.inContext(function, func(c *context) cudasys.Status {
		e := f.functions[fn]
		if e == nil || e.module.context != c {
			return cudasys.InvalidHandle
		}
		return body(e)
	})
}

// load accepts any PTX whose entries have one parameter block, unless Refuse applies to it.
func (f *Fake) load(c *context, out *cudasys.Module, image []byte, log *cudasys.Log) cudasys.Status {
	if !bytes.HasSuffix(image, []byte{0}) {
		return cudasys.InvalidImage
	}
	for text, said := range f.refused {
		if strings.Contains(string(image), text) {
			storeText(log.Error[:], said)
			return cudasys.InvalidPTX
		}
	}
	m := &module{context: c}
	for _, match := range entryText.FindAllSubmatch(image, -1) {
		n, _ := strconv.Atoi(string(match[2])) // digits, by the expression
		m.entries = append(m.entries, entry{m, string(match[1]), n, sharedPerBlock})
	}
	*out = cudasys.Module(f.handle())
	f.modules[*out] = m
	return cudasys.Success
}

// launch enqueues a launch. If Execute is nil, it allocates nothing, so that tests can count
// allocations.
func (f *Fake) launch(st *stream, l *cudasys.Launch) cudasys.Status {
	if f.Execute == nil {
		_, s := f.launchable(st.context, l)
		return s
	}
	launch, s := f.newLaunch(st.context, l)
	if s != cudasys.Success {
		return s
	}
	st.add(func() cudasys.Status { return f.Execute(launch) })
	return cudasys.Success
}

// launchable returns the kernel of a launch, or the status with which the driver refuses it.
func (f *Fake) launchable(c *context, l *cudasys.Launch) (*entry, cudasys.Status) {
	e := f.functions[l.Function]
	switch {
	case e == nil || e.module.context != c:
		return nil, cudasys.InvalidHandle
	case slices.Contains(l.Grid[:], 0) || slices.Contains(l.Block[:], 0), int32(l.Shared) > e.maxShared:
		return nil, cudasys.InvalidValue
	}
	return e, cudasys.Success
}

func (f *Fake) newLaunch(c *context, l *cudasys.Launch) (*Launch, cudasys.Status) {
	e, s := f.launchable(c, l)
	if s != cudasys.Success {
		return nil, s
	}
	params := unsafe.Slice((*byte)(l.Params[0]), e.paramBytes)
	launch := &Launch{
		Kernel: e.name, Grid: l.Grid, Block: l.Block, Shared: int(l.Shared), Params: slices.Clone(params),
		Attributes: map[int32][3]uint32{}, memory: &f.memory, context: c,
	}
	for _, a := range l.Attributes[:l.Used] {
		launch.Attributes[a.ID] = [3]uint32(a.Value[:3])
	}
	return launch, cudasys.Success
}
