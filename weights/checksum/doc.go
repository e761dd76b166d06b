// Package checksum computes the SHA-256 of files of weights, and finds the SHA-256 that a file should have. It does not download anything.
//
//	f, err := formats.Open("model.safetensors.index.json")
//	for _, s := range f.Sources {
//		err := checksum.Verify(s, nil)
//	}
//
// Weights that differ from those that were published need not be an error for the packages that read them: a flipped bit is another
// number.
package checksum
