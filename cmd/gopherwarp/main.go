package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/gopherwarp/gopherwarp/cmd/internal/commandline"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitNoGPU  = 3

	exitInterrupted = 130 // 128 and the number of SIGINT, as of programs that the signal ends
)

// commands is the command line, as package commandline reads it. Each command without subcommands is a runner, except help: see helpOf.
type commands struct {
	Build   buildCommand   `cmd:"" help:"Compile kernels and generate their launchers."`
	Run     runCommand     `cmd:"" help:"Compile kernels and run a program."`
	Test    testCommand    `cmd:"" help:"Compile kernels and run tests."`
	Trace   traceCommand   `cmd:"" help:"Run a program and record a timeline and a profile."`
	Metrics metricsCommand `cmd:"" help:"Serve metrics of the GPUs to Prometheus."`
	Vet     vetCommand     `cmd:"" help:"Report likely mistakes in kernels."`
	Top     topCommand     `cmd:"" help:"Monitor the GPUs and their processes."`
	Weights weightsCommand `cmd:"" help:"List the metadata and tensors of a model's weights."`
	Devices devicesCommand `cmd:"" help:"List the devices that kernels can run on."`
	Doctor  doctorCommand  `cmd:"" help:"Diagnose why a GPU cannot be used."`

	Chat       chatCommand       `cmd:"" help:"Talk with a language model."`
	Generate   generateCommand   `cmd:"" help:"Print a language model's answer to a prompt."`
	Perplexity perplexityCommand `cmd:"" help:"Print how well a language model predicts a text."`
	Embed      embedCommand      `cmd:"" help:"Print vectors of texts, for search and comparison."`
	Rerank     rerankCommand     `cmd:"" help:"Sort texts by their relevance to a query."`
	Classify   classifyCommand   `cmd:"" help:"Print the classes of pictures."`
	Serve      serveCommand      `cmd:"" help:"Serve models with the protocols of OpenAI and others."`

	Finetune finetuneCommand `cmd:"" help:"Train an adapter of a language model with texts."`
	Adapter  adapterCommand  `cmd:"" help:"Describe, merge or export an adapter."`

	Selftest selftestCommand `cmd:"" help:"Run test kernels and compare their results with plain Go."`
	Bench    benchCommand    `cmd:"" help:"Measure kernels and compare them with CUDA C++ and other frameworks."`

	Version versionCommand `cmd:"" help:"Print the version of this program."`
	Help    helpCommand    `cmd:"" help:"Describe a command."`
}

// terminal is where a command writes.
type terminal struct{ out, err io.Writer }

// exit is an error that ends the process with a code and, unless it wraps another error,
// in silence.
type exit struct {
	code  int
	cause error
}

func (e exit) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.cause.Error()
}

func (e exit) Unwrap() error { return e.cause }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], terminal{os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// runner is a command that has been parsed.
type runner interface {
	Run(ctx context.Context, t terminal) error
}

// run runs the command and returns the process's exit code.
func run(ctx context.Context, args []string, t terminal) int {
	command, err := newParser(&commands{}).Parse(helpOf(args))
	switch {
	case errors.Is(err, commandline.ErrHelp):
		return code(printHelp(t.out, command), t)
	case err != nil:
		console.Print(t.err, fmt.Sprintf("gopherwarp: %v\nRun %s -help for usage.", err, command.Path()), 2)
		return exitUsage
	}
	return code(interrupted(ctx, command.Target().(runner).Run(ctx, t)), t)
}

// interrupted returns the error of a command with the context ctx. If an interrupt ended the command, the error is an exit with
// exitInterrupted, which is silent unless the command has a message for it. A command that ends well after an interrupt, such as a server, has
// no error.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if e, ok := errors.AsType[exit](err); ok && e.code == exitFailed && e.cause != nil {
		return exit{exitInterrupted, e.cause}
	}
	if errors.Is(err, context.Canceled) {
		return exit{code: exitInterrupted}
	}
	return err
}

func newParser(c *commands) *commandline.Command {
	return commandline.New("gopherwarp", "GPU computing for Go.", c)
}

// code shows an error and returns the exit code that it stands for.
func code(err error, t terminal) int {
	if err == nil {
		return exitOK
	}
	e, ok := errors.AsType[exit](err)
	if !ok {
		e = exit{exitFailed, err}
	}
	if e.cause != nil {
		console.Print(t.err, e.cause.Error(), 2)
	}
	return e.code
}
