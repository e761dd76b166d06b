// Package formats opens files of tensors in any supported format: GGUF, safetensors, an index of safetensors files, or a folder with one of
// these.
//
//	f, err := formats.Open("models/all-MiniLM-L6-v2")
//	defer f.Close()
//	for _, t := range f.Tensors {
//		fmt.Println(t.Name(), t.Type(), t.Shape())
//	}
//
// It recognizes a file by its contents, except an index, whose name ends with ".json". It does not write files.
package formats
