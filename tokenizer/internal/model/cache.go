package model

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
)

const (
	cacheSlots = 1 << 14
	// cachedBytes limits the length of a cached piece. Together the two bound
	// the cache's memory: 16,384 pieces of 64 bytes and at most as many tokens
	// of 12 bytes, which is less than 14 MB.
	cachedBytes = 64
)

// cached is a model that remembers the tokens of pieces. A piece's hash selects
// its slot, and a new piece replaces the slot's previous one. Slots are atomic
// pointers, so no lock is needed.
type cached struct {
	Model
	seed  maphash.Seed
	slots []atomic.Pointer[entry]
}

// entry is a piece with its tokens. It never changes.
type entry struct {
	piece  string
	tokens []Token
}

func newCached(m Model) *cached {
	return &cached{Model: m, seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[entry], cacheSlots)}
}

// Append implements Model.
func (c *cached) Append(dst []Token, piece string) []Token {
	if len(piece) > cachedBytes {
		return c.Model.Append(dst, piece)
	}
	slot := &c.slots[maphash.String(c.seed, piece)%cacheSlots]
	if e := slot.Load(); e != nil && e.piece == piece {
		return append(dst, e.tokens...)
	}
	first := len(dst)
	dst = c.Model.Append(dst, piece)
	slot.Store(&entry{strings.Clone(piece), slices.Clone(dst[first:])})
	return dst
}
