package gguf_test

import (
	"bytes"
	"encoding/binary"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// raw is a file that a test builds byte by byte, without the package's own writer.
type raw []byte

// newRaw returns the start of a file of version 3.
func newRaw(tensors, entries uint64) raw {
	return raw("GGUF").u32(3).u64(tensors).u64(entries)
}

func (r raw) u32(n uint32) raw { return binary.LittleEndian.AppendUint32(r, n) }

func (r raw) u64(n uint64) raw { return binary.LittleEndian.AppendUint64(r, n) }

func (r raw) str(s string) raw { return append(r.u64(uint64(len(s))), s...) }

// entry appends a metadata entry with a value of type typ.
func (r raw) entry(key string, typ uint32, value ...byte) raw {
	return append(r.str(key).u32(typ), value...)
}

// tensor appends the description of a tensor of float32 numbers with the given dimensions, innermost first.
func (r raw) tensor(name string, offset uint64, dims ...uint64) raw {
	return r.typed(name, 0, offset, dims...)
}

// typed is tensor with the number of a type.
func (r raw) typed(name string, typ uint32, offset uint64, dims ...uint64) raw {
	r = r.str(name).u32(uint32(len(dims)))
	for _, n := range dims {
		r = r.u64(n)
	}
	return r.u32(typ).u64(offset)
}

// data appends zeros up to a multiple of 32, and n bytes.
func (r raw) data(n int) raw {
	return append(r, make([]byte, (32-len(r)%32)%32+n)...)
}

// read returns the contents of the file.
func (r raw) read() (*weights.File, error) {
	return gguf.NewReader(bytes.NewReader(r), int64(len(r)))
}
