package tokenizer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

func Example() {
	t, err := tokenizer.Open(filepath.Join("testdata", "vectors", "smollm.json"))
	if err != nil {
		fmt.Println(err)
		return
	}
	ids := t.Encode("Hello, world!")
	fmt.Println(ids)
	fmt.Println(t.Decode(ids))
	end, ok := t.TokenID("<|end|>")
	fmt.Println(end, ok)
	// Output:
	// [44 73 80 80 83 16 225 91 477 80 72 5]
	// Hello, world!
	// 4 true
}

// TestRoundTrip checks that byte-level BPE loses nothing, whatever the bytes.
func TestRoundTrip(t *testing.T) {
	tok := openSmall(t, "smollm")
	for _, text := range append(corpus(2000, 5), "\xff", "\xc3", "a\xe2\x82", "\x80\xf0\x9f\x98", strings.Repeat("\xe2\x82", 100)) {
		if got := tok.Decode(tok.Encode(text)); got != text {
			t.Fatalf("Decode(Encode(%q)) is %q", text, got)
		}
	}
}

// TestEncodePairs compares pairs with those that are encoded alone, and asks whether tokens were removed.
func TestEncodePairs(t *testing.T) {
	for _, name := range small {
		tok, list := openSmall(t, name), append(corpus(40, 8), "", "a")
		for _, o := range []tokenizer.Options{{}, {MaxLength: 12}, {MaxLength: 12, OmitSpecial: true, CutLeft: true, Offsets: true}} {
			for i, e := range tok.EncodePairs(list[0], list, o) {
				whole := len(tok.EncodePair(list[0], list[i], tokenizer.Options{OmitSpecial: o.OmitSpecial}).IDs)
				if want := tok.EncodePair(list[0], list[i], o); !reflect.DeepEqual(e, want) || e.Truncated != (o.MaxLength > 0 && whole > o.MaxLength) {
					t.Errorf("%s %+v: the pair of %q has %+v, want %+v; untruncated, it has %d tokens", name, o, list[i], e, want, whole)
				}
			}
		}
		if e := tok.EncodeWith("a", tokenizer.Options{MaxLength: 100}); e.Truncated {
			t.Errorf("%s: a short text is truncated", name)
		}
	}
}

// TestStream checks that a decoder never splits a character, and returns it as
// soon as it is complete.
func TestStream(t *testing.T) {
	tok := openSmall(t, "smollm")
	for _, text := range corpus(300, 6) {
		d := tok.NewDecoder(tokenizer.DecodeOptions{})
		var b strings.Builder
		ids := tok.Encode(text)
		for _, id := range ids {
			s := d.Write(id)
			if utf8.ValidString(text) && !utf8.ValidString(s) {
				t.Fatalf("of %q the decoder returned %q, part of a character", text, s)
			}
			b.WriteString(s)
		}
		if rest := d.Flush(); utf8.ValidString(text) && rest != "" {
			t.Fatalf("the decoder held back %q at the end of %q", rest, text)
		} else {
			b.WriteString(rest)
		}
		if b.String() != text {
			t.Fatalf("the stream of %q is %q", text, b.String())
		}
	}
	d := tok.NewDecoder(tokenizer.DecodeOptions{})
	emoji := tok.Encode("😀")
	if len(emoji) < 2 {
		t.Fatalf("the emoji has %d tokens, which tests nothing", len(emoji))
	}
	for i, id := range emoji {
		want := ""
		if i == len(emoji)-1 {
			want = "😀"
		}
		if s := d.Write(id); s != want {
			t.Errorf("after token %d the decoder returned %q, want %q", i, s, want)
		}
	}
	d.Write(emoji[0])
	if s := d.Flush(); s == "" || utf8.ValidString(s) {
		t.Errorf("Flush within a character returned %q", s)
	}
	if s := d.Flush(); s != "" {
		t.Errorf("the second Flush returned %q", s)
	}
}

// TestSpecial checks what happens to special tokens in a text.
func TestSpecial(t *testing.T) {
	tok := openSmall(t, "smollm")
	end, ok := tok.TokenID("<|end|>")
	if s, _ := tok.Token(end); !ok || s != "<|end|>" || !tok.IsSpecial(end) {
		t.Fatalf("<|end|> is %d, %v, spelled %q", end, ok, s)
	}
	text := "a<|end|>b"
	if ids := tok.Encode(text); !slices.Contains(ids, end) {
		t.Errorf("the IDs of %q lack %d: %v", text, end, ids)
	}
	plain := tok.EncodeWith(text, tokenizer.Options{PlainText: true})
	if slices.Contains(plain.IDs, end) || tok.Decode(plain.IDs) != text {
		t.Errorf("as plain text, the IDs of %q are %v", text, plain.IDs)
	}
	if s := tok.DecodeWith(tok.Encode(text), tokenizer.DecodeOptions{SkipSpecial: true}); s != "ab" {
		t.Errorf("without special tokens the text is %q", s)
	}
	if s := tok.DecodeWith(tok.Encode(text), tokenizer.DecodeOptions{SkipSpecial: true, Keep: []int32{end}}); s != text {
		t.Errorf("with a special token that is kept, the text is %q", s)
	}
	if _, ok := tok.Token(-1); ok {
		t.Error("ID -1 has a token")
	}
	if _, ok := tok.Token(int32(tok.Size())); ok {
		t.Errorf("ID %d has a token", tok.Size())
	}
	if s := tok.Decode([]int32{-1, 1 << 30}); s != "" {
		t.Errorf("unknown IDs stand for %q", s)
	}
}

// TestOffsets checks that each token's offsets are its text.
func TestOffsets(t *testing.T) {
	tok := openSmall(t, "bert")
	text := "Ünder  the\tTABLE 你 "
	e := tok.EncodeWith(text, tokenizer.Options{Offsets: true})
	var parts []string
	for _, o := range e.Offsets {
		parts = append(parts, text[o.Start:o.End])
	}
	if got := strings.Join(parts, "|"); got != "|Ünd|er|t|h|e|T|AB|L|E|你|" {
		t.Errorf("the tokens are %s", got)
	}
}

// TestConcurrency uses one tokenizer from several goroutines, for the race
// detector.
func TestConcurrency(t *testing.T) {
	tok := openSmall(t, "unigram")
	vectors, texts := readVectors(t, "unigram"), readTexts(t)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range texts {
				k := (i*7 + g) % len(texts)
				if !slices.Equal(tok.Encode(texts[k]), vectors[k].IDs) {
					t.Errorf("the IDs of %q differ", texts[k])
				}
			}
		})
	}
	wg.Wait()
}

// TestParseErrors checks that files that are wrong or unknown are errors.
func TestParseErrors(t *testing.T) {
	const model = `"model":{"type":"WordLevel","vocab":{"a":0,"[UNK]":1},"unk_token":"[UNK]"}`
	for _, c := range []struct {
		file string
		want error
		text string
	}{
		{``, tokenizer.ErrFormat, "unexpected end"},
		{`{}`, tokenizer.ErrFormat, "no model"},
		{`{"model":{"type":"Gopher"}}`, tokenizer.ErrUnsupported, `"Gopher"`},
		{`{"model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"u"}}`, tokenizer.ErrFormat, `unknown token "u"`},
		{`{"model":{"type":"WordLevel","vocab":{"a":2000000000},"unk_token":"a"}}`, tokenizer.ErrFormat, "2000000000"},
		{`{"model":{"type":"WordLevel","vocab":{"a":-1},"unk_token":"a"}}`, tokenizer.ErrFormat, "ID -1"},
		{`{"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}}`, tokenizer.ErrFormat, `"b"`},
		{`{"model":{"type":"BPE","vocab":{"a":0},"merges":["aa"]}}`, tokenizer.ErrFormat, `"aa"`},
		{`{"model":{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}}`, tokenizer.ErrFormat, "dropout"},
		{`{"model":{"type":"Unigram","vocab":[["a",0]]}}`, tokenizer.ErrFormat, "unk_id"},
		{`{"model":{"type":"Unigram","vocab":[["a",0]],"unk_id":1}}`, tokenizer.ErrFormat, "unknown token is 1"},
		{`{"model":{"type":"Unigram","vocab":[["a"]],"unk_id":0}}`, tokenizer.ErrFormat, "not a token with a score"},
		{`{` + model + `,"normalizer":{"type":"Gopher"}}`, tokenizer.ErrUnsupported, `unknown normalizer "Gopher"`},
		{`{` + model + `,"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAAA"}}`, tokenizer.ErrFormat, "3 bytes"},
		{`{` + model + `,"pre_tokenizer":{"type":"Gopher"}}`, tokenizer.ErrUnsupported, `unknown pre-tokenizer "Gopher"`},
		{`{` + model + `,"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"}}`, tokenizer.ErrFormat, `"("`},
		{`{` + model + `,"pre_tokenizer":{"type":"Split","pattern":{"String":"a"},"behavior":"Gone"}}`, tokenizer.ErrFormat, `"Gone"`},
		{`{` + model + `,"pre_tokenizer":{"type":"Metaspace","replacement":"ab"}}`, tokenizer.ErrFormat, `"ab"`},
		{`{` + model + `,"post_processor":{"type":"Gopher"}}`, tokenizer.ErrUnsupported, `"Gopher"`},
		{`{` + model + `,"post_processor":{"type":"TemplateProcessing","single":["[CLS]"],"pair":[],"special_tokens":{}}}`, tokenizer.ErrFormat, `"[CLS]"`},
		{`{` + model + `,"decoder":{"type":"Gopher"}}`, tokenizer.ErrUnsupported, `unknown decoder "Gopher"`},
		{`{` + model + `,"decoder":{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"WordPiece"}]}}`, tokenizer.ErrUnsupported, "fused"},
		{`{` + model + `,"added_tokens":[{"id":7,"content":"x"},{"id":7,"content":"y"}]}`, tokenizer.ErrFormat, `"y"`},
	} {
		_, err := tokenizer.Parse([]byte(c.file))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s:\n got %v\nwant %v with %q", c.file, err, c.want, c.text)
		}
	}
	if _, err := tokenizer.Open("testdata/none.json"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error of a missing file is %v", err)
	}
}

// FuzzParse reads hostile files, and uses what can be read.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"model":{"type":"WordPiece","vocab":{"[UNK]":0,"a":1,"##b":2}},"normalizer":{"type":"BertNormalizer","lowercase":true},` +
		`"pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece","prefix":"##"},"added_tokens":[{"id":3,"content":" c","lstrip":true,"rstrip":true}]}`))
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"<0x41>":3},"merges":["a b"],"byte_fallback":true,"unk_token":"a"},` +
		`"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Prepend","prepend":"_"},{"type":"Replace","pattern":{"String":" "},"content":"_"}]},` +
		`"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},{"type":"ByteLevel"}]},` +
		`"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":1}]}}`))
	f.Add([]byte(`{"model":{"type":"Unigram","vocab":[["u",0],["a",-1.5],["ab",-2]],"unk_id":0},"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},` +
		`"post_processor":{"type":"TemplateProcessing","single":["$A","[S]:1"],"pair":["$A","$B:1"],"special_tokens":{"[S]":{"id":"[S]","ids":[1],"tokens":["a"]}}},"decoder":{"type":"Metaspace","replacement":"_"}}`))
	for _, part := range []string{
		`"normalizer":{"type":"Sequence","normalizers":[{"type":"Strip","strip_left":true,"strip_right":true},{"type":"NFD"},{"type":"StripAccents"},{"type":"Nmt"}]}`,
		`"normalizer":{"type":"ByteLevel"}`, `"normalizer":{"type":"Replace","pattern":{"Regex":"b*"},"content":"é"}`,
		`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)|b*"},"behavior":"MergedWithPrevious","invert":true}`,
		`"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"Punctuation","behavior":"Contiguous"},{"type":"FixedLength","length":2}]}`,
		`"pre_tokenizer":{"type":"CharDelimiterSplit","delimiter":"é"}`, `"decoder":{"type":"BPEDecoder","suffix":"b"}`,
		`"decoder":{"type":"Replace","pattern":{"String":"a"},"content":"b"}`,
		`"post_processor":{"type":"RobertaProcessing","sep":["a",0],"cls":["b",1],"trim_offsets":true,"add_prefix_space":true}`,
	} {
		f.Add([]byte(`{"model":{"type":"WordLevel","vocab":{"a":0,"b":1},"unk_token":"a"},` + part + `}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tok, err := tokenizer.Parse(data)
		if err != nil {
			if !errors.Is(err, tokenizer.ErrFormat) && !errors.Is(err, tokenizer.ErrUnsupported) {
				t.Errorf("the error %v is of no kind", err)
			}
			return
		}
		text := "aAbb 1\xff é<|x|>\u0301 c"
		e := tok.EncodePair(text, "b", tokenizer.Options{Offsets: true, MaxLength: 30})
		for _, o := range e.Offsets {
			if o.Start < 0 || o.End < o.Start || o.End > len(text) {
				t.Errorf("the offset %v is not in %q", o, text)
			}
		}
		tok.Decode(e.IDs)
	})
}

// FuzzRoundTrip encodes and decodes any bytes.
func FuzzRoundTrip(f *testing.F) {
	for _, l := range corpus(60, 9) {
		f.Add(l)
	}
	var toks []*tokenizer.Tokenizer
	for _, name := range small {
		toks = append(toks, openSmall(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := toks[0].Decode(toks[0].Encode(text)); got != text {
			t.Errorf("Decode(Encode(%q)) is %q", text, got)
		}
		for i, tok := range toks {
			e := tok.EncodeWith(text, tokenizer.Options{Offsets: true})
			if ids := tok.Encode(text); !slices.Equal(ids, e.IDs) {
				t.Errorf("%s: with offsets, the IDs of %q are %v, without %v", small[i], text, e.IDs, ids)
			}
			for _, o := range e.Offsets {
				if o.Start < 0 || o.End < o.Start || o.End > len(text) {
					t.Errorf("%s: the offset %v is not in %q", small[i], o, text)
				}
			}
			d := tok.NewDecoder(tokenizer.DecodeOptions{})
			var b strings.Builder
			for _, id := range e.IDs {
				b.WriteString(d.Write(id))
			}
			b.WriteString(d.Flush())
			if want := tok.Decode(e.IDs); b.String() != want {
				t.Errorf("%s: the stream is %q, the text %q", small[i], b.String(), want)
			}
		}
	})
}

// BenchmarkEncode reports the speed on generated lines of 14 languages and, for
// real models, on English: this repository's documentation.
func BenchmarkEncode(b *testing.B) {
	lines := strings.Join(corpus2(500), "\n")
	for _, name := range small {
		b.Run(name, func(b *testing.B) { benchmark(b, openSmall(b, name), lines) })
	}
	files, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil || len(files) == 0 {
		b.Fatalf("there is no documentation, %v", err)
	}
	var english strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		english.Write(data)
	}
	for _, path := range publicTokenizers(b) {
		tok, err := tokenizer.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(path))
		b.Run(name, func(b *testing.B) { benchmark(b, tok, lines) })
		b.Run(name+"-English", func(b *testing.B) { benchmark(b, tok, english.String()) })
	}
	b.Run("SmolLM2", func(b *testing.B) { benchmark(b, openSmolLM2(b), lines) })
	b.Run("SmolLM2-English", func(b *testing.B) { benchmark(b, openSmolLM2(b), english.String()) })
	b.Run("MiniLM", func(b *testing.B) { benchmark(b, openMiniLM(b), lines) })
	b.Run("MiniLM-English", func(b *testing.B) { benchmark(b, openMiniLM(b), english.String()) })
}

func benchmark(b *testing.B, tok *tokenizer.Tokenizer, text string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tok.Encode(text)
	}
}

// TestContinues says that a text that continues another one gets no space before it, and keeps its own.
func TestContinues(t *testing.T) {
	for _, name := range small {
		tok := openSmall(t, name)
		for _, text := range []string{"a", "ab c", " a", "<|end|>", "\n\na", ""} {
			spelled := ""
			for _, id := range tok.EncodeWith(text, tokenizer.Options{OmitSpecial: true, PlainText: true, Continues: true}).IDs {
				s, _ := tok.Token(id)
				spelled += s
			}
			begins := strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") && name == "xlm-roberta" // which also begins a word after a line break
			if space := strings.HasPrefix(spelled, "▁") || strings.HasPrefix(spelled, "Ġ"); space != begins && name != "bert" {
				t.Errorf("%s: %q has the tokens %q", name, text, spelled)
			}
			if words := strings.Count(spelled, "▁"); text == "ab c" && words != 1 && name != "bert" && name != "smollm" {
				t.Errorf("%s: %q has the tokens %q, want the beginning of one word", name, text, spelled)
			}
		}
	}
}
