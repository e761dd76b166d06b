package weights

import "bytes"

// CheckPickle returns an error that matches ErrPickle if a source begins like a file of torch.save: with the opcode PROTO of a pickle, or like
// a zip archive.
func CheckPickle(s *Source) error {
	var head [4]byte
	n, err := s.ReadAt(head[:min(int64(len(head)), s.size)], 0)
	if err != nil || n < len(head) {
		return nil // too short for a pickle of tensors; the format's own check reports that
	}
	proto := head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
	if bytes.Equal(head[:], []byte("PK\x03\x04")) || proto {
		return ErrPickle
	}
	return nil
}
