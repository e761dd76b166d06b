package cudasys

import (
	"runtime"
	"unsafe"
)

// Options of cuModuleLoadDataEx, of type CUjit_option.
const (
	jitInfoLogBuffer      = 3
	jitInfoLogBufferSize  = 4
	jitErrorLogBuffer     = 5
	jitErrorLogBufferSize = 6
)

// loadModule is cuModuleLoadDataEx. The driver takes option values in an array of pointers,
// where sizes stand as they are; it overwrites them with what it wrote. Both arrays are in log,
// because all memory that C sees is on the heap.
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
func (a address) launch(l *Launch) Status {
	s := a.call(uintptr(l.Function),
		uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2]),
		uintptr(l.Block[0]), uintptr(l.Block[1]), uintptr(l.Block[2]),
		uintptr(l.Shared), uintptr(l.Stream), pointer(&l.Params), 0)
	runtime.KeepAlive(l)
	return s
}
