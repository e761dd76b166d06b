// Package stubdll writes Windows libraries whose functions have a few instructions each. Tests use them to
// test the loader and C calls without a C compiler.
//
//	image := stubdll.Image("nvcuda.dll", map[string]stubdll.Code{"cuInit": stubdll.Return(0)})
//	err := os.WriteFile(path, image, 0o600)
//	lib, err := dl.Open(path)
//
// It is not a linker: libraries have no imports, one section, and code for amd64.
package stubdll
