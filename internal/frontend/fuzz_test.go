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

// FuzzBuild changes a few tokens of the files in testdata. What is still valid Go must be
// lowered to valid IR or refused, and never panic.
func FuzzBuild(f *testing.F) {
	texts := corpus(f)
	for i := range texts {
		for seed := range uint64(6) {
			f.Add(uint(i), seed)
		}
	}
	w := newWorld()
	f.Fuzz(func(t *testing.T, file uint, seed uint64) {
		text := mutate(texts[file%uint(len(texts))], rand.New(rand.NewPCG(seed, uint64(file))))
		kernels, _, err := w.kernels("k.go", text)
		if err != nil {
			return // no valid Go
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
	})
}

// corpus returns the Go files in testdata.
func corpus(tb testing.TB) []string {
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
	return texts
}

// lexeme is a token of a file with its place.
type lexeme struct {
	start, end int
	tok        token.Token
}

// mutate replaces a few tokens of text by others of their kind, mostly from the same file.
func mutate(text string, r *rand.Rand) string {
	for range 1 + r.IntN(3) {
		tokens := lex(text)
		at := tokens[r.IntN(len(tokens))]
		text = text[:at.start] + replacement(text, tokens, at, r) + text[at.end:]
	}
	return text
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
		"[]int []float32 [4]int [0]int map[int]int chan(int) *int func() struct{} len cap append make new copy clear panic min max print recover")
	if at.tok.IsOperator() {
		return operators[r.IntN(len(operators))]
	}
	if r.IntN(2) == 0 {
		return words[r.IntN(len(words))]
	}
	other := tokens[r.IntN(len(tokens))]
	return text[other.start:other.end]
}
