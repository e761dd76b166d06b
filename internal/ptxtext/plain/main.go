// Plain prints a generated file with its PTX in plain form:
//
//	go run ./internal/ptxtext/plain prim/zkernels_ptx.go
//
// With it, git shows changes of such files as changes of PTX:
//
//	git config diff.ptx.textconv "go run ./internal/ptxtext/plain"
//	echo "zkernels_ptx.go diff=ptx" >> .git/info/attributes
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxtext"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: plain <zkernels_ptx.go>")
	}
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = write(os.Stdout, string(text))
	}
	if err != nil {
		log.Fatalf("plain: %v", err)
	}
}

// variable matches what is before the raw string of a variable: its name, and that of its base, if it has one.
var variable = regexp.MustCompile("var (\\w+) = (\\w+)\\.Text\\{(?:Base: &(\\w+), )?Code: `$")

// write writes a Go file. Generated files have backquotes only around raw strings.
func write(w io.Writer, text string) error {
	chains := map[string][]string{} // by the variable's name
	name, base := "", ""
	for i, part := range strings.SplitAfter(text, "`") {
		raw, ok := strings.CutSuffix(part, "`")
		if ok && i%2 == 1 && name != "" {
			chain := append(slices.Clone(chains[base]), raw)
			chains[name] = chain
			plain, err := ptxtext.Unpack(chain...)
			if err != nil {
				return err
			}
			part = plain + "`"
		} else if m := variable.FindStringSubmatch(part); m != nil {
			name, base = m[1], m[3]
			part = variable.ReplaceAllString(part, "var $1 = $2.Text{Code: `")
		} else {
			name, base = "", ""
		}
		if _, err := fmt.Fprint(w, part); err != nil {
			return err
		}
	}
	return nil
}
