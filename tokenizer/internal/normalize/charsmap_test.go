package normalize

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// compiler compiles a table of replacements: see Charsmap.
type compiler struct {
	units []uint32
	taken map[uint32]bool // units
	bases map[uint32]bool // the first units of the children of a node
}

// compile returns the table of rules.
func compile(rules map[string]string) []byte {
	c := compiler{make([]uint32, 256), map[uint32]bool{0: true}, map[uint32]bool{}}
	keys, values, pool := slices.Sorted(maps.Keys(rules)), map[string]uint32{}, ""
	for _, k := range keys {
		values[k] = uint32(len(pool))
		pool += rules[k] + "\x00"
	}
	c.place(0, "", keys, values)
	blob := binary.LittleEndian.AppendUint32(nil, uint32(4*len(c.units)))
	for _, u := range c.units {
		blob = binary.LittleEndian.AppendUint32(blob, u)
	}
	return append(blob, pool...)
}

// place gives the children of the node of a prefix their units.
func (c *compiler) place(at uint32, prefix string, keys []string, values map[string]uint32) {
	labels := map[byte]bool{}
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(k, prefix); ok && rest != "" {
			labels[rest[0]] = true
		} else if ok {
			labels[0] = true
		}
	}
	base := uint32(1)
	for c.bases[base] || slices.ContainsFunc(slices.Collect(maps.Keys(labels)), func(l byte) bool { return c.taken[base^uint32(l)] }) {
		base++
	}
	c.bases[base] = true
	for len(c.units) <= int(base|255) {
		c.units = append(c.units, make([]uint32, 256)...)
	}
	c.units[at] |= (at ^ base) << 10
	for l := range labels {
		c.taken[base^uint32(l)] = true
	}
	for _, l := range slices.Sorted(maps.Keys(labels)) {
		if l == 0 {
			c.units[at] |= 1 << 8
			c.units[base] = 1<<31 | values[prefix]
			continue
		}
		c.units[base^uint32(l)] = uint32(l)
		c.place(base^uint32(l), prefix+string([]byte{l}), keys, values)
	}
}

// define returns the normal form of a text by the definition: a short grapheme is replaced as a whole, or its characters are.
func define(rules map[string]string, text string) string {
	var b strings.Builder
	replace := func(part string) bool {
		for n := 1; n <= len(part); n++ { // the shortest prefix counts
			if to, ok := rules[part[:n]]; ok {
				b.WriteString(to)
				return true
			}
		}
		return false
	}
	for clusters := graphemes.FromString(text); clusters.Next(); {
		g := clusters.Value()
		if len(g) <= maxGrapheme && replace(g) {
			continue
		}
		for len(g) > 0 {
			_, n := utf8.DecodeRuneInString(g)
			if !replace(g[:n]) {
				b.WriteString(g[:n])
			}
			g = g[n:]
		}
	}
	return b.String()
}

// rules are replacements of characters and of graphemes.
var rules = map[string]string{
	"\r\n": "\n", "\t": " ", "\x01": "", "ﬁ": "fi", "e\u0301": "é", "A\u030a": "Å", "½": "1⁄2", "\u200d": "", "각": "가", "👩": "w", "\u0301": "'", "Q": "qq",
}

// TestCharsmap checks compiled tables of replacements.
func TestCharsmap(t *testing.T) {
	n, err := Parse([]byte(`{"type": "Precompiled", "precompiled_charsmap": "` + base64.StdEncoding.EncodeToString(compile(map[string]string{"a": "xyz"})) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := show(n.Normalize(aligned.New("éab", true))); got != "é[0 2] x[2 3] y[2 3] z[2 3] b[3 4]" {
		t.Errorf("the text is %q", got)
	}
	one := compile(map[string]string{"a": ""})
	for _, size := range []int{0, 3, 5, 100, 1027} {
		if _, err := NewCharsmap(one[:size]); !errors.Is(err, ErrFormat) {
			t.Errorf("the error of a table of %d bytes is %v", size, err)
		}
	}
	if _, err := NewCharsmap(compile(map[string]string{"a": strings.Repeat("x", 256)})); !errors.Is(err, ErrFormat) {
		t.Errorf("the error of a long replacement is %v", err)
	}
}

// TestCharsmapTexts compares random texts, which are also not valid UTF-8, with the definition.
func TestCharsmapTexts(t *testing.T) {
	c, err := NewCharsmap(compile(rules))
	if err != nil {
		t.Fatal(err)
	}
	parts := append(slices.Sorted(maps.Keys(rules)), "a", "b", "e", "A", " ", "\r", "\n", "\x00", "\u0301", "\u030a", "é", "\xff", "\xe2\x82", "🇩🇪", "\u0600", "नी", "\u115f")
	r := rand.New(rand.NewPCG(4, 1))
	changed := 0
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		want := define(rules, text)
		if want != text {
			changed++
		}
		for _, track := range []bool{false, true} {
			if got := c.Normalize(aligned.New(text, track)).S; got != want {
				t.Fatalf("tracked %v, %q is %q, want %q", track, text, got, want)
			}
		}
	}
	if changed < 1000 {
		t.Errorf("only %d texts have replacements", changed)
	}
}

// FuzzCharsmap reads hostile tables.
func FuzzCharsmap(f *testing.F) {
	f.Add(compile(map[string]string{"a": "x"}), "aé")
	f.Add(compile(rules), "\r\nﬁe\u0301")
	f.Add([]byte{4, 0, 0, 0, 0, 0xff, 0xff, 0xff, 'x'}, "abc")
	f.Fuzz(func(t *testing.T, blob []byte, text string) {
		c, err := NewCharsmap(blob)
		if err != nil {
			return
		}
		got := c.Normalize(aligned.New(text, true))
		for i := range len(got.S) {
			if s := got.Span(i, i+1); s.Start < 0 || s.End < s.Start || s.End > len(text) {
				t.Fatalf("the span of byte %d of %q is %v of %q", i, got.S, s, text)
			}
		}
		if plain := c.Normalize(aligned.New(text, false)).S; plain != got.S {
			t.Fatalf("%q is %q with spans and %q without", text, got.S, plain)
		}
	})
}
