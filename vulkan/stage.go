package vulkan

import "github.com/gopherwarp/gopherwarp/internal/vulkansys"

const (
	stageBytes = 1 << 20  // of memory that is allocated at once, and of the largest piece of a transfer
	mostStaged = 16 << 20 // bytes after which a queue starts what it has collected
	stageAlign = 16       // of pieces
)

// stage is memory that the host writes and reads, through which a queue passes data and parameter blocks.
type stage struct {
	backend *backend
	flags   uint32 // of the memory
	chunks  []*buffer
	chunk   int // the one that is being used
	offset  int // in it
	used    int
}

// staged is a piece of the stage.
type staged struct {
	host    []byte
	address uint64
	buffer  vulkansys.Buffer
	offset  uint64
}

// take returns a piece of n bytes, at most stageBytes, which lives until reset.
func (s *stage) take(n int) (staged, error) {
	if s.chunk < len(s.chunks) && s.offset+n > stageBytes {
		s.chunk++
		s.offset = 0
	}
	if s.chunk == len(s.chunks) {
		p, err := s.backend.allocate(stageBytes, s.flags)
		if err != nil {
			return staged{}, err
		}
		s.chunks = append(s.chunks, p)
	}
	p := s.chunks[s.chunk]
	piece := staged{p.host[s.offset : s.offset+n], p.address + uint64(s.offset), p.handle, uint64(s.offset)}
	s.offset = (s.offset + n + stageAlign - 1) &^ (stageAlign - 1)
	s.used += n
	return piece, nil
}

// reset makes all pieces available again.
func (s *stage) reset() { s.chunk, s.offset, s.used = 0, 0, 0 }

func (s *stage) free() {
	for _, p := range s.chunks {
		p.free()
	}
	s.chunks = nil
}
