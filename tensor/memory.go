package tensor

import "github.com/gopherwarp/gopherwarp/device"

// memory is the device memory of a tensor and its views.
//
// Lifetimes: the last view that is released closes the buffer. The device frees it in stream order, after the operations that use it.
type memory struct {
	bytes  device.Slice[byte]
	buffer *device.Buffer[byte] // nil if the memory belongs to the caller of Wrap
	views  int
}

// allocate returns memory with arbitrary contents.
func allocate(s *device.Stream, bytes int) (*memory, error) {
	b, err := device.MakeDirty[byte](s, bytes)
	if err != nil {
		return nil, err
	}
	return &memory{bytes: b.All(), buffer: b}, nil
}

// release ends a view. A failure to close the buffer is the device's, which reports it at the next Synchronize.
func (m *memory) release() {
	if m.views--; m.views == 0 && m.buffer != nil {
		_ = m.buffer.Close()
	}
}
