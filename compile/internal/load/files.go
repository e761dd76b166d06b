package load

import (
	"os"
	"strings"
)

// compiled lists the packages of the standard library whose functions kernels may call.
// Of all others only the declarations are loaded.
var compiled = map[string]bool{
	"cmp": true, "iter": true, "math": true, "math/bits": true, "slices": true, "sort": true, "sync/atomic": true,
	"unicode/utf8": true,
}

// hasBodies reports whether the function bodies of p are loaded. Bodies that call C
// have no types.
func hasBodies(p *Package) bool {
	if p.Standard {
		return compiled[p.ImportPath]
	}
	return len(p.CgoFiles) == 0
}

// portable returns the file to read instead of the named one. Package math has functions
// in assembly on some machines; the twin of such a file holds the same functions in Go.
func portable(p *Package, file string) string {
	if p.ImportPath != "math" {
		return file
	}
	stem, ok := strings.CutSuffix(file, "_asm.go")
	if !ok {
		return file
	}
	for _, suffix := range [...]string{"_noasm.go", "_stub.go"} {
		if exists(stem + suffix) {
			return stem + suffix
		}
	}
	return file
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
