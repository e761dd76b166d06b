// Package random makes language models of the Llama family with random weights, in memory and as files. What they generate has no
// meaning, but they have the size and the formats of real models, so that benchmarks need no download.
//
//	shape := random.Llama8B()
//	mixture, err := random.ParseMixture("Q4_K_M")
//	f, err := random.GGUF(shape, random.Options{Mixture: mixture, Seed: 1})
//	err = gguf.Write(file, f)
//
//	err = random.WriteFolder("folder", shape, 1) // in the format of Hugging Face, with bfloat16 weights
//
// The variance of a matrix is about the inverse of its number of columns, so that activations keep their magnitude. Tensors share at most a few
// million random numbers, which repeat in large ones: generating all of them would take longer than writing the file.
package random
