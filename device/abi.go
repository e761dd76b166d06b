package device

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// The layouts below are shared by the code that the compiler emits and the runtimes that
// read what it leaves. All numbers are little-endian.

// Hidden parameters, at ParamBytes-HiddenBytes in the parameter block.
const (
	HiddenEnv    = 0  // u64: address of the stream's environment, in device memory
	HiddenLaunch = 8  // u32: number of the launch in its stream
	HiddenKernel = 12 // u32: number of the kernel in its context
	HiddenBytes  = 16
)

// Size and alignment of a tensor map in the parameter block: gpu.TensorMap, or what the driver makes
// of it (CUDA driver API, CUtensorMap).
const (
	TensorMapBytes = 128
	TensorMapAlign = 64
)

// CoarseBytes is what the parameter block of a variant that is coarse has more, at ParamBytes:
// a u64, the number of threads that the launch asked for.
const CoarseBytes = 8

// An environment, one per stream. A thread that faults swaps Claim from 0 to 1 and, where
// it won, fills the record. A thread that prints adds its record's size to EnvPrintHead; where
// the old value plus the size passes EnvPrintSize it adds 1 to EnvPrintLost instead of writing.
// The blocks that come to a barrier of the grid count in EnvGrid, which is a multiple of 1<<31 between two of
// them. A runtime that takes a fault clears Claim and Grid: blocks may have left such a barrier.
const (
	EnvClaim     = 0  // u32
	EnvGrid      = 4  // u32
	EnvRecord    = 8  // u64: address of the fault record
	EnvPrints    = 16 // u64: address of the print records
	EnvPrintSize = 24 // u32: bytes that they may take
	EnvPrintHead = 28 // u32: bytes that were asked for
	EnvPrintLost = 32 // u32: records that found no room
	EnvBytes     = 64
)

// A record: a fault or one print.
const (
	RecordSize   = 0  // u32: bytes of the record, written last; 0 while it is not complete
	RecordLaunch = 4  // u32
	RecordKernel = 8  // u32
	RecordSite   = 12 // u32: index in Kernel.Sites
	RecordBlock  = 16 // 3 x u32
	RecordThread = 28 // 3 x u32
	RecordArgs   = 40 // u64 each: integers extended by their sign, floats as their bits
	RecordMax    = RecordArgs + 8*MaxSiteArgs
	MaxSiteArgs  = 11
)

// DecodeFault reads the fault record of RecordMax bytes, or returns nil where there is none.
// The kernel function finds kernels by number, and returns nil where there is none.
func DecodeFault(record []byte, kernel func(uint32) *Kernel) *Fault {
	if binary.LittleEndian.Uint32(record[RecordSize:]) == 0 {
		return nil
	}
	k, site := siteOf(record, kernel)
	return &Fault{
		Kernel: k.Name, File: site.File, Line: site.Line,
		Message: site.text(record[RecordArgs:]),
		Block:   index(record[RecordBlock:]), Thread: index(record[RecordThread:]),
	}
}

// DecodePrints reads the print records in buf, of which head bytes were asked for. The runtime
// clears buf before kernels print to it again: a size of 0 is how a record that is missing shows.
func DecodePrints(buf []byte, head uint32, kernel func(uint32) *Kernel) []Print {
	var prints []Print
	for r := buf[:min(int(head), len(buf))]; len(r) >= RecordArgs; {
		size := int(binary.LittleEndian.Uint32(r[RecordSize:]))
		if size < RecordArgs || size > len(r) {
			break // a record that found no room ends the list
		}
		_, site := siteOf(r, kernel)
		prints = append(prints, Print{
			Launch: binary.LittleEndian.Uint32(r[RecordLaunch:]),
			Block:  index(r[RecordBlock:]), Thread: index(r[RecordThread:]),
			Text: site.text(r[RecordArgs:size]),
		})
		r = r[size:]
	}
	return prints
}

// siteOf returns the kernel and the site that a record names. Unchecked code can write over
// the records: what then names no kernel or no site of it is shown as such.
func siteOf(record []byte, kernel func(uint32) *Kernel) (*Kernel, Site) {
	k := kernel(binary.LittleEndian.Uint32(record[RecordKernel:]))
	if k == nil {
		k = &Kernel{Name: "unknown kernel"}
	}
	if i := binary.LittleEndian.Uint32(record[RecordSite:]); uint64(i) < uint64(len(k.Sites)) {
		return k, k.Sites[i]
	}
	return k, Site{Format: "unknown place: the device's records were overwritten"}
}

func index(p []byte) [3]int {
	var i [3]int
	for axis := range i {
		i[axis] = int(binary.LittleEndian.Uint32(p[4*axis:]))
	}
	return i
}

// text formats the site's message with arguments read from p, as many as stand there.
func (s Site) text(p []byte) string {
	args := make([]any, min(len(s.Args), len(p)/8))
	for i, t := range s.Args[:len(args)] {
		args[i] = value(t, binary.LittleEndian.Uint64(p[8*i:]))
	}
	format, args := negative(s.Format, args)
	return fmt.Sprintf(format, args...)
}

// value returns the Go value of type t that has the given bits.
func value(t dtype.Type, bits uint64) any {
	switch t {
	case dtype.Bool:
		return bits != 0
	case dtype.Int8:
		return int8(bits)
	case dtype.Int16:
		return int16(bits)
	case dtype.Int32:
		return int32(bits)
	case dtype.Int64:
		return int64(bits)
	case dtype.Uint8:
		return uint8(bits)
	case dtype.Uint16:
		return uint16(bits)
	case dtype.Uint32:
		return uint32(bits)
	case dtype.Float32:
		return math.Float32frombits(uint32(bits))
	case dtype.Float64:
		return math.Float64frombits(bits)
	case dtype.Float16:
		return dtype.F16(bits)
	case dtype.BFloat16:
		return dtype.BF16(bits)
	case dtype.Float8E4M3:
		return dtype.F8E4M3(bits)
	case dtype.Float8E5M2:
		return dtype.F8E5M2(bits)
	default:
		return bits
	}
}
