package cublas

import (
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// known is cuBLAS, in the versions that this package supports, from CUDA 12 on.
var known = toolkit.Kind{
	Library: toolkit.Library{
		Name:    "cuBLAS",
		Unix:    []string{"libcublas.so.13", "libcublas.so.12"},
		Windows: []string{"cublas64_13.dll", "cublas64_12.dll"},
		Wheels:  []string{"cublas", "cu13"},
		Get:     "to install it: pip install nvidia-cublas (or nvidia-cublas-cu12), or a CUDA toolkit",
	},
	Package: "cublas", Symbols: symbols, Failed: failed,
}

// function is a function of the library. The float32 variant of a function is followed by its
// float64 variant.
type function int

const (
	create function = iota
	destroy
	setStream
	setWorkspace
	setPointerMode
	setMathMode
	getVersion
	getProperty
	gemmBatchedEx
	axpy
	_
	scal
	_
	swap
	_
	vectorCopy
	_
	dot
	_
	nrm2
	_
	asum
	_
	iamax
	_
	gemv
	_
	ger
	_
	gemm
	_
	gemmBatched
	_
	symm
	_
	syrk
	_
	syr2k
	_
	trmm
	_
	trsm
	_
)

// symbols are in the order of the functions. Those that end in _64 take 64-bit sizes.
var symbols = []string{
	"cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2", "cublasSetWorkspace_v2",
	"cublasSetPointerMode_v2", "cublasSetMathMode", "cublasGetVersion_v2", "cublasGetProperty",
	"cublasGemmStridedBatchedEx_64",
	"cublasSaxpy_v2_64", "cublasDaxpy_v2_64",
	"cublasSscal_v2_64", "cublasDscal_v2_64",
	"cublasSswap_v2_64", "cublasDswap_v2_64",
	"cublasScopy_v2_64", "cublasDcopy_v2_64",
	"cublasSdot_v2_64", "cublasDdot_v2_64",
	"cublasSnrm2_v2_64", "cublasDnrm2_v2_64",
	"cublasSasum_v2_64", "cublasDasum_v2_64",
	"cublasIsamax_v2_64", "cublasIdamax_v2_64",
	"cublasSgemv_v2_64", "cublasDgemv_v2_64",
	"cublasSger_v2_64", "cublasDger_v2_64",
	"cublasSgemm_v2_64", "cublasDgemm_v2_64",
	"cublasSgemmStridedBatched_64", "cublasDgemmStridedBatched_64",
	"cublasSsymm_v2_64", "cublasDsymm_v2_64",
	"cublasSsyrk_v2_64", "cublasDsyrk_v2_64",
	"cublasSsyr2k_v2_64", "cublasDsyr2k_v2_64",
	"cublasStrmm_v2_64", "cublasDtrmm_v2_64",
	"cublasStrsm_v2_64", "cublasDtrsm_v2_64",
}

func (f function) String() string { return symbols[f] }

// of returns the variant of a function for T.
func of[T Float](f function) function {
	var zero T
	if _, double := any(zero).(float64); double {
		return f + 1
	}
	return f
}

// load opens the library at most once in a process. The library stays open.
var load = known.Lazy()

// Installed returns the version of the library that New uses, such as "13.1.0", and the path where
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
	var parts [3]int32
	for i := range parts { // major, minor, patch
		v := new(int32)
		if err := l.Call(int(getProperty), toolkit.Before{}, []uintptr{uintptr(i), uintptr(unsafe.Pointer(v))}); err != nil {
			return "", "", err
		}
		parts[i] = *v
	}
	return fmt.Sprintf("%d.%d.%d", parts[0], parts[1], parts[2]), l.Path, nil
}
