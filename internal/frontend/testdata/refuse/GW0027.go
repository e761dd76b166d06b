package k

import "github.com/gopherwarp/gopherwarp/gpu"

type nested []nested

type mesh struct{ vertices [][]float32 }

//gpu:kernel
func parameters(t gpu.Thread, p *int, s string, // want "kernel parameter p has a pointer in its type(.|\n)*kernel parameter s has a string in its type"
	m map[int]int, // want "kernel parameter m has a map in its type"
	n mesh, // want "kernel parameter n has a nested slice in its type"
	rows [][]float32, // want "kernel parameter rows has a nested slice in its type"
	c []complex64, // want "kernel parameter c has a complex number in its type"
	e nested, // want "kernel parameter e has a nested slice in its type"
	f func()) { // want "kernel parameter f has a function value in its type"
}
