package frontend_test

import (
	"go/scanner"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/frontend"
)

// FuzzBuild changes a few tokens of the files in testdata, of conformance cases and of examples. What is
// still valid Go must be lowered to valid IR or refused, and never panic.
func FuzzBuild(f *testing.F) {
	w := theWorld()
	texts := corpus(f, w)
	for i := range texts {
		for seed := range uint64(2) {
			f.Add(uint(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, file uint, seed uint64) {
		r := rand.New(rand.NewPCG(seed, uint64(file)))
		buildSafely(t, w, mutate(texts[file%uint(len(texts))], r))
	})
}

// TestFuzzed builds what FuzzBuild has found once.
func TestFuzzed(t *testing.T) {
	w := theWorld()
	files, err := filepath.Glob("testdata/fuzzed/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !buildSafely(t, w, string(text)) {
			t.Errorf("%s is no valid Go", file)
		}
	}
}

// buildSafely builds the kernels of a file. It reports false if that is no valid Go.
func buildSafely(t *testing.T, w *world, text string) (valid bool) {
	kernels, _, err := w.kernels("k.go", text)
	if err != nil {
		return false
	}
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("panic: %v\n%s", r, text)
		}
	}()
	m, found := frontend.Build(kernels)
	if len(found) == 0 {
		verify(t, m)
	}
	return true
}

// corpus returns Go files with kernels that need no other files of their package.
func corpus(tb testing.TB, w *world) []string {
	var texts []string
	archives, _ := filepath.Glob("testdata/lower/*.txtar")
	for _, file := range archives {
		a, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, string(a.Files[0].Data))
	}
	files, _ := filepath.Glob("testdata/refuse/*.go")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return append(texts, elsewhere(tb, w)...)
}

// elsewhere returns the files of other packages of the project that are valid Go by themselves.
func elsewhere(tb testing.TB, w *world) []string {
	var texts []string
	for _, pattern := range []string{"../verify/conformance/*/*.go", "../../examples/*/*.go"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			if strings.Contains(string(text), "\n//gpu:kernel") && !strings.HasPrefix(filepath.Base(file), "z") {
				if _, _, err := w.kernels(file, string(text)); err == nil {
					texts = append(texts, string(text))
				}
			}
		}
	}
	if len(texts) < 10 {
		tb.Fatalf("%d files of other packages, there should be more", len(texts))
	}
	return texts
}

// lexeme is a token of a file with its place.
type lexeme struct {
	start, end int
	tok        token.Token
}

// mutate changes a few tokens of text: most are replaced by others of their kind, mostly from the same
// file; some are deleted, doubled or swapped with another one.
func mutate(text string, r *rand.Rand) string {
	for range 1 + r.IntN(3) {
		tokens := lex(text)
		at := tokens[r.IntN(len(tokens))]
		word := text[at.start:at.end]
		switch r.IntN(8) {
		case 0:
			word = ""
		case 1:
			word += " " + word
		case 2:
			text = swap(text, at, tokens[r.IntN(len(tokens))])
			continue
		default:
			word = replacement(text, tokens, at, r)
		}
		text = text[:at.start] + word + text[at.end:]
	}
	return text
}

func swap(text string, a, b lexeme) string {
	if a.start > b.start {
		a, b = b, a
	}
	if a == b {
		return text
	}
	return text[:a.start] + text[b.start:b.end] + text[a.end:b.start] + text[a.start:a.end] + text[b.end:]
}

func lex(text string) []lexeme {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	var tokens []lexeme
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return tokens
		}
		if tok == token.IDENT || tok.IsLiteral() || tok.IsOperator() && lit == "" {
			if lit == "" {
				lit = tok.String()
			}
			start := file.Offset(pos)
			tokens = append(tokens, lexeme{start, start + len(lit), tok})
		}
	}
}

// replacement returns what to write instead of the token at.
func replacement(text string, tokens []lexeme, at lexeme, r *rand.Rand) string {
	operators := strings.Fields("+ - * / % & | ^ << >> &^ == != < <= > >= && || += -= *= /= = := ! ~ . ... [ ] ( ) { } ;")
	words := strings.Fields("nil true 0 1 -1 0.5 1e30 int int8 uint8 uint64 float32 float64 string any error complex128 uintptr " +
		"[]int []float32 [4]int [0]int map[int]int chan(int) *int func() struct{} len cap append make new copy clear panic min max print recover defer return iter slices i x t")
	if at.tok.IsOperator() {
		return operators[r.IntN(len(operators))]
	}
	if r.IntN(2) == 0 {
		return words[r.IntN(len(words))]
	}
	other := tokens[r.IntN(len(tokens))]
	return text[other.start:other.end]
}
