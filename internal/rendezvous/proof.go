package rendezvous

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
)

// challengeBytes is the size of a challenge. Challenges are random and never used twice.
const challengeBytes = 32

func newChallenge() []byte {
	c := make([]byte, challengeBytes)
	_, _ = rand.Read(c) // it never fails
	return c
}

// The two sides, each of which proves to the other that it knows the secret. A proof includes its side, so that an attacker
// cannot return the proof that it received.
const (
	joining byte = 'j'
	serving byte = 's'
)

// proof returns a value that only a process with the secret can compute for a pair of challenges:
// an HMAC (RFC 2104) with SHA-256 of both challenges, the side that proves, the rank and the number
// of processes.
func (h *hello) proof(secret []byte, by byte, challenge []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	text := []byte{by}
	for _, part := range [][]byte{challenge, h.Challenge} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	text = binary.LittleEndian.AppendUint64(text, uint64(h.Rank))
	text = binary.LittleEndian.AppendUint64(text, uint64(h.World))
	mac.Write(text)
	return mac.Sum(nil)
}
