// Package safetensors reads and writes safetensors files, the format of Hugging Face: a JSON header and the tensors' data. It also reads
// models that are split into several files with an index.
//
//	f, err := safetensors.Open("model.safetensors")   // or "model.safetensors.index.json"
//	defer f.Close()
//	t, err := f.Tensor("embeddings.word_embeddings.weight")
//	w, err := weights.Values[float32](t)
//
//	t, err = weights.NewTensor(weights.Spec{Name: "w", Type: weights.F32, Shape: []int{2, 3}}, bytes.NewReader(data))
//	f, err = weights.New(weights.Contents{Tensors: []*weights.Tensor{t}})
//	err = safetensors.Save("w.safetensors", f)
//
// The reader accepts a file if and only if it follows the specification in the README of the safetensors repository. The header must have
// at most 100 MB, its keys must be unique, and the tensors must fill the rest of the file without overlaps or gaps.
package safetensors
