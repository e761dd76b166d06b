package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/weights"
)

// readBuffer is the size of the decoder's buffer in bytes.
const readBuffer = 1 << 16

// decoder reads the header of a file. It remembers its first error; reads after that return zero values.
type decoder struct {
	r    *bufio.Reader
	size uint64 // of the file, or maxHeader if that is less, in bytes
	left uint64 // bytes of size that are not read yet
	err  error

	number [8]byte // of the last number
	text   []byte  // memory for the bytes of each string, because a vocabulary may have 100,000 short strings
}

func newDecoder(s *weights.Source) *decoder {
	size := uint64(min(s.Size(), maxHeader))
	return &decoder{r: bufio.NewReaderSize(io.NewSectionReader(s, 0, s.Size()), readBuffer), size: size, left: size}
}

// fail records an error that matches weights.ErrFormat.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", weights.ErrFormat, fmt.Sprintf(format, args...))
	}
}

// need reports whether count items of at least size bytes each can follow. It is called before memory for them is allocated.
func (d *decoder) need(what string, count, size uint64) bool {
	if d.err == nil && count > d.left/size {
		d.fail("%d %s, but only %d bytes of a header can follow", count, what, d.left)
	}
	return d.err == nil
}

// read fills p.
func (d *decoder) read(p []byte) {
	if !d.need("bytes", uint64(len(p)), 1) {
		clear(p)
		return
	}
	if _, err := io.ReadFull(d.r, p); err != nil {
		d.err = err
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			d.err = weights.ErrTruncated
		}
		clear(p)
	}
	d.left -= uint64(len(p))
}

// bytes reads the n bytes of a number. The result is valid until the next call.
func (d *decoder) bytes(n int) []byte {
	b := d.number[:n]
	d.read(b)
	return b
}

func (d *decoder) uint8() uint8 {
	return d.bytes(1)[0]
}

func (d *decoder) uint16() uint16 {
	return binary.LittleEndian.Uint16(d.bytes(2))
}

func (d *decoder) uint32() uint32 {
	return binary.LittleEndian.Uint32(d.bytes(4))
}

func (d *decoder) uint64() uint64 {
	return binary.LittleEndian.Uint64(d.bytes(8))
}

func (d *decoder) float32() float32 { return math.Float32frombits(d.uint32()) }

func (d *decoder) float64() float64 { return math.Float64frombits(d.uint64()) }

func (d *decoder) bool() bool {
	b := d.uint8()
	if b > 1 {
		d.fail("a bool is %d", b)
	}
	return b == 1
}

// string reads a string of any bytes: tokens need not be UTF-8.
func (d *decoder) string() string {
	n := d.uint64()
	if !d.need("bytes of a string", n, 1) {
		return ""
	}
	if uint64(cap(d.text)) < n {
		d.text = make([]byte, n)
	}
	b := d.text[:n]
	d.read(b)
	return string(b)
}

// name reads the name of a tensor or the key of an entry, which is UTF-8.
func (d *decoder) name(what string) string {
	name := d.string()
	switch {
	case d.err != nil:
	case len(name) > maxName:
		d.fail("a %s has %d bytes", what, len(name))
	case !utf8.ValidString(name):
		d.fail("%s %q is not UTF-8", what, name)
	}
	return name
}
