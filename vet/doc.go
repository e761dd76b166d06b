// Package vet provides an analyzer for kernels, for use with go vet, golangci-lint and editors. It
// reports code that the compiler rejects, and code that compiles but is wrong or slow.
//
//	func main() { singlechecker.Main(vet.Analyzer) } // of golang.org/x/tools/go/analysis
//
// The commands gopherwarp vet and gopherwarp-vet run the analyzer. Like go vet, the analyzer
// examines one package at a time, without the function bodies of other packages, so it finds fewer
// errors than a build. Only to find stale generated code, it also reads the files of other packages of the
// module that kernels use. It reports only mistakes that it can prove. The document docs/vet.md
// explains each kind of mistake with incorrect and correct code.
package vet
