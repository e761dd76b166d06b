// Package weights defines what all formats of tensor files share. A File is a set of named tensors with metadata. Packages weights/safetensors
// and weights/gguf read and write the formats, and weights/formats opens files of both formats.
//
//	f, err := gguf.Open("model.gguf")               // reads the header, not the tensors
//	defer f.Close()
//	name, err := weights.Get[string](f.Metadata, "general.name")
//	t, err := f.Tensor("output_norm.weight")
//	scale, err := weights.Values[float32](t)        // or t.Bytes(), or t.ReadAt
//	for l := range f.Layers() {                     // progress: l.Before+l.Size of l.Total bytes
//		...
//	}
//
// # Reading and mapping
//
// For a GPU, use Tensor.ReadAt, which reads into memory of the caller, such as pinned memory.
//
// For weights that stay on the CPU, use File.Map. Bytes and Values then return the mapped memory, without a copy. The memory is valid until
// File.Close and must not be written. If another process truncates a mapped file, a read of the missing part ends your program, unless
// File.Guard runs the function that reads.
//
// # Hostile files
//
// A file may contain arbitrary bytes. Before the readers allocate memory, they check every count, length, offset and shape against the number of
// remaining bytes. The readers' errors match ErrFormat. The readers never load pickles. They do not check the meaning of a valid file: its metadata
// may be nonsense, its names may contain control characters, and its numbers may be NaN.
package weights
