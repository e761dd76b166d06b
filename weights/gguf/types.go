package gguf

import "github.com/gopherwarp/gopherwarp/weights"

// tensorTypes are the types of tensors by their number in the file (enum ggml_type of ggml.h). Absent numbers belong to types that ggml has removed.
var tensorTypes = map[uint32]weights.Type{
	0: weights.F32, 1: weights.F16, 2: weights.Q4_0, 3: weights.Q4_1, 6: weights.Q5_0, 7: weights.Q5_1, 8: weights.Q8_0, 9: weights.Q8_1,
	10: weights.Q2_K, 11: weights.Q3_K, 12: weights.Q4_K, 13: weights.Q5_K, 14: weights.Q6_K, 15: weights.Q8_K,
	16: weights.IQ2_XXS, 17: weights.IQ2_XS, 18: weights.IQ3_XXS, 19: weights.IQ1_S, 20: weights.IQ4_NL, 21: weights.IQ3_S, 22: weights.IQ2_S,
	23: weights.IQ4_XS, 24: weights.I8, 25: weights.I16, 26: weights.I32, 27: weights.I64, 28: weights.F64, 29: weights.IQ1_M,
	30: weights.BF16, 34: weights.TQ1_0, 35: weights.TQ2_0, 39: weights.MXFP4, 40: weights.NVFP4, 41: weights.Q1_0,
}

// valueType is the type of a metadata value (enum gguf_metadata_value_type of the specification).
type valueType uint32

const (
	typeUint8 valueType = iota
	typeInt8
	typeUint16
	typeInt16
	typeUint32
	typeInt32
	typeFloat32
	typeBool
	typeString
	typeArray
	typeUint64
	typeInt64
	typeFloat64
)

const (
	magic = "GGUF"
	// version is the version that Write writes. Version 2 has the same layout; version 1 had lengths of 32 bits.
	version = 3
	// alignmentKey is the metadata key of the alignment of tensors in bytes, and defaultAlignment its value where it is absent.
	alignmentKey     = "general.alignment"
	defaultAlignment = 32
	// maxDims is the greatest number of dimensions of a tensor, GGML_MAX_DIMS of ggml.h.
	maxDims = 4
	// maxName is the greatest length of a metadata key in bytes, by the specification, and of the name of a tensor.
	maxName = 1<<16 - 1
	// maxHeader is the greatest length of a header in bytes, ten times that of models with large vocabularies. Without it, a sparse file
	// could justify any amount of memory.
	maxHeader = 1 << 28
	// maxNesting is the greatest depth of arrays within arrays that this package reads.
	maxNesting = 4
)
