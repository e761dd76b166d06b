// Package formats opens files of tensors in any supported format: a GGUF file, a safetensors file, an index of safetensors files, or a
// folder with one of these.
//
//	f, err := formats.Open("models/all-MiniLM-L6-v2")
//	defer f.Close()
//	for _, t := range f.Tensors {
//		fmt.Println(t.Name(), t.Type(), t.Shape())
//	}
//
// The package recognizes the format of a file by its contents, and an index by its name, which ends with ".json". It does not write files.
package formats
