// Command run runs the conformance suite on one device. Users start it as gopherwarp selftest, which compiles
// the suite's kernels first:
//
//	gopherwarp selftest -device=cuda
//
// It writes a line for each group of cases, for each behaviour that is wrong, for each reason for skipping behaviours, and for a case that takes
// long. The last line begins with ok, and the exit code is 0, if the device passed. The flag -device or GOPHERWARP_DEVICE selects the device.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// limit is the time that one case may take. A kernel that hangs ends its case and not the run. Mesa's llvmpipe compiles each barrier of a block as
// a point where a coroutine stops, for which LLVM needs a minute or more if a kernel has hundreds of them.
func limit(i device.Info) time.Duration {
	if i.Kind == "vulkan" && !i.GPU {
		return 20 * time.Minute
	}
	return time.Minute
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command{os.Stdout, os.Stderr, conformance.Groups()}.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// command is the program.
type command struct {
	out, messages io.Writer
	groups        []conformance.Group
}

// run runs the groups on the device that the arguments select and returns the exit code.
func (c command) run(ctx context.Context, args []string) int {
	f := flag.NewFlagSet("selftest", flag.ContinueOnError)
	f.SetOutput(c.messages)
	open := gopherwarp.Open
	f.Func("device", "`name` of the device to test, as in "+gopherwarp.Variable+" (default: that variable, or the best device)", func(name string) error {
		open = func() (*device.Device, error) { return gopherwarp.OpenNamed(name) }
		return gopherwarp.CheckDevice(name)
	})
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case f.NArg() > 0:
		fmt.Fprintf(c.messages, "selftest: unexpected argument %q\n", f.Arg(0))
		return 2
	}
	dev, err := open()
	if err == nil {
		err = run(ctx, c.out, dev, c.groups)
	}
	if err != nil {
		fmt.Fprintln(c.messages, "selftest:", err)
		return 1
	}
	return 0
}

// run runs the groups on a device, which it closes, and fails if a behaviour is wrong.
func run(ctx context.Context, w io.Writer, dev *device.Device, groups []conformance.Group) error {
	fmt.Fprintf(w, "on %v\n", dev.Info())
	dev.CoarsenAlways(true) // the suite's launches are small
	start, all := time.Now(), tally{}
	r := runner{w, dev}
	for _, g := range groups {
		one := r.group(ctx, g)
		fmt.Fprintf(w, "%-8s %4d behaviours%s\n", g.Name, one.right+one.wrong, one.remarks())
		all.add(one)
	}
	all.print(w)
	err := dev.Close()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case all.wrong > 0:
		return errors.Join(fmt.Errorf("%d of %d behaviours are wrong on %v", all.wrong, all.right+all.wrong, dev.Info()), err)
	case err != nil:
		return err
	}
	fmt.Fprintf(w, "ok  %d behaviours in %v%s\n", all.right, time.Since(start).Round(time.Millisecond), all.remarks())
	return nil
}

// tally counts behaviours.
type tally struct {
	right, wrong, skipped, excused int
	reasons                        map[string]int // of the skipped ones
}

func (t *tally) add(u tally) {
	t.right, t.wrong, t.skipped, t.excused = t.right+u.right, t.wrong+u.wrong, t.skipped+u.skipped, t.excused+u.excused
	for why, n := range u.reasons {
		t.skip(why, n)
	}
}

// skip adds a reason for which n behaviours were skipped.
func (t *tally) skip(why string, n int) {
	if t.reasons == nil {
		t.reasons = map[string]int{}
	}
	t.reasons[why] += n
}

// print writes the reasons for skipping behaviours, the most frequent first.
func (t *tally) print(w io.Writer) {
	list := slices.SortedFunc(maps.Keys(t.reasons), func(a, b string) int { return cmp.Or(t.reasons[b]-t.reasons[a], strings.Compare(a, b)) })
	for _, why := range list {
		fmt.Fprintf(w, "skipped  %4d behaviours: %s\n", t.reasons[why], why)
	}
}

// remarks returns what a line says beside the number of behaviours.
func (t tally) remarks() string {
	text := ""
	if t.wrong > 0 {
		text += fmt.Sprintf(", %d wrong", t.wrong)
	}
	if t.skipped > 0 {
		text += fmt.Sprintf(", %d skipped, which need another device", t.skipped)
	}
	if t.excused > 0 {
		text += fmt.Sprintf(", %d skipped, which need subnormal numbers of float32", t.excused)
	}
	return text
}

// runner runs cases on a device and writes what is wrong.
type runner struct {
	w   io.Writer
	dev *device.Device
}

// group runs the cases of a group.
func (r runner) group(ctx context.Context, g conformance.Group) tally {
	var t tally
	for _, c := range g.Cases {
		all, wrong := len(c.Behaviours()), r.run(ctx, g.Name, c)
		if why := check.Skipped(wrong); why != nil {
			t.skipped += all
			t.skip(check.Reason(why), all)
			continue
		}
		t.right += all - len(wrong)
		for behaviour, err := range wrong {
			if check.Excused(err) {
				t.excused++
				continue
			}
			t.wrong++
			fmt.Fprintf(r.w, "WRONG  %s/%s: %v\n", g.Name, behaviour, err)
		}
	}
	return t
}

// run runs a case of a group and returns what is wrong, by behaviour.
func (r runner) run(ctx context.Context, group string, c check.Case) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, limit(r.dev.Info()))
	defer cancel()
	wrong := make(chan map[string]error, 1)
	go func() { wrong <- c.On(ctx, r.dev) }()
	return await(r.w, group+"/"+c.Name, wrong)
}

// await receives what a case found. It names a case that takes long: neither a driver's compiler nor a hanging kernel need heed the context.
func await[T any](w io.Writer, name string, done <-chan T) T {
	start := time.Now()
	for pause := 10 * time.Second; ; pause *= 2 {
		select {
		case v := <-done:
			return v
		case <-time.After(pause):
			fmt.Fprintf(w, "SLOW   %s has run for %v\n", name, time.Since(start).Round(time.Second))
		}
	}
}
