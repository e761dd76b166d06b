package tokenizer_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// python returns a Python that has the package tokenizers, or skips the test.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3"))
	if err != nil {
		t.Skipf("there is no Python to compare with: %v", err)
	}
	if err := exec.Command(path, "-c", "import tokenizers").Run(); err != nil {
		t.Skipf("%s has no package tokenizers to compare with", path)
	}
	return path
}

// judge runs testdata/judge.py.
func judge(t *testing.T, command string, folders ...string) {
	t.Helper()
	cmd := exec.Command(python(t), append([]string{filepath.Join("testdata", "judge.py"), command}, folders...)...)
	cmd.Env = append(os.Environ(), "TOKENIZERS_PARALLELISM=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("judge.py %s: %v\n%s", command, err, out)
	}
}

// writeJSON writes v to a file.
func writeJSON(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// verdict is what the judge says about a text.
type verdict struct {
	IDs              []int32  `json:"ids"`
	Offsets          [][2]int `json:"offsets"`
	Decoded, Skipped string
	Pair, Types      []int32
	Plain            []int32
	Right, Left      []int32
	RightPair        []int32 `json:"rightpair"`
	LeftPair         []int32 `json:"leftpair"`
}

// texts returns the texts to compare: valid UTF-8, since Python's strings hold
// nothing else.
func texts(n int) []string {
	lines := corpus(n, 7)
	for i, l := range lines {
		lines[i] = strings.ToValidUTF8(l, "\ufffd")
	}
	return append(lines, "", " ", "a", "\n", "  a", "a  ", "é", "<s>", " [MASK] ", "xTokenizer Tokenizer")
}

// TestTrained compares tokenizers that the judge trains, so that every component
// is part of one.
func TestTrained(t *testing.T) {
	folder := t.TempDir()
	writeJSON(t, filepath.Join(folder, "train.json"), corpus2(2000))
	all := texts(1200)
	writeJSON(t, filepath.Join(folder, "texts.json"), all)
	judge(t, "train", folder)
	models, err := filepath.Glob(filepath.Join(folder, "*", "tokenizer.json"))
	if err != nil || len(models) < 20 {
		t.Fatalf("the judge trained %d tokenizers, %v", len(models), err)
	}
	for _, m := range models {
		t.Run(filepath.Base(filepath.Dir(m)), func(t *testing.T) {
			t.Parallel()
			compare(t, filepath.Dir(m), all)
		})
	}
}

// corpus2 returns lines to train on, which are valid UTF-8.
func corpus2(n int) []string {
	lines := corpus(n, 3)
	for i, l := range lines {
		lines[i] = strings.ToValidUTF8(l, "")
	}
	return lines
}

// compare compares the tokenizer in a folder with the judge on all texts.
func compare(t *testing.T, folder string, all []string) {
	t.Helper()
	tok, err := tokenizer.Open(filepath.Join(folder, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	judge(t, "encode", folder)
	f, err := os.Open(filepath.Join(folder, "encoded.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	wrong := map[string]int{}
	report := func(what string, i int, got, want any) {
		if wrong[what]++; wrong[what] <= 3 {
			t.Errorf("%s of %q:\n got %v\nwant %v", what, all[i], got, want)
		}
	}
	for i, text := range all {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		compareText(tok, text, v, func(what string, got, want any) { report(what, i, got, want) })
		if i%10 == 0 {
			before := all[(i+len(all)-1)%len(all)]
			comparePair(tok, [2]string{text, before}, v, func(what string, got, want any) { report(what, i, got, want) })
		}
	}
	if len(wrong) > 0 {
		t.Errorf("wrong of %d texts: %v", len(all), wrong)
	}
}

// compareText compares the encoding of one text.
func compareText(tok *tokenizer.Tokenizer, text string, v verdict, report func(what string, got, want any)) {
	e := tok.EncodeWith(text, tokenizer.Options{Offsets: true})
	if !slices.Equal(e.IDs, v.IDs) {
		report("IDs", e.IDs, v.IDs)
		return
	}
	if ids := tok.Encode(text); !slices.Equal(ids, v.IDs) {
		report("IDs without offsets", ids, v.IDs)
	}
	for k, o := range e.Offsets {
		start, end := v.Offsets[k][0], v.Offsets[k][1]
		// The judge lets a token begin where bytes before it were dropped, which the vocabulary lacks.
		dropped := start < o.Start && len(tok.Encode(text[start:o.Start])) == 0
		if o.Start != start && !dropped || o.End != end {
			report("offsets", e.Offsets, v.Offsets)
			break
		}
	}
	if s := lossy(tok.Decode(v.IDs)); s != v.Decoded {
		report("text", s, v.Decoded)
	}
	if s := lossy(tok.DecodeWith(v.IDs, tokenizer.DecodeOptions{SkipSpecial: true})); s != v.Skipped {
		report("text without special tokens", s, v.Skipped)
	}
	d := tok.NewDecoder(tokenizer.DecodeOptions{})
	var b strings.Builder
	for _, id := range v.IDs {
		b.WriteString(d.Write(id))
	}
	b.WriteString(d.Flush())
	if s := lossy(b.String()); s != v.Decoded {
		report("streamed text", s, v.Decoded)
	}
}

// lossy replaces what is not valid UTF-8 as the judge does: each start of a
// sequence that does not go on, and each other byte, by U+FFFD.
func lossy(s string) string {
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			for n < min(len(s), utf8.UTFMax-1) && !utf8.FullRuneInString(s[:n+1]) {
				n++
			}
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// comparePair compares what depends on options.
func comparePair(tok *tokenizer.Tokenizer, texts [2]string, v verdict, report func(what string, got, want any)) {
	check := func(what string, got, want []int32) {
		if !slices.Equal(got, want) {
			report(what, got, want)
		}
	}
	pair := tok.EncodePair(texts[0], texts[1], tokenizer.Options{})
	check("IDs of a pair", pair.IDs, v.Pair)
	check("type IDs of a pair", pair.TypeIDs, v.Types)
	check("IDs as plain text", tok.EncodeWith(texts[0], tokenizer.Options{PlainText: true, OmitSpecial: true}).IDs, v.Plain)
	for _, left := range []bool{false, true} {
		o := tokenizer.Options{MaxLength: 9, CutLeft: left}
		single, both := v.Right, v.RightPair
		if left {
			single, both = v.Left, v.LeftPair
		}
		check("truncated IDs", tok.EncodeWith(texts[0], o).IDs, single)
		check("truncated IDs of a pair", tok.EncodePair(texts[0], texts[1], o).IDs, both)
	}
}
