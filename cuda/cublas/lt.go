package cublas

import "github.com/gopherwarp/gopherwarp/internal/toolkit"

// knownLt is cuBLASLt, which is distributed with cuBLAS.
var knownLt = toolkit.Kind{
	Library: toolkit.Library{
		Name:    "cuBLASLt",
		Unix:    []string{"libcublasLt.so.13", "libcublasLt.so.12"},
		Windows: []string{"cublasLt64_13.dll", "cublasLt64_12.dll"},
		Wheels:  known.Wheels,
		Get:     known.Get,
	},
	Package: "cublas", Symbols: ltSymbols, Failed: failed,
}

// ltFunction is a function of cuBLASLt.
type ltFunction int

const (
	descCreate ltFunction = iota
	descDestroy
	descSet
	layoutCreate
	layoutDestroy
	preferenceCreate
	preferenceDestroy
	preferenceSet
	heuristic
	matmul
)

// ltSymbols are in the order of the functions.
var ltSymbols = []string{
	"cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy", "cublasLtMatmulDescSetAttribute",
	"cublasLtMatrixLayoutCreate", "cublasLtMatrixLayoutDestroy",
	"cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceDestroy", "cublasLtMatmulPreferenceSetAttribute",
	"cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul",
}

func (f ltFunction) String() string { return ltSymbols[f] }

// Attributes of a product's description (cublasLtMatmulDescAttributes_t), and their values.
const (
	descTransA     = 3
	descTransB     = 4
	descEpilogue   = 7
	descBias       = 8 // address
	descScaleA     = 17
	descScaleB     = 18
	descFastSums   = 25
	descBiasType   = 26
	preferenceWork = 1 // workspace size in bytes (cublasLtMatmulPreferenceAttributes_t)

	epilogueNone = 1
	epilogueReLU = 2
	epilogueBias = 4
	epilogueGELU = 32

	sumTF32 = 77
)

// algorithm is cublasLtMatmulHeuristicResult_t: the algorithm, its workspace size, whether it can
// be used, and more.
type algorithm struct {
	code  [8]uint64
	work  uintptr
	state int32
	_     [5]int32
}

// loadLt opens the library at most once in a process. The library stays open.
var loadLt = knownLt.Lazy()
