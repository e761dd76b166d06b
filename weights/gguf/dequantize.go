package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

// Dequantize stores the elements of data, which are of type t, in dst as float32 numbers. If the length of dst is not the number of
// elements of data, the error matches weights.ErrFormat. For types that are not supported, the error matches errors.ErrUnsupported. The
// supported types are F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, and Q2_K to Q6_K. The results have the same bits as those of the Python
// package gguf.
func Dequantize(t weights.Type, dst []float32, data []byte) error {
	if n, err := t.Size(len(dst)); err != nil || n != len(data) {
		return fmt.Errorf("%w: dequantize %d bytes of type %s into %d elements", weights.ErrFormat, len(data), t, len(dst))
	}
	switch t {
	case weights.F32:
		each(dst, data, 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
	case weights.F16:
		each(dst, data, 2, func(b []byte) float32 { return dtype.F16(binary.LittleEndian.Uint16(b)).Float32() })
	case weights.BF16:
		each(dst, data, 2, func(b []byte) float32 { return dtype.BF16(binary.LittleEndian.Uint16(b)).Float32() })
	case weights.Q4_0:
		small(dst, data, (*blocks.Q4_0).Weights)
	case weights.Q4_1:
		small(dst, data, (*blocks.Q4_1).Weights)
	case weights.Q5_0:
		small(dst, data, (*blocks.Q5_0).Weights)
	case weights.Q5_1:
		small(dst, data, (*blocks.Q5_1).Weights)
	case weights.Q8_0:
		small(dst, data, (*blocks.Q8_0).Weights)
	case weights.Q2_K:
		large(dst, data, (*blocks.Q2_K).Weights)
	case weights.Q3_K:
		large(dst, data, (*blocks.Q3_K).Weights)
	case weights.Q4_K:
		large(dst, data, (*blocks.Q4_K).Weights)
	case weights.Q5_K:
		large(dst, data, (*blocks.Q5_K).Weights)
	case weights.Q6_K:
		large(dst, data, (*blocks.Q6_K).Weights)
	default:
		return fmt.Errorf("gguf: dequantize type %s: %w", t, errors.ErrUnsupported)
	}
	return nil
}

// each converts elements of size bytes.
func each(dst []float32, data []byte, size int, convert func([]byte) float32) {
	for i := range dst {
		dst[i] = convert(data[i*size : (i+1)*size])
	}
}

// small converts blocks of 32 weights.
func small[B any](dst []float32, data []byte, convert func(*B) [blocks.Size]float32) {
	var b B
	memory := bytesOf(&b)
	for i := 0; i < len(dst); i += blocks.Size {
		data = data[copy(memory, data):]
		w := convert(&b)
		copy(dst[i:], w[:])
	}
}

// large converts blocks of 256 weights.
func large[B any](dst []float32, data []byte, convert func(*B) [blocks.SizeK]float32) {
	var b B
	memory := bytesOf(&b)
	for i := 0; i < len(dst); i += blocks.SizeK {
		data = data[copy(memory, data):]
		w := convert(&b)
		copy(dst[i:], w[:])
	}
}

// bytesOf returns the memory of a block.
func bytesOf[B any](b *B) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(b)), unsafe.Sizeof(*b))
}

// Quantize appends the weights w to dst, as blocks of type t: Q4_0, Q4_1 or Q8_0. For other types, the error matches
// errors.ErrUnsupported. If the number of weights is not a multiple of 32, the error matches weights.ErrFormat. If a weight is not finite,
// the error matches blocks.ErrNotFinite.
func Quantize(t weights.Type, dst []byte, w []float32) ([]byte, error) {
	if len(w)%blocks.Size != 0 {
		return nil, fmt.Errorf("%w: quantize %d elements to type %s", weights.ErrFormat, len(w), t)
	}
	switch t {
	case weights.Q4_0:
		return quantize(dst, w, blocks.QuantizeQ4_0)
	case weights.Q4_1:
		return quantize(dst, w, blocks.QuantizeQ4_1)
	case weights.Q8_0:
		return quantize(dst, w, blocks.QuantizeQ8_0)
	}
	return nil, fmt.Errorf("gguf: quantize to type %s: %w", t, errors.ErrUnsupported)
}

func quantize[B any](dst []byte, w []float32, convert func(*[blocks.Size]float32) (B, error)) ([]byte, error) {
	for i := 0; i < len(w); i += blocks.Size {
		b, err := convert((*[blocks.Size]float32)(w[i:]))
		if err != nil {
			return nil, fmt.Errorf("gguf: block %d: %w", i/blocks.Size, err)
		}
		dst = append(dst, bytesOf(&b)...)
	}
	return dst, nil
}
