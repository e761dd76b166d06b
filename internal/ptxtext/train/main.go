// Train computes a table of phrases for package ptxtext from the PTX in the generated files of a
// repository, and writes it to standard output:
//
//	go run ./internal/ptxtext/train . > internal/ptxtext/phrases3.go
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
	"slices"
	"strconv"

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
		t.add(texts, int(1e6/math.Sqrt(float64(size))))
	})
}

// walk calls f with the PTX of each generated file below root.
func walk(root string, f func(texts []string)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "zkernels_ptx.go" {
			return err
		}
		texts, err := variables(path)
		if err == nil {
			f(texts)
		}
		return err
	})
}

// variables returns the PTX in the variables of a generated file.
func variables(path string) (texts []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	chains := map[string][]string{} // by the variable's name
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || err != nil {
			return err == nil
		}
		value, ok := spec.Values[0].(*ast.CompositeLit)
		if !ok {
			return true
		}
		var chain []string
		if chain, err = chainOf(value, chains); err != nil {
			return false
		}
		chains[spec.Names[0].Name] = chain
		var text string
		if text, err = ptxtext.Unpack(chain...); err == nil {
			texts = append(texts, text)
		}
		return true
	})
	return texts, err
}

// chainOf returns the packed text of a driver.Text after those of its bases.
func chainOf(value *ast.CompositeLit, chains map[string][]string) (chain []string, err error) {
	for _, e := range value.Elts {
		switch v := e.(*ast.KeyValueExpr).Value.(type) {
		case *ast.UnaryExpr: // &base
			chain = slices.Clone(chains[v.X.(*ast.Ident).Name])
		case *ast.BasicLit:
			text, err := strconv.Unquote(v.Value)
			if err != nil {
				return nil, err
			}
			chain = append(chain, text)
		}
	}
	return chain, nil
}

// write writes a table as Go.
func write(w io.Writer, table []string) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "package ptxtext\n\n// phrases is the table of version 2. It must not change.\nvar phrases = [MaxPhrases]string{")
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
