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

// entry is a kernel and the size of its one parameter.
type entry struct {
	module     *module
	name       string
	paramBytes int
}

// Launch is a launch of a kernel that is being executed.
type Launch struct {
	Kernel      string // name of the entry
	Grid, Block [3]uint32
	Params      []byte // the parameter block, as it was when the kernel was launched
	memory      *memory
	context     *context
}

// Bytes returns the n bytes at an address of the device, or nil where none are allocated.
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
			f.functions[*fn] = mod.entries[i]
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
		return f.enqueue("cuLaunchKernel", l.Stream, func(st *stream) cudasys.Status { return f.launch(st, l) })
	}
}

// load takes any PTX whose entries have one parameter block, unless it is to be refused.
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
		m.entries = append(m.entries, entry{m, string(match[1]), n})
	}
	*out = cudasys.Module(f.handle())
	f.modules[*out] = m
	return cudasys.Success
}

// launch enqueues a launch. It allocates nothing where nobody executes it, so that tests can
// count allocations.
func (f *Fake) launch(st *stream, l *cudasys.Launch) cudasys.Status {
	e, ok := f.functions[l.Function]
	if !ok || e.module.context != st.context {
		return cudasys.InvalidHandle
	}
	if slices.Contains(l.Grid[:], 0) || slices.Contains(l.Block[:], 0) {
		return cudasys.InvalidValue
	}
	if f.Execute == nil {
		return cudasys.Success
	}
	params := unsafe.Slice((*byte)(l.Params[0]), e.paramBytes)
	launch := &Launch{e.name, l.Grid, l.Block, slices.Clone(params), &f.memory, st.context}
	st.work = append(st.work, func() cudasys.Status { return f.Execute(launch) })
	return cudasys.Success
}
