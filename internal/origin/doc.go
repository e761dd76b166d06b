// Package origin hashes declarations of Go source text, so that generated code can be compared with what it was generated from. It
// reads tokens only: a program that launches kernels links it, and a parser would be larger.
//
//	sums := origin.Sums(text)
//	if sums["multiply"] != recorded {
//		// func multiply was changed
//	}
//
// Comments and spaces do not count, except for //gpu: directives above a declaration. Package compile records the hashes, and package
// device and package vet compare them.
package origin
