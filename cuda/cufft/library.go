package cufft

import (
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// known is cuFFT, in the versions of CUDA 12 and 13.
var known = toolkit.Kind{
	Library: toolkit.Library{
		Name:    "cuFFT",
		Unix:    []string{"libcufft.so.12", "libcufft.so.11"},
		Windows: []string{"cufft64_12.dll", "cufft64_11.dll"},
		Wheels:  []string{"cufft", "cu13"},
		Get:     "to install it: pip install nvidia-cufft (or nvidia-cufft-cu12), or a CUDA toolkit",
	},
	Package: "cufft", Symbols: symbols, Failed: failed,
}

// function is a function of the library.
type function int

const (
	create function = iota
	destroy
	setStream
	setAutoAllocation
	setWorkArea
	makePlanMany
	getVersion
	execC2C
	execZ2Z
	execR2C
	execD2Z
	execC2R
	execZ2D
)

// symbols are in the order of the functions.
var symbols = []string{
	"cufftCreate", "cufftDestroy", "cufftSetStream", "cufftSetAutoAllocation", "cufftSetWorkArea", "cufftMakePlanMany64", "cufftGetVersion",
	"cufftExecC2C", "cufftExecZ2Z", "cufftExecR2C", "cufftExecD2Z", "cufftExecC2R", "cufftExecZ2D",
}

func (f function) String() string { return symbols[f] }

// transforms lists the cufftType of each function.
var transforms = map[function]int{execR2C: 0x2a, execC2R: 0x2c, execC2C: 0x29, execD2Z: 0x6a, execZ2D: 0x6c, execZ2Z: 0x69}

// load opens the library at most once in a process. The library stays open.
var load = known.Lazy()

// Installed returns the version of the library that plans use, such as "12.0.0", and the path where
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
