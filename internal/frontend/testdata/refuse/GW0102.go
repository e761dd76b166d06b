package k

import "github.com/gopherwarp/gopherwarp/gpu"

func work() {}

//gpu:kernel
func routines(t gpu.Thread) {
	go work() // want "cannot use a go statement \(GW0102\)\n\tlaunch the kernel with more threads"
}

//gpu:kernel
func both(t gpu.Thread) {
	c := make(chan int) // want "cannot use a channel"
	go func() { c <- 1 }() // want "cannot use a go statement"
}
