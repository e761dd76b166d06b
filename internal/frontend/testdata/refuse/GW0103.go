package k

import "github.com/gopherwarp/gopherwarp/gpu"

func work() {
	recover() // want "cannot use recover"
}

//gpu:kernel
func defers(t gpu.Thread) {
	defer work() // want "cannot use a defer statement"
	work()
}
