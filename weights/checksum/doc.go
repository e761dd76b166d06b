// Package checksum computes the SHA-256 of files of weights, and finds the SHA-256 that a file should have. It does not download anything.
//
//	f, err := formats.Open("model.safetensors.index.json")
//	for _, s := range f.Sources {
//		err := checksum.Verify(s, nil)
//	}
//
// The packages that read weights usually cannot detect that a file was corrupted: a flipped bit only changes a number.
package checksum
