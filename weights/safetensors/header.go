package safetensors

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/weights"
)

// metadataKey is the key of the header that names no tensor.
const metadataKey = "__metadata__"

// header is the JSON object that precedes the tensors' data.
type header struct {
	metadata weights.Metadata
	tensors  []tensorInfo
}

// tensorInfo describes a tensor. The offsets are relative to the start of all tensors' data.
type tensorInfo struct {
	spec     weights.Spec
	from, to uint64
}

// parseHeader reads the header.
func parseHeader(text []byte) (*header, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("%w: its header is not a JSON object", weights.ErrFormat)
	}
	s := newScanner("its header", text)
	h := &header{}
	s.object("the header", func(key string) {
		if key == metadataKey {
			s.object(metadataKey, func(key string) {
				h.metadata = append(h.metadata, weights.Entry{Key: key, Value: s.string()})
			})
			return
		}
		h.tensors = append(h.tensors, s.tensor(key))
	})
	s.end()
	return h, s.err
}

// tensor reads the description of a tensor.
func (s *scanner) tensor(name string) tensorInfo {
	info := tensorInfo{spec: weights.Spec{Name: name}}
	fields := 0
	s.object("a tensor", func(key string) {
		fields++
		switch key {
		case "dtype":
			info.spec.Type = s.dtype(name)
		case "shape":
			info.spec.Shape = s.shape(name)
		case "data_offsets":
			info.from, info.to = s.offsets(name)
		default:
			s.fail("the description of tensor %q has the unknown key %q", name, key)
		}
	})
	if fields != 3 {
		s.fail("the description of tensor %q is incomplete", name)
	}
	return info
}

func (s *scanner) dtype(tensor string) weights.Type {
	name := s.string()
	t, ok := weights.ParseType(name)
	if !ok || !isType(t) {
		s.fail("dtype %q of tensor %q is unknown", name, tensor)
	}
	return t
}

// isType reports whether t is a type of safetensors files.
func isType(t weights.Type) bool { return t > weights.Invalid && t <= weights.C64 }

func (s *scanner) shape(tensor string) []int {
	list := s.numbers("shape")
	shape := make([]int, len(list))
	for i, n := range list {
		if shape[i] = int(n); shape[i] < 0 || uint64(shape[i]) != n {
			s.fail("dimension %d of tensor %q is %d", i, tensor, n)
		}
	}
	return shape
}

func (s *scanner) offsets(tensor string) (from, to uint64) {
	list := s.numbers("data_offsets")
	if len(list) != 2 || list[0] > list[1] {
		s.fail("data_offsets of tensor %q are %v", tensor, list)
		return 0, 0
	}
	return list[0], list[1]
}
