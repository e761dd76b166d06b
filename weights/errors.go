package weights

import "errors"

// Errors of this package and of the packages for formats wrap these errors.
var (
	// ErrFormat is the error of a file that violates its format.
	ErrFormat = errors.New("weights: invalid file")
	// ErrNotFound is the error of a tensor or a metadata key that a file does not have.
	ErrNotFound = errors.New("weights: not found")
	// ErrType is the error of a value or tensor whose type is not the requested one.
	ErrType = errors.New("weights: wrong type")
	// ErrTruncated is the error of a file that became shorter after it was opened.
	ErrTruncated = errors.New("weights: file truncated since it was opened")
	// ErrPickle is the error of a Python pickle or a zip archive, such as a file that torch.save wrote. A pickle is a program, and this
	// package never runs it.
	ErrPickle = errors.New("weights: a Python pickle, or a zip archive of one, as torch.save writes; loading it could run any code; convert it to safetensors")
)
