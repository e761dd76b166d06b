package tensor

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// npyMagic begins a .npy file.
const npyMagic = "\x93NUMPY"

// mostHeader is the largest size of a header that ReadNPY accepts.
const mostHeader = 1 << 16

// npyTypes are NumPy's names of element types. BF16 has none.
func npyTypes() map[dtype.Type]string {
	return map[dtype.Type]string{
		dtype.Bool: "|b1", dtype.Int8: "|i1", dtype.Uint8: "|u1", dtype.Int16: "<i2", dtype.Uint16: "<u2", dtype.Int32: "<i4", dtype.Uint32: "<u4",
		dtype.Int64: "<i8", dtype.Uint64: "<u8", dtype.Float16: "<f2", dtype.Float32: "<f4", dtype.Float64: "<f8",
	}
}

// WriteNPY waits for t and writes it in the format of NumPy's save. If the element type is BF16, which NumPy lacks, the error wraps
// ErrDType.
func WriteNPY(ctx context.Context, w io.Writer, t *Tensor) error {
	const op = "WriteNPY"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return err
	}
	descr, ok := npyTypes()[t.dtype]
	if !ok {
		return mistake(op, fmt.Errorf("%w: NumPy has no %v", ErrDType, t.dtype))
	}
	data, err := t.download(ctx, s, op)
	if err != nil {
		return err
	}
	if _, err := w.Write(npyHeader(descr, t.shape)); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// download waits for the elements of t and returns them in row-major order.
func (t *Tensor) download(ctx context.Context, s *Scope, op string) ([]byte, error) {
	c := t.Contiguous()
	if c.err != nil {
		return nil, c.err
	}
	data := make([]byte, c.Len()*c.dtype.Size())
	if err := device.Download(s.stream, data, c.contents()); err != nil {
		return nil, mistake(op, err)
	}
	return data, s.stream.Synchronize(ctx)
}

// npyHeader returns the bytes before the elements, which are a multiple of 64.
func npyHeader(descr string, shape []int) []byte {
	var sizes strings.Builder
	for _, n := range shape {
		fmt.Fprintf(&sizes, "%d, ", n)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, strings.TrimSuffix(sizes.String(), " "))
	const before = len(npyMagic) + 4
	pad := 63 - (before+len(dict))%64
	dict += strings.Repeat(" ", pad) + "\n"
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	return append(b, dict...)
}

// ReadNPY reads a tensor in the format of NumPy's save. The element type must be in Element. ReadNPY stops reading after the last element.
// Errors wrap ErrFormat, ErrDType or ErrShape, or are errors of r.
func ReadNPY(s *Scope, r io.Reader) (*Tensor, error) {
	const op = "ReadNPY"
	if err := s.check(op); err != nil {
		return nil, err
	}
	t, err := s.readNPY(r)
	if err != nil {
		return nil, mistake(op, err)
	}
	return t, t.err
}

// readNPY reads a tensor for a call that checked the Scope. The tensor is void if there is no memory for it.
func (s *Scope) readNPY(r io.Reader) (*Tensor, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return nil, err
	}
	n, err := product(h.shape)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer // grows with what is read
	if got, err := io.CopyN(&data, r, int64(n*h.of.Size())); err != nil {
		return nil, fmt.Errorf("%w: %d bytes of elements, want %d: %w", ErrFormat, got, n*h.of.Size(), err)
	}
	if h.of == dtype.Bool {
		copy(data.Bytes(), truths(data.Bytes()))
	}
	shape := slices.Clone(h.shape)
	if h.fortran {
		slices.Reverse(shape)
	}
	t := s.empty("ReadNPY", h.of, shape)
	if t.err != nil {
		return t, nil
	}
	if err := device.UploadTo(s.stream, t.memory.bytes, data.Bytes()); err != nil {
		return nil, err
	}
	if h.fortran {
		strides := slices.Clone(t.strides)
		slices.Reverse(strides)
		t = s.view(t, Tensor{shape: h.shape, strides: strides})
	}
	return t, nil
}

// npy is the header of a .npy file.
type npy struct {
	of      dtype.Type
	fortran bool // the first dimension is that of neighbours
	shape   []int
}

// readNPYHeader reads what precedes the elements.
func readNPYHeader(r io.Reader) (npy, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return npy{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if string(start[:len(npyMagic)]) != npyMagic || start[6] < 1 || start[6] > 3 {
		return npy{}, fmt.Errorf("%w: it begins with %q", ErrFormat, start)
	}
	length := make([]byte, 2, 4)
	if start[6] > 1 {
		length = length[:4]
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return npy{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	n := binary.LittleEndian.Uint32(append(slices.Clone(length), 0, 0, 0, 0))
	if n > mostHeader {
		return npy{}, fmt.Errorf("%w: a header of %d bytes", ErrFormat, n)
	}
	dict := make([]byte, n)
	if _, err := io.ReadFull(r, dict); err != nil {
		return npy{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return parseNPY(string(dict))
}

// parseNPY parses the header's dictionary.
func parseNPY(dict string) (npy, error) {
	entry := regexp.MustCompile(`^\{\s*'descr':\s*'([^']*)',\s*'fortran_order':\s*(True|False),\s*'shape':\s*\(([0-9, ]*)\),?\s*\}\s*$`)
	m := entry.FindStringSubmatch(dict)
	if m == nil {
		return npy{}, fmt.Errorf("%w: header %.100q", ErrFormat, dict)
	}
	h := npy{fortran: m[2] == "True"}
	for t, name := range npyTypes() {
		if m[1] == name || m[1] == "="+name[1:] {
			h.of = t
		}
	}
	if h.of == dtype.Invalid {
		return h, fmt.Errorf("%w: elements of NumPy's type %.20q", ErrDType, m[1])
	}
	for _, field := range strings.Split(m[3], ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		n, err := strconv.Atoi(field)
		if err != nil {
			return h, fmt.Errorf("%w: shape (%.50s)", ErrFormat, m[3])
		}
		h.shape = append(h.shape, n)
	}
	if len(h.shape) > 64 {
		return h, fmt.Errorf("%w: %d dimensions", ErrFormat, len(h.shape))
	}
	return h, nil
}
