package cudasys

import (
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// Options of cuModuleLoadDataEx, of type CUjit_option.
const (
	jitInfoLogBuffer      = 3
	jitInfoLogBufferSize  = 4
	jitErrorLogBuffer     = 5
	jitErrorLogBufferSize = 6
)

// loadModule is cuModuleLoadDataEx. The driver takes option values in an array of pointers, in
// which sizes are stored as integers, and overwrites them with the sizes of its output. Both arrays
// are in log, because memory that C accesses must be on the heap.
func (a address) loadModule(m *Module, image []byte, log *Log) Status {
	log.options = [4]int32{jitInfoLogBuffer, jitInfoLogBufferSize, jitErrorLogBuffer, jitErrorLogBufferSize}
	log.values = [4]uintptr{pointer(&log.Info), unsafe.Sizeof(log.Info), pointer(&log.Error), unsafe.Sizeof(log.Error)}
	s := a.call(pointer(m), bytes(image), uintptr(len(log.options)), pointer(&log.options), pointer(&log.values))
	runtime.KeepAlive(m)
	runtime.KeepAlive(image)
	runtime.KeepAlive(log)
	return s
}

// launch is cuLaunchKernel.
func (a address) launch(before dl.Before, l *Launch) Status {
	f := &l.frame
	f.Before, f.Function, f.N = before, uintptr(a), 11
	f.Args[0] = uintptr(l.Function)
	f.Args[1], f.Args[2], f.Args[3] = uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2])
	f.Args[4], f.Args[5], f.Args[6] = uintptr(l.Block[0]), uintptr(l.Block[1]), uintptr(l.Block[2])
	f.Args[7], f.Args[8], f.Args[9], f.Args[10] = uintptr(l.Shared), uintptr(l.Stream), pointer(&l.Params), 0
	s := Status(f.Call())
	runtime.KeepAlive(l)
	return s
}

// launchEx is cuLaunchKernelEx. Its struct is part of l.
func (a address) launchEx(before dl.Before, l *Launch) Status {
	l.config = launchConfig{
		grid: l.Grid, block: l.Block, shared: l.Shared, stream: l.Stream,
		attributes: &l.Attributes[0], n: uint32(l.Used),
	}
	s := a.callAfter(before, pointer(&l.config), uintptr(l.Function), pointer(&l.Params), 0)
	runtime.KeepAlive(l)
	return s
}

// addKernel is cuGraphAddKernelNode.
func (a address) addKernel(n *GraphNode, g Graph, after []GraphNode, p *KernelNode) Status {
	p.params = &p.Params
	s := a.call(pointer(n), uintptr(g), nodes(after), uintptr(len(after)), pointer(p))
	runtime.KeepAlive(n)
	runtime.KeepAlive(after)
	runtime.KeepAlive(p)
	return s
}

// setKernel is cuGraphExecKernelNodeSetParams.
func (a address) setKernel(x GraphExec, n GraphNode, p *KernelNode) Status {
	p.params = &p.Params
	s := a.call(uintptr(x), uintptr(n), pointer(p))
	runtime.KeepAlive(p)
	return s
}

// addEdge is cuGraphAddDependencies as of CUDA 12.3, which takes an array for each of the fields.
func (a address) addEdge(g Graph, e *GraphEdge) Status {
	s := a.call(uintptr(g), pointer(&e.From), pointer(&e.To), pointer(&e.Data), 1)
	runtime.KeepAlive(e)
	return s
}

// setAttribute is cuGraphKernelNodeSetAttribute, which takes the kind and the value as separate
// arguments.
func (a address) setAttribute(n GraphNode, l *LaunchAttribute) Status {
	s := a.call(uintptr(n), uintptr(l.ID), pointer(&l.Value))
	runtime.KeepAlive(l)
	return s
}

// addCopy is cuGraphAddMemcpyNode.
func (a address) addCopy(n *GraphNode, g Graph, after []GraphNode, c *Copy3D) Status {
	s := a.call(pointer(n), uintptr(g), nodes(after), uintptr(len(after)), pointer(c), uintptr(c.Context))
	runtime.KeepAlive(n)
	runtime.KeepAlive(after)
	runtime.KeepAlive(c)
	return s
}

// addMemset is cuGraphAddMemsetNode.
func (a address) addMemset(n *GraphNode, g Graph, after []GraphNode, m *Memset) Status {
	s := a.call(pointer(n), uintptr(g), nodes(after), uintptr(len(after)), pointer(m), uintptr(m.Context))
	runtime.KeepAlive(n)
	runtime.KeepAlive(after)
	runtime.KeepAlive(m)
	return s
}

// addChild is cuGraphAddChildGraphNode.
func (a address) addChild(n *GraphNode, g Graph, after []GraphNode, child Graph) Status {
	s := a.call(pointer(n), uintptr(g), nodes(after), uintptr(len(after)), uintptr(child))
	runtime.KeepAlive(n)
	runtime.KeepAlive(after)
	return s
}

func nodes(n []GraphNode) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(n))) }
