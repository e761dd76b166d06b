// Package crossing calls C through cgo, so that bench/launch can measure such a call.
//
//	if crossing.Possible { crossing.Abs(7) }
//
// No other package of this repository uses cgo. Without CGO_ENABLED=1, the package does nothing.
package crossing
