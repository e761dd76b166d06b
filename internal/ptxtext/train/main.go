// Train computes a table of phrases for package ptxtext from the PTX in the generated files of a
// repository, and writes it to standard output:
//
//	go run ./internal/ptxtext/train . > internal/ptxtext/phrases2.go
//
// A released table must not change: a new one gets a new version.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: train <folder of a repository>")
	}
	t := newTrainer()
	if err := t.read(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	t.merge()
	if err := write(os.Stdout, t.table()); err != nil {
		log.Fatal(err)
	}
}

// read adds the PTX of all generated files below root. In the files of large packages, each text counts less.
func (t *trainer) read(root string) error {
	return walk(root, func(texts []string) {
		size := 0
		for _, text := range texts {
			size += len(text)
		}
		for _, text := range texts {
			t.add(text, int(1e6/math.Sqrt(float64(size))))
		}
	})
}

// walk calls f with the PTX of each generated file below root.
func walk(root string, f func(texts []string)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "zkernels_ptx.go" {
			return err
		}
		texts, err := constants(path)
		if err == nil {
			f(texts)
		}
		return err
	})
}

// constants returns the PTX in the string constants of a Go file.
func constants(path string) (texts []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	packed := map[string]string{} // by the constant's name
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || err != nil {
			return err == nil
		}
		value, base := spec.Values[0], ""
		if sum, ok := value.(*ast.BinaryExpr); ok { // a constant and a patch
			if name, ok := sum.X.(*ast.Ident); ok {
				value, base = sum.Y, packed[name.Name]
			}
		}
		lit, ok := value.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		var text string
		if text, err = strconv.Unquote(lit.Value); err != nil {
			return false
		}
		packed[spec.Names[0].Name] = base + text
		if text, err = ptxtext.Unpack(base + text); err == nil && strings.HasPrefix(text, ".version") {
			texts = append(texts, text)
		}
		return true
	})
	return texts, err
}

// write writes a table as Go.
func write(w io.Writer, table []string) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "package ptxtext\n\n// phrases is the table of version 1. It must not change.\nvar phrases = [MaxPhrases]string{")
	column := 200
	for _, p := range table {
		text := strconv.QuoteToASCII(p)
		if column += len(text) + 2; column > 120 {
			fmt.Fprint(out, "\n\t")
			column = 4 + len(text) + 1
		} else {
			fmt.Fprint(out, " ")
		}
		fmt.Fprint(out, text, ",")
	}
	fmt.Fprint(out, "\n}\n")
	return out.Flush()
}
