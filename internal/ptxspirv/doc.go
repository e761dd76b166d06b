// Package ptxspirv translates kernels from PTX to SPIR-V, so that compiled kernels also run on GPUs with Vulkan.
//
//	m, err := ptx.Parse(text)
//	if err != nil {
//		return err
//	}
//	p, err := ptxspirv.Translate(m, "scale", ptxspirv.Options{Block: [3]int{256, 1, 1}})
//	if err != nil {
//		return err // errors.Is(err, ptxspirv.ErrUnsupported): "sum.go:12:7: not supported: ldmatrix.sync.aligned.m8n8.x4.shared.b16"
//	}
//	createShaderModule(p.Words)
//
// Registers become variables of the function, which drivers turn into values again. Addresses of global memory are 64-bit numbers, as in
// PTX (SPIR-V's physical storage buffers). Shared memory is an array of 32-bit words. The control flow of PTX is a graph; that of SPIR-V
// consists of nested constructs, which are found from the dominator tree (Ramsey, "Beyond Relooper", 2022) and from the loops.
//
// Operations of warps are operations of subgroups if these have 32 lanes, and barriers otherwise: see meeting. A cluster is one workgroup.
//
// PTX's barriers do not wait for threads that have ended, but Vulkan's do. Before it is nested, the graph is changed so that all threads of a
// block reach each barrier: see shadows and, for kernels that they do not suit, rounds.
package ptxspirv
