package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func channels(t gpu.Thread, x []int) {
	c := make(chan int) // want "cannot use a channel"
	c <- 1
	x[0] = <-c
	close(c)
	select {} // want "cannot use a select statement"
}
