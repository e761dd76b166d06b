// Package crossing calls C by cgo, so that bench/launch can measure it.
//
//	if crossing.Possible { crossing.Abs(7) }
//
// It is the only package here that knows cgo, which nothing else needs: without CGO_ENABLED=1 it
// can do nothing.
package crossing
