// Package fold is a library with a generic kernel, which package generics instantiates. It
// launches nothing itself.
//
//	//gpu:instance fold.Fold[int32, fold.Sum[int32]]
package fold
