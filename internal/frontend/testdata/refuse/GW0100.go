package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func maps(t gpu.Thread, x []int) {
	m := make(map[int]int) // want "cannot use a map"
	m[1] = 2
	for k, v := range m {
		x[k] = v
	}
	delete(m, 1)
	x[0] = lookup(nil) // want "cannot use a map"
}

func lookup(m map[int]int) int { // want "cannot use a map"
	return m[3]
}
