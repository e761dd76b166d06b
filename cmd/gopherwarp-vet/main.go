// Command gopherwarp-vet reports mistakes in kernels, by itself or as a tool of go vet:
//
//	gopherwarp-vet ./...
//	go vet -vettool=$(which gopherwarp-vet) ./...
//
// docs/vet.md describes the findings.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/gopherwarp/gopherwarp/vet"
)

func main() { singlechecker.Main(vet.Analyzer) }
