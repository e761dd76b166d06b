package curand

import (
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// known is cuRAND, in the versions of CUDA 12 and 13.
var known = toolkit.Kind{
	Library: toolkit.Library{
		Name:    "cuRAND",
		Unix:    []string{"libcurand.so.10"},
		Windows: []string{"curand64_10.dll"},
		Wheels:  []string{"curand", "cu13"},
		Get:     "to install it: pip install nvidia-curand (or nvidia-curand-cu12), or a CUDA toolkit",
	},
	Package: "curand", Symbols: symbols, Failed: failed,
	Floats: map[int]int{
		int(normal): 2, int(normal + 1): 2, int(logNormal): 2, int(logNormal + 1): 2, int(poisson): 1,
	},
}

// function is a function of the library. For functions that generate floating-point numbers, the
// float32 variant is followed by the float64 variant.
type function int

const (
	create function = iota
	destroy
	setStream
	setSeed
	setOffset
	setDimensions
	generateSeeds
	getVersion
	generate
	generateLong
	uniform
	_
	normal
	_
	logNormal
	_
	poisson
)

// symbols are in the order of the functions.
var symbols = []string{
	"curandCreateGenerator", "curandDestroyGenerator", "curandSetStream", "curandSetPseudoRandomGeneratorSeed",
	"curandSetGeneratorOffset", "curandSetQuasiRandomGeneratorDimensions", "curandGenerateSeeds", "curandGetVersion",
	"curandGenerate", "curandGenerateLongLong",
	"curandGenerateUniform", "curandGenerateUniformDouble",
	"curandGenerateNormal", "curandGenerateNormalDouble",
	"curandGenerateLogNormal", "curandGenerateLogNormalDouble",
	"curandGeneratePoisson",
}

func (f function) String() string { return symbols[f] }

// load opens the library at most once in a process. The library stays open.
var load = known.Lazy()

// Installed returns the version of the library that New uses, such as "10.3.9", and the path where
// it was found. It needs no GPU. If the library is not installed, the error matches ErrNoLibrary
// and lists where the package looked.
func Installed() (version, path string, err error) {
	l, err := load()
	if err != nil {
		return "", "", err
	}
	return installed(l)
}

func installed(l toolkit.Loaded) (version, path string, err error) {
	v := new(int32)
	if err := l.Call(int(getVersion), toolkit.Before{}, []uintptr{uintptr(unsafe.Pointer(v))}); err != nil {
		return "", "", err
	}
	return fmt.Sprintf("%d.%d.%d", *v/1000, *v%1000/100, *v%100), l.Path, nil
}
