package cufft

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// names are the file names of the versions of CUDA 12 and 13.
var names = toolkit.Library{
	Name:    "cuFFT",
	Unix:    []string{"libcufft.so.12", "libcufft.so.11"},
	Windows: []string{"cufft64_12.dll", "cufft64_11.dll"},
	Wheels:  []string{"cufft", "cu13"},
	Get:     "pip install nvidia-cufft (or nvidia-cufft-cu12), or a CUDA toolkit",
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

// kinds are the library's words for the transforms (cufftType).
var kinds = map[function]int{execR2C: 0x2a, execC2R: 0x2c, execC2C: 0x29, execD2Z: 0x6a, execZ2D: 0x6c, execZ2Z: 0x69}

// library is cuFFT, open.
type library struct {
	call toolkit.Functions
	path string
}

// load opens the library once in a process: it stays open.
var load = sync.OnceValues(func() (library, error) {
	call, path, err := toolkit.Load(names, symbols)
	if err != nil {
		return library{}, fmt.Errorf("cufft: %w", err)
	}
	return library{call, path}, nil
})

// Installed returns the version of the library that plans use, "12.0.0", and where it was found. It
// needs no GPU. Where there is none the error matches ErrNoLibrary and says where it looked.
func Installed() (version, path string, err error) {
	l, err := load()
	if err != nil {
		return "", "", err
	}
	return l.installed()
}

func (l library) installed() (version, path string, err error) {
	v := new(int32)
	if s := Status(l.call(int(getVersion), toolkit.Before{}, []uintptr{uintptr(unsafe.Pointer(v))})); s != success {
		return "", "", &Error{getVersion.String(), s}
	}
	return fmt.Sprintf("%d.%d.%d", *v/1000, *v%1000/100, *v%100), l.path, nil
}
