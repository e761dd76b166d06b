// Multi measures and checks work of several GPUs: copies between them, and all-reduce, in one process or in
// several.
//
//	go run ./bench/multi peer               // copies from GPU to GPU
//	go run ./bench/multi reduce             // all GPUs of this process
//	torchrun --no-python --nproc-per-node 2 multi rank
//	go run ./bench/multi ranks              // the same without torchrun: starts a process for each GPU
//	go run ./bench/multi killed             // one of the processes is killed: the others name it
//	go run ./bench/multi stuck              // one of the processes hangs: the others name it
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	mode := ""
	if len(args) == 1 {
		mode = args[0]
	}
	switch mode {
	case "peer":
		return peer(ctx)
	case "reduce":
		return reduceAll(ctx)
	case "rank", "rank-dies", "rank-hangs":
		return rank(ctx, mode)
	case "ranks":
		return spawn(ctx, "rank")
	case "killed":
		return spawn(ctx, "rank-dies")
	case "stuck":
		return spawn(ctx, "rank-hangs")
	}
	return fmt.Errorf("usage: multi peer|reduce|rank|ranks|killed|stuck")
}
