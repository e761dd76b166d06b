// Package stubdll writes libraries for Windows with functions of a few instructions, so that the loader
// and calls of C can be tested there without a compiler of C.
//
//	image := stubdll.Image("nvcuda.dll", map[string]stubdll.Code{"cuInit": stubdll.Return(0)})
//	err := os.WriteFile(path, image, 0o600)
//	lib, err := dl.Open(path)
//
// It is for tests: no linker, no imports, one section, amd64.
package stubdll
