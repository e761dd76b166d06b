// Package repotest tests the rules of this repository: which package may import which,
// how long a file may be, what every folder must have.
//
// It has no code of its own. Each message of a test says what to do instead.
//
//	go test ./internal/repotest
package repotest
