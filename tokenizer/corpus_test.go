package tokenizer_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// words are the material of generated text: some words in each of 14 languages.
var words = []string{
	"the of and to in is it's you'll we've they're I'd don't He'S tokenizer running quickly neural network understanding",
	"der die und Straße Größe Übermut Wissenschaft Fußgängerübergänge möchte Bücher schön ẞ",
	"le la déjà vu français Noël cœur l'été garçon où naïve aujourd'hui élève",
	"el niño mañana corazón ¿qué ¡hola español años también pingüino",
	"и в не что человек время который работа Россия ёлка объект съезд",
	"και το είναι ελληνικά γλώσσα άνθρωπος ΟΔΟΣ λόγος ἀρχή",
	"في من على كتاب مدرسة السلام عليكم اللغة العربية مُحَمَّد ١٢٣",
	"של את שלום עולם ספר בְּרֵאשִׁית",
	"और का नमस्ते दुनिया हिन्दी भाषा क्षत्रिय १२३ विद्यालय",
	"สวัสดี ภาษาไทย ครับ ประเทศ น้ำ ที่ ๑๒๓",
	"你好 世界 中文 模型 語言 漢字 测试 𠀀𠮷 ，。「」",
	"こんにちは 世界 カタカナ ひらがな 東京タワー ｶﾀｶﾅ が ぱ ー ・",
	"안녕하세요 세계 한국어 컴퓨터 각 ㄱㄴ",
	"Tiếng Việt người được những không İstanbul ılık ğüşöç Ǆ ǆ",
}

// symbols are what stands between words now and then.
var symbols = []string{
	"😀", "👩‍👩‍👧‍👦", "🇩🇪", "❤️", "👍🏽", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
	"\n", "\n\n", "\r\n", "\t", "  ", "   ", "\u00a0", "\u3000", "\u2028", "\u200b", "\ufeff", " \n ", "\v", "\u0085",
	"0", "7", "42", "123", "1234", "1234567", "3.14159", "1,000,000", "½", "²", "Ⅷ", "①", "१२३४",
	"'s", "'T", "'ſ", "'", "\"", "’s", "...", "…", "—", "--", "!!!", "?!", "()", "[]", "{}", "<>", "</s>", "<s>", "[MASK]", "<|end|>", " <|end|> ", "[CLS]",
	"e\u0301", "A\u030a", "o\u0302\u0323", "q\u0307\u0323", "ﬁ", "ﬀ", "Å", "Ω", "K", "㎏", "ｆｕｌｌ", "ⁿ", "\u0301", "각", "\u0344",
	"\x00", "\x01", "\x1f", "\x7f", "\ufffd", "\u00ad", "\ue000", "\U0001f9ff", "▁", "▁▁", "Ġ", "##", "##ing", "</w>", "<0x41>", "_", "a_b",
	"$", "€", "^", "~", "`", "|", "\\", "@user", "#tag", "https://go.dev/x?a=1&b=%20", "a@b.example",
	"func main() {", "\tfor i := 0; i < len(s); i++ {", "if (x != null) return;", "// comment", "def f(x):\n    return x**2", "SELECT * FROM t WHERE a='b';", "x:=map[string]any{\"k\":[]int{1,2}}", "camelCaseName snake_case_name CONSTANT_NAME",
	strings.Repeat("a", 70), strings.Repeat("漢", 40), strings.Repeat(" ", 30), strings.Repeat("ab", 60), strings.Repeat("!", 33), strings.Repeat("9", 50),
}

// corpus returns n lines of text, the same for the same seed. Some are not valid
// UTF-8.
func corpus(n int, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	var languages [][]string
	for _, w := range words {
		languages = append(languages, strings.Fields(w))
	}
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(r, languages)
		if i%20 == 19 {
			lines[i] = damage(r, lines[i])
		}
	}
	return lines
}

// line returns some words of one language, with symbols.
func line(r *rand.Rand, languages [][]string) string {
	var b strings.Builder
	language := languages[r.IntN(len(languages))]
	for k := range 1 + r.IntN(14) {
		if k > 0 && r.IntN(8) > 0 {
			b.WriteByte(' ')
		}
		switch r.IntN(8) {
		case 0, 1:
			b.WriteString(symbols[r.IntN(len(symbols))])
		case 2:
			other := languages[r.IntN(len(languages))]
			b.WriteString(other[r.IntN(len(other))])
		case 3:
			fmt.Fprint(&b, strings.ToUpper(language[r.IntN(len(language))]))
		default:
			b.WriteString(language[r.IntN(len(language))])
		}
	}
	return b.String()
}

// damage overwrites, inserts or removes bytes.
func damage(r *rand.Rand, s string) string {
	b := []byte(s)
	for range 1 + r.IntN(4) {
		i := r.IntN(len(b) + 1)
		switch {
		case r.IntN(3) == 0 || len(b) < 2:
			b = append(b[:i], append([]byte{byte(r.IntN(256))}, b[i:]...)...)
		case i < len(b) && r.IntN(2) == 0:
			b[i] = byte(128 + r.IntN(128))
		case i < len(b):
			b = append(b[:i], b[i+1:]...)
		}
	}
	return string(b)
}

// wild returns n texts of random characters, many of them marks, emoji or control characters. The characters of a text are mostly of one
// script.
func wild(n int, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 2))
	var scripts []*unicode.RangeTable
	for _, name := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		scripts = append(scripts, unicode.Scripts[name])
	}
	special := []*unicode.RangeTable{unicode.Mn, unicode.Mc, unicode.Cc, unicode.Cf, unicode.Zs, unicode.So, unicode.Lm, unicode.No}
	joined := []rune("\u200d\u200c\ufe0f🇩🇪👩❤\u1100\u1161\u11a8가각\u0915\u094d\u0937ab\r\n\t\x00")
	list := make([]string, n)
	for i := range list {
		var b strings.Builder
		script := scripts[r.IntN(len(scripts))]
		for range 1 + r.IntN(20) {
			switch r.IntN(8) {
			case 0:
				b.WriteRune(runeOf(r, special[r.IntN(len(special))]))
			case 1:
				b.WriteRune(joined[r.IntN(len(joined))])
			case 2:
				b.WriteString(symbols[r.IntN(len(symbols))])
			case 3:
				b.WriteByte(' ')
			default:
				b.WriteRune(runeOf(r, script))
			}
		}
		list[i] = b.String()
	}
	return list
}

// runeOf returns a character of a table.
func runeOf(r *rand.Rand, t *unicode.RangeTable) rune {
	i := r.IntN(len(t.R16) + len(t.R32))
	if i < len(t.R16) {
		x := t.R16[i]
		return rune(x.Lo + uint16(r.IntN(int((x.Hi-x.Lo)/x.Stride)+1))*x.Stride)
	}
	x := t.R32[i-len(t.R16)]
	return rune(x.Lo + uint32(r.IntN(int((x.Hi-x.Lo)/x.Stride)+1))*x.Stride)
}
