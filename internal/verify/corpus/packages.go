package corpus

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// Options select what Load reads.
type Options struct {
	Patterns []string // of packages, for the go command
	Tests    []string // folders below GOROOT/test
}

// All returns what a full run reads: the packages of the standard library that compute, gonum's, and, where this
// installation of Go has them, its tests.
func All(ctx context.Context) Options {
	o := Options{Patterns: slices.Concat(standard, modules)}
	if HasTests(ctx) {
		o.Tests = tests
	}
	return o
}

// HasTests reports whether GOROOT has the folder test. Not every distribution of Go does.
func HasTests(ctx context.Context) bool {
	_, err := os.Stat(filepath.Join(goroot(ctx), "test"))
	return err == nil
}

// standard are packages of the standard library.
var standard = []string{
	"bytes", "cmp", "compress/...", "container/...", "crypto/...", "encoding/...", "go/constant", "go/scanner", "go/token", "hash/...",
	"html", "image/...", "index/suffixarray", "internal/abi", "internal/bisect", "internal/bytealg", "internal/byteorder",
	"internal/chacha8rand", "internal/dag", "internal/diff", "internal/fmtsort", "internal/goarch", "internal/itoa", "internal/profile",
	"internal/runtime/...", "internal/saferio", "internal/strconv", "internal/stringslite",
	"internal/trace/...", "internal/xcoff", "internal/zstd", "math/...", "mime/...", "net/netip", "net/url", "path", "regexp/syntax",
	"runtime", "slices", "sort", "strconv", "strings", "sync/atomic", "text/scanner", "text/tabwriter", "time", "unicode/...",
	"vendor/golang.org/x/crypto/...", "vendor/golang.org/x/text/...", "internal/cpu", "internal/godebug", "internal/goexperiment",
	"internal/goos", "internal/race", "internal/unsafeheader",
	"debug/dwarf", "debug/gosym", "archive/tar", "archive/zip", "testing/quick", "unique", "iter", "maps", "reflect", "bufio",
}

// modules are packages of modules that this project requires.
var modules = []string{
	"gonum.org/v1/gonum/blas/...", "gonum.org/v1/gonum/cmplxs/...", "gonum.org/v1/gonum/diff/...", "gonum.org/v1/gonum/dsp/...",
	"gonum.org/v1/gonum/floats/...", "gonum.org/v1/gonum/integrate/...", "gonum.org/v1/gonum/internal/...", "gonum.org/v1/gonum/interp/...",
	"gonum.org/v1/gonum/lapack/gonum", "gonum.org/v1/gonum/mathext/...", "gonum.org/v1/gonum/num/...", "gonum.org/v1/gonum/optimize/functions",
	"gonum.org/v1/gonum/spatial/...", "gonum.org/v1/gonum/stat/...",
}

// tests are folders of GOROOT/test with programs that are one file each.
var tests = []string{"", "abi", "chan", "codegen", "dwarf", "fixedbugs", "interface", "ken", "stress", "syntax", "typeparam"}
