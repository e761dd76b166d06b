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
// The reader accepts exactly what the specification in the README of the safetensors repository permits: the header has at most 100 MB, its
// keys are unique, and the tensors fill the rest of the file without overlaps or gaps.
package safetensors
