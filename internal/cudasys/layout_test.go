package cudasys

import (
	"testing"
	"unsafe"
)

// TestLayouts compares sizes and offsets with those of the driver's structs in C on 64-bit
// machines.
func TestLayouts(t *testing.T) {
	for what, c := range map[string][2]uintptr{
		"CUlaunchAttribute":                    {unsafe.Sizeof(LaunchAttribute{}), LaunchAttributeSize},
		"CUlaunchConfig":                       {unsafe.Sizeof(launchConfig{}), 56},
		"CUlaunchConfig.hStream":               {unsafe.Offsetof(launchConfig{}.stream), 32},
		"CUlaunchConfig.numAttrs":              {unsafe.Offsetof(launchConfig{}.n), 48},
		"CUmemPoolProps":                       {unsafe.Sizeof(PoolProps{}), 88},
		"CUmemPoolProps.maxSize":               {unsafe.Offsetof(PoolProps{}.MaxSize), 24},
		"CUDA_MEMCPY2D":                        {unsafe.Sizeof(Copy2D{}), 128},
		"CUDA_MEMCPY2D.srcPitch":               {unsafe.Offsetof(Copy2D{}.Src.Pitch), 48},
		"CUDA_MEMCPY2D.dstXInBytes":            {unsafe.Offsetof(Copy2D{}.Dst), 56},
		"CUDA_MEMCPY3D":                        {unsafe.Offsetof(Copy3D{}.Context), 200},
		"CUDA_MEMCPY3D.dstXInBytes":            {unsafe.Offsetof(Copy3D{}.Dst), 88},
		"CUDA_MEMSET_NODE_PARAMS":              {unsafe.Offsetof(Memset{}.Context), 40},
		"CUDA_KERNEL_NODE_PARAMS":              {unsafe.Offsetof(KernelNode{}.Params), 72},
		"CUDA_KERNEL_NODE_PARAMS.kernelParams": {unsafe.Offsetof(KernelNode{}.params), 40},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", what, c[0], c[1])
		}
	}
}
