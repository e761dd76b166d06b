// Package vet is an analyzer for kernels, in the form that go vet, golangci-lint and editors take:
// it reports what the compiler would refuse, and what compiles and is still a mistake, or slow.
//
//	func main() { singlechecker.Main(vet.Analyzer) } // of golang.org/x/tools/go/analysis
//
// gopherwarp vet and cmd/gopherwarp-vet are such programs. It looks at one package at a time, as go vet does:
// functions of other packages are unknown to it, so it finds less than a build refuses. What it finds it
// can show; where it cannot, it is silent. docs/vet.md has each finding with wrong and right code.
package vet
