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

// constant matches what is before the raw string of a constant: its name, and that of the constant that its value begins with, if any.
var constant = regexp.MustCompile("const (\\w+) = (?:(\\w+) \\+ )?`$")

// write writes a Go file. Generated files have backquotes only around raw strings.
func write(w io.Writer, text string) error {
	packed := map[string]string{}
	name, base := "", ""
	for i, part := range strings.SplitAfter(text, "`") {
		raw, ok := strings.CutSuffix(part, "`")
		if ok && i%2 == 1 {
			if base != "" {
				raw = packed[base] + raw
			}
			packed[name] = raw
			plain, err := ptxtext.Unpack(raw)
			if err != nil {
				return err
			}
			part = plain + "`"
		} else if m := constant.FindStringSubmatch(part); m != nil {
			name, base = m[1], m[2]
			part = constant.ReplaceAllString(part, "const $1 = `")
		} else {
			name, base = "", ""
		}
		if _, err := fmt.Fprint(w, part); err != nil {
			return err
		}
	}
	return nil
}
