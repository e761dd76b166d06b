package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/bytelevel"
)

// bpe is byte-pair encoding (Sennrich, Haddow and Birch, 2016): a piece starts
// as its characters, or as its bytes, and then the adjacent pair of the lowest
// rank merges until none has a rank.
type bpe struct {
	vocab  *Vocab
	merges *pairs

	bytes        bool       // pieces are raw bytes
	byteIDs      [256]int32 // the token of each byte, or -1: of raw bytes, or the fallback
	byteFallback bool       // a character without token becomes the tokens of its bytes
	unk          int32      // for what has no token; -1 drops it
	fuseUnk      bool
	prefix       string // of each symbol but the first
	suffix       string // of the last symbol
	ignoreMerges bool   // a piece that is a token is not split

	memory sync.Pool // of *bpeMemory
}

// bpeMemory is what one call needs, kept for the next one.
type bpeMemory struct {
	symbols []symbol
	heap    []candidate
}

func parseBPE(o object, opts Options) (Model, error) {
	v, err := parseVocab(o.Vocab)
	if err != nil {
		return nil, err
	}
	if o.Dropout != 0 {
		return nil, fmt.Errorf("%w: dropout %v; only tokenization without chance is supported", ErrFormat, o.Dropout)
	}
	merges, err := parseMerges(o.Merges)
	if err != nil {
		return nil, err
	}
	return NewBPE(v, merges, BPEOptions{
		Bytes: opts.Bytes, Unk: value(o.UnkToken), FuseUnk: o.FuseUnk, ByteFallback: o.ByteFallback,
		Prefix: value(o.Prefix), Suffix: value(o.Suffix), IgnoreMerges: o.IgnoreMerges,
	})
}

// parseMerges reads a list of pairs, or of strings with one space.
func parseMerges(raw json.RawMessage) ([][2]string, error) {
	var merges [][2]string
	if json.Unmarshal(raw, &merges) == nil {
		return merges, nil
	}
	var lines []string
	if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, fmt.Errorf("%w: merges: %w", ErrFormat, err)
	}
	return SplitMerges(lines)
}

// SplitMerges returns the pairs of merges that are written as strings with one
// space. A line that starts with #version is a comment.
func SplitMerges(lines []string) ([][2]string, error) {
	merges := make([][2]string, 0, len(lines))
	for i, line := range lines {
		if strings.HasPrefix(line, "#version") {
			continue
		}
		a, b, ok := strings.Cut(line, " ")
		if !ok || strings.Contains(b, " ") {
			return nil, fmt.Errorf("%w: merge %d is %q, not two symbols", ErrFormat, i, line)
		}
		merges = append(merges, [2]string{a, b})
	}
	return merges, nil
}

// BPEOptions are the properties of a byte-pair encoding.
type BPEOptions struct {
	Bytes        bool   // pieces are raw bytes; see Options
	Unk          string // the token for unknown characters, or ""
	FuseUnk      bool   // adjacent unknown characters are one token
	ByteFallback bool   // unknown characters become tokens like <0x0A>
	Prefix       string // of each symbol in the vocabulary but the first of a piece
	Suffix       string // of the last symbol of a piece in the vocabulary
	IgnoreMerges bool   // a piece that is a token is not split
}

// NewBPE returns the byte-pair encoding with merges in the order of their rank.
func NewBPE(v *Vocab, merges [][2]string, o BPEOptions) (Model, error) {
	m := &bpe{
		vocab: v, merges: newPairs(len(merges)), bytes: o.Bytes, byteFallback: o.ByteFallback, unk: -1,
		fuseUnk: o.FuseUnk, prefix: o.Prefix, suffix: o.Suffix, ignoreMerges: o.IgnoreMerges,
	}
	m.memory.New = func() any { return new(bpeMemory) }
	covered := m.setBytes()
	if o.Unk != "" {
		id, err := v.require(o.Unk, "unknown token")
		if err != nil && !covered {
			return nil, err
		} else if err == nil {
			m.unk = id
		}
	}
	for rank, pair := range merges {
		if err := m.addMerge(int32(rank), pair); err != nil {
			return nil, err
		}
	}
	return newCached(m), nil
}

// setBytes sets byteIDs and reports whether all bytes have a token.
func (m *bpe) setBytes() bool {
	if !m.bytes {
		var all bool
		m.byteIDs, all = m.vocab.byteTokens()
		return all && m.byteFallback
	}
	all := true
	for b := range 256 {
		id, ok := m.vocab.ID(string(bytelevel.Rune(byte(b))))
		if !ok {
			id, all = -1, false
		}
		m.byteIDs[b] = id
	}
	return all
}

// addMerge adds the merge of two tokens.
func (m *bpe) addMerge(rank int32, pair [2]string) error {
	a, err := m.vocab.require(pair[0], "merged symbol")
	if err != nil {
		return err
	}
	b, err := m.vocab.require(pair[1], "merged symbol")
	if err != nil {
		return err
	}
	right, ok := strings.CutPrefix(pair[1], m.prefix)
	if !ok {
		return fmt.Errorf("%w: the second symbol of the merge %q lacks the prefix %q", ErrFormat, pair, m.prefix)
	}
	id, err := m.vocab.require(pair[0]+right, "result of a merge")
	if err != nil {
		return err
	}
	m.merges.put(a, b, merge{rank, id})
	return nil
}

// Vocab implements Model.
func (m *bpe) Vocab() *Vocab { return m.vocab }

// Append implements Model.
func (m *bpe) Append(dst []Token, piece string) []Token {
	if m.ignoreMerges {
		if id, ok := m.whole(piece); ok {
			return append(dst, Token{id, 0, int32(len(piece))})
		}
	}
	mem := m.memory.Get().(*bpeMemory)
	defer m.memory.Put(mem)
	if m.bytes {
		mem.symbols = m.ofBytes(mem.symbols[:0], piece)
	} else {
		mem.symbols = m.ofRunes(mem.symbols[:0], piece)
	}
	mem.heap = mergeAll(mem.symbols, m, mem.heap)
	for _, s := range mem.symbols {
		if s.start < s.end {
			dst = append(dst, Token{s.id, s.start, s.end})
		}
	}
	return dst
}

// rank implements ranker.
func (m *bpe) rank(a, b *symbol) merge { return m.merges.get(a.id, b.id) }

// whole returns the token that is the piece.
func (m *bpe) whole(piece string) (int32, bool) {
	if m.bytes {
		piece = bytelevel.Encode(piece)
	}
	return m.vocab.ID(piece)
}

// ofBytes appends a symbol for each byte.
func (m *bpe) ofBytes(dst []symbol, piece string) []symbol {
	for i := range len(piece) {
		if id := m.byteIDs[piece[i]]; id >= 0 {
			dst = append(dst, symbol{id: id, start: int32(i), end: int32(i + 1)})
		} else {
			dst = m.unknown(dst, int32(i), int32(i+1))
		}
	}
	return dst
}

// ofRunes appends a symbol for each character.
func (m *bpe) ofRunes(dst []symbol, piece string) []symbol {
	for i := 0; i < len(piece); {
		_, n := utf8.DecodeRuneInString(piece[i:])
		start, end := int32(i), int32(i+n)
		i += n
		key := piece[start:end]
		if start > 0 && m.prefix != "" {
			key = m.prefix + key
		}
		if i == len(piece) && m.suffix != "" {
			key += m.suffix
		}
		switch id, ok := m.vocab.ID(key); {
		case ok:
			dst = append(dst, symbol{id: id, start: start, end: end})
		case m.byteFallback && m.allBytes(piece[start:end]):
			for k := start; k < end; k++ {
				dst = append(dst, symbol{id: m.byteIDs[piece[k]], start: k, end: k + 1})
			}
		default:
			dst = m.unknown(dst, start, end)
		}
	}
	return dst
}

// allBytes reports whether all bytes of s have tokens.
func (m *bpe) allBytes(s string) bool {
	for i := range len(s) {
		if m.byteIDs[s[i]] < 0 {
			return false
		}
	}
	return true
}

// unknown appends the unknown token, or extends it.
func (m *bpe) unknown(dst []symbol, start, end int32) []symbol {
	if m.unk < 0 {
		return dst
	}
	if n := len(dst); m.fuseUnk && n > 0 && dst[n-1].id == m.unk && dst[n-1].end == start {
		dst[n-1].end = end
		return dst
	}
	return append(dst, symbol{id: m.unk, start: start, end: end})
}
