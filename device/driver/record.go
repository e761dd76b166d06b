package driver

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// DecodeFault decodes a fault record of RecordMax bytes. It returns nil if the record is empty.
// The call kernel(n) returns the kernel with the number n, or nil if no kernel has this number.
func DecodeFault(record []byte, kernel func(uint32) *Kernel) *Fault {
	if binary.LittleEndian.Uint32(record[RecordSize:]) == 0 {
		return nil
	}
	k, site := siteOf(record, kernel)
	return &Fault{
		Kernel: k.Name, Package: k.Package, File: site.File, Line: site.Line,
		Message: site.text(record[RecordArgs:]),
		Block:   index(record[RecordBlock:]), Thread: index(record[RecordThread:]),
		Launch: int(binary.LittleEndian.Uint32(record[RecordLaunch:])) + 1,
	}
}

// DecodePrints decodes the print records in buf. The argument head is the value of EnvPrintHead.
// The back end must clear buf before kernels print to it again, because a size of 0 marks a
// missing record.
func DecodePrints(buf []byte, head uint32, kernel func(uint32) *Kernel) []Print {
	var prints []Print
	for r := buf[:min(int(head), len(buf))]; len(r) >= RecordArgs; {
		size := int(binary.LittleEndian.Uint32(r[RecordSize:]))
		if size < RecordArgs || size > len(r) {
			break // a dropped record ends the list
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

// siteOf returns the kernel and the site of a record. Kernels built without bounds checks can
// overwrite records, so an unknown kernel or site yields a placeholder.
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

// text formats the site's message with the arguments in p, which may hold fewer than the site has.
func (s Site) text(p []byte) string {
	types := s.Args
	if types == nil {
		types = slices.Repeat([]dtype.Type{dtype.Int64}, strings.Count(strings.ReplaceAll(s.Format, "%%", ""), "%"))
	}
	args := make([]any, min(len(types), len(p)/8))
	for i, t := range types[:len(args)] {
		args[i] = value(t, binary.LittleEndian.Uint64(p[8*i:]))
	}
	format, args := shorten(s.Format, args)
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
