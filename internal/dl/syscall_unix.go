//go:build darwin || (linux && !amd64)

package dl

import "github.com/ebitengine/purego"

func syscallN(address uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(address, args...)
	return r
}
