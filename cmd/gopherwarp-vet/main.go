// Command gopherwarp-vet reports mistakes in kernels, by itself or as a tool of go vet:
//
//	gopherwarp-vet ./...
//	go vet -vettool=$(which gopherwarp-vet) ./...
//
// What it finds stands in docs/vet.md.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/gopherwarp/gopherwarp/vet"
)

func main() { singlechecker.Main(vet.Analyzer) }
