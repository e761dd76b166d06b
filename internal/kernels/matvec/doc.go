// Package matvec multiplies matrices of bfloat16 weights by a vector, as decoding with one sequence does, together with what
// precedes and follows the product in a layer of a Llama-family model: the norm before it; afterwards the sum with the residual
// stream, SwiGLU, rotation of queries and keys and storage in the cache, or the choice of the largest logit.
//
// Accumulate, GateUp, QKV and Logits have a form for GPUs, which a Form with Threads selects, and one for CPUs, the zero Form.
// Vectors are bfloat16, sums and the residual stream float32.
//
//	m := matvec.Matrix{Shape: matvec.Shape{Rows: 4096, Columns: 14336}, W: w.All(), Form: matvec.Form{Threads: 256, Blocks: 396}}
//	err := matvec.Accumulate(s, m, x.All(), y.All()) // y += w x
//
// On a GPU, a warp multiplies two rows at a time. Each lane requests 16 bytes of weights at once, and 8 or 16 such
// requests before it uses the first; it requests the next ones before it adds up the sums. The first requests precede the wait for
// the preceding kernel (gpu.Thread.AwaitPrevious), so they fill the time in which that kernel ends. The vector is in shared memory,
// where each block computes its norm itself.
//
// On a CPU, the lanes of a vector unit are neighbouring columns, and a block is eight rows. Multiply is this product alone, of a
// float32 vector:
//
//	err := matvec.Multiply(s, matvec.Shape{Rows: 4096, Columns: 4096}, matvec.Operands[dtype.BF16]{W: w.All(), X: x.All(), Y: y.All()})
package matvec

//go:generate go tool kernelgen .
